/** The parts of the command line that need no process: Ctrl+C, input, questions, reach. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { askLine, canAsk, permissionPrompt } from '../../src/cli/ask.ts';
import { whyUnreachable } from '../../src/cli/reach.ts';
import { isSomethingPiped, readPiped } from '../../src/cli/stdin.ts';
import { fakeIo, type FakeIo } from './fake-io.ts';

describe('Ctrl+C', () => {
  it('goes to the newest handler, then to the one before, then to nobody', () => {
    const { interrupts, signals } = fakeIo();
    const heard: string[] = [];
    const stopOuter = interrupts.handle(() => heard.push('outer'));
    const stopInner = interrupts.handle(() => heard.push('inner'));
    signals.emit('SIGINT');
    stopInner();
    stopInner();
    interrupts.press();
    stopOuter();
    // Without a handler the process is left to its own ways.
    expect(signals.listenerCount('SIGINT')).toBe(0);
    expect(heard).toEqual(['inner', 'outer']);
  });
});

describe('the standard input', () => {
  it('is read to its end; a terminal is not read', async () => {
    const io = fakeIo();
    io.stdin.end('fix\nit\n');
    expect(await readPiped(io)).toBe('fix\nit\n');
    const terminal = fakeIo();
    terminal.stdin.isTTY = true;
    expect(await readPiped(terminal)).toBe('');
    expect(await isSomethingPiped(terminal, 1)).toBe(false);
  });

  it('is only looked at where nobody needs it', async () => {
    const spoken = fakeIo();
    spoken.stdin.write('\n');
    spoken.stdin.write('fix it');
    expect(await isSomethingPiped(spoken, 1_000)).toBe(true);
    const empty = fakeIo();
    empty.stdin.end('\n');
    expect(await isSomethingPiped(empty, 1_000)).toBe(false);
    const silent = fakeIo();
    expect(await isSomethingPiped(silent, 1)).toBe(false);
    expect(silent.stdin.listenerCount('data')).toBe(0);
  });
});

describe('an address', () => {
  it('is said to be unreachable when nobody listens there', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await whyUnreachable(address, {})).toBeNull();
    server.close();
    await once(server, 'close');
    expect(await whyUnreachable(address, {})).toMatch(/^Nobody listens at http:\/\/127.*--base-url\.$/);
    // A proxy would have to be asked.
    expect(await whyUnreachable(address, { NODE_USE_ENV_PROXY: '1' })).toBeNull();
  });
});

function atTerminal(): FakeIo {
  const io = fakeIo({ isTerminal: true });
  io.stdin.isTTY = true;
  return io;
}

async function shown(io: FakeIo, text: string): Promise<void> {
  for (let look = 0; !io.seen().includes(text); look += 1) {
    if (look > 500) throw new Error(`"${text}" did not appear in:\n${io.seen()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const request = (signal: AbortSignal) => ({
  toolUseId: 't',
  signal,
  reason: 'It may change something.',
  summary: 'cut…',
  suggestions: [{ behavior: 'allow', rule: 'Bash(ls)' } as const],
});

const keepNothing = (): Promise<void> => Promise.resolve();

describe('questions', () => {
  it('are asked where input and output are a terminal alone', () => {
    const pauses = { pause: () => {}, resume: () => {} };
    expect([canAsk(atTerminal()), canAsk(fakeIo({ isTerminal: true })), canAsk(fakeIo())]).toEqual([
      true,
      false,
      false,
    ]);
    expect(permissionPrompt(fakeIo(), pauses, keepNothing)).toBeNull();
  });

  it('about permission come one at a time, on the screen and not in the output', async () => {
    const io = atTerminal();
    const calls: string[] = [];
    const kept: unknown[] = [];
    const keep = (rules: unknown): Promise<void> => Promise.resolve(void kept.push(rules));
    const prompt = permissionPrompt(io, { pause: () => calls.push('pause'), resume: () => calls.push('resume') }, keep);
    const { signal } = new AbortController();
    const first = prompt?.('Bash', { command: 'ls\nrm x' }, request(signal));
    const second = prompt?.('Bash', { command: 'second' }, request(signal));
    await shown(io, '[e]nd the turn:');
    expect(io.seen()).toContain('Bash ls\n    rm x\nIt may change something. Always would allow Bash(ls).\n');
    expect(io.seen()).not.toContain('second');
    io.stdin.write('a\n');
    expect(await first).toEqual({ behavior: 'allow', addedRules: [{ behavior: 'allow', rule: 'Bash(ls)' }] });
    await shown(io, 'Bash second');
    io.stdin.write('n\n');
    expect(await second).toMatchObject({ behavior: 'deny' });
    expect(calls).toEqual(['pause', 'resume', 'pause', 'resume']);
    expect(kept).toEqual([[{ behavior: 'allow', rule: 'Bash(ls)' }]]);
    expect(io.printed.out).toBe('');
  });

  it('say when an "always" cannot be kept: it holds in this session', async () => {
    const io = atTerminal();
    const keep = (): Promise<void> => Promise.reject(new Error('The disk is full.'));
    const prompt = permissionPrompt(io, { pause: () => {}, resume: () => {} }, keep);
    const answer = prompt?.('Bash', { command: 'ls' }, request(new AbortController().signal));
    await shown(io, '[e]nd the turn:');
    io.stdin.write('a\n');
    expect(await answer).toMatchObject({ behavior: 'allow', addedRules: [{ rule: 'Bash(ls)' }] });
    expect(io.seen()).toContain('The disk is full.');
  });

  it('are taken away by an abort, those that wait too', async () => {
    const io = atTerminal();
    const stop = new AbortController();
    const prompt = permissionPrompt(io, { pause: () => {}, resume: () => {} }, keepNothing);
    const answers = ['first', 'second'].map((command) => prompt?.('Bash', { command }, request(stop.signal)));
    await shown(io, '[e]nd the turn:');
    stop.abort();
    expect([await answers[0], await answers[1]]).toMatchObject([{ behavior: 'deny' }, { behavior: 'deny' }]);
    expect(io.seen()).not.toContain('second');
  });

  it('end with the input', async () => {
    const io = atTerminal();
    const line = askLine(io, 'What now? ');
    await shown(io, 'What now?');
    io.stdin.end();
    expect(await line).toBeNull();
  });

  it('hand Ctrl+C on, which is a key there', async () => {
    const io = atTerminal();
    const stop = new AbortController();
    io.interrupts.handle(() => stop.abort());
    const line = askLine(io, 'What now? ', stop.signal);
    await shown(io, 'What now?');
    io.stdin.write('\u0003');
    expect(await line).toBeNull();
  });
});
