import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { createBashTool } from '../../../src/tools/builtin/bash.ts';
import { OutputBuffer } from '../../../src/process/output-buffer.ts';
import { isGroupAlive, killAllCommands } from '../../../src/process/process-group.ts';
import { createMemoryStore } from '../../../src/tools/result-store.ts';
import { type Called, callTool, type Setting, temporaryFolder } from '../call-tool.ts';

// Real processes: these tests take real time, though little of it.

const quickKill = { killGraceMs: 150 };

function bash(cwd: string, input: JsonObject, more: Partial<Setting> = {}): Promise<Called> {
  return callTool({ tools: [createBashTool(quickKill)], cwd, ...more }, 'Bash', input);
}

/** A zombie, which nobody has collected yet, is dead. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The process ids that a command writes into a file, once there are so many. */
async function pidsIn(path: string, count: number): Promise<readonly number[]> {
  for (;;) {
    const lines = existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
    if (lines.length >= count) return lines.map(Number);
    await wait(5);
  }
}

/** A shell with a child, a grandchild below a shell of its own, and a grandchild that ignores SIGTERM. */
const family = [
  'echo $$ >> pids',
  'sleep 300 & echo $! >> pids',
  "sh -c 'sleep 300 & echo $! >> pids; wait' &",
  `bash -c 'trap "" TERM; echo $$ >> pids; while true; do sleep 300; done' &`,
  'wait',
].join('\n');

/** Runs a script with the tool `bash` in a process of its own. */
function runHost(script: string, cwd: string): SpawnSyncReturns<string> {
  const root = resolve(import.meta.dirname, '../../..');
  const whole = `
    import { existsSync, readFileSync } from 'node:fs';
    import { createBashTool } from '${root}/src/tools/builtin/bash.ts';
    import { systemClock } from '${root}/src/clock.ts';
    const bash = createBashTool();
    const context = { cwd: process.cwd(), clock: systemClock, signal: new AbortController().signal, progress() {} };
    ${script}
  `;
  return spawnSync(process.execPath, ['--input-type=module', '-e', whole], { cwd, timeout: 10_000, encoding: 'utf8' });
}

describe('Bash', () => {
  it('gives both streams in order and the exit code', async () => {
    const folder = temporaryFolder();
    const { text, outcome } = await bash(folder, { command: 'echo out; echo err >&2; pwd; exit 3' });
    expect(text.split('\n').toSorted()).toEqual(['(Exit code 3.)', folder, 'err', 'out'].toSorted());
    expect(outcome).toMatchObject({ isError: true, cancelsSiblings: true, stage: 'run' });
    const silent = await bash(folder, { command: 'true' });
    expect(silent.text).toBe('(no output)');
    expect(silent.outcome).toMatchObject({ isError: false, cancelsSiblings: false });
  });

  it('starts every call in the working folder', async () => {
    const folder = temporaryFolder();
    await bash(folder, { command: 'cd /' });
    expect((await bash(folder, { command: 'pwd' })).text).toBe(folder);
  });

  it('keeps our keys from commands and gives them no input', async () => {
    const env = { PATH: process.env['PATH'], ANTHROPIC_API_KEY: 'key', ANTHROPIC_AUTH_TOKEN: 'token', OTHER: 'kept' };
    const setting = { tools: [createBashTool({ env })], cwd: temporaryFolder() };
    const { text } = await callTool(setting, 'Bash', { command: 'env; cat; echo done' });
    expect(text).not.toMatch(/ANTHROPIC/);
    expect(text).toContain('OTHER=kept');
    expect(text).toMatch(/done$/);
  });

  it('ends at the timeout with what was printed, and kills the whole family', async () => {
    const folder = temporaryFolder();
    const called = bash(folder, { command: `echo begun\n${family}`, timeout: 700 });
    const pids = await pidsIn(join(folder, 'pids'), 4);
    const { text, outcome } = await called;
    expect(text).toBe('begun\n(Timed out after 0.7 seconds; the command and all it started were killed.)');
    expect(outcome).toMatchObject({ isError: true, cancelsSiblings: true });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('B58: leaves nothing of the group alive after an abort', async () => {
    const folder = temporaryFolder();
    const abort = new AbortController();
    const called = bash(folder, { command: family }, { signal: abort.signal });
    const pids = await pidsIn(join(folder, 'pids'), 4);
    expect(pids.filter(isAlive)).toEqual(pids);
    abort.abort();
    expect((await called).outcome.stage).toBe('abort');
    expect(pids.filter(isAlive)).toEqual([]);
    expect(isGroupAlive(pids[0]!)).toBe(false);
  });

  it('does not wait for children in the background that hold the output open, and says that they run', async () => {
    const folder = temporaryFolder();
    onTestFinished(killAllCommands);
    const { text, outcome } = await bash(folder, { command: 'sleep 300 & echo $! > pids; echo begun' });
    expect(outcome.isError).toBe(false);
    expect(text).toBe('begun\n(Something started by the command still runs; what it prints from now on is not shown.)');
    const [pid] = await pidsIn(join(folder, 'pids'), 1);
    expect(isAlive(pid!)).toBe(true);
    killAllCommands();
    await wait(20);
    expect(isAlive(pid!)).toBe(false);
  });

  it('does not keep the host alive for the background, and takes it along when the host ends', async () => {
    const folder = temporaryFolder();
    const command = 'sleep 300 & echo $! > pids; sleep 300 > /dev/null 2>&1 & echo $! >> pids';
    const host = runHost(`await bash.run({ command: '${command}', timeout: 10_000 }, context);`, folder);
    expect(host).toMatchObject({ status: 0, stderr: expect.not.stringContaining('Error') as unknown });
    const pids = await pidsIn(join(folder, 'pids'), 2);
    await wait(20);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('takes along what still runs when the host ends, also what ignores SIGTERM', async () => {
    const folder = temporaryFolder();
    const host = runHost(
      `void bash.run({ command: ${JSON.stringify(family)}, timeout: 10_000 }, context);
      setInterval(() => {
        if (existsSync('pids') && readFileSync('pids', 'utf8').split('\\n').length > 4) process.exit(7);
      }, 5);`,
      folder,
    );
    expect(host.status).toBe(7);
    const pids = await pidsIn(join(folder, 'pids'), 4);
    await wait(20);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('keeps a long output whole in the store', async () => {
    const store = createMemoryStore();
    const { text, outcome } = await bash(temporaryFolder(), { command: 'seq 1 20000; echo last' }, { store });
    expect(outcome.isError).toBe(false);
    expect(text.length).toBeLessThan(6_000);
    expect(text).toMatch(/^1\n2\n/);
    expect(text).toMatch(/last$/);
    expect(store.texts.get('/results/toolu_1.txt')?.split('\n')).toHaveLength(20_001);
  });

  it('shows the newest line while it runs', async () => {
    const { progress } = await bash(temporaryFolder(), { command: 'printf "a\\nb\\n"; sleep 0.05; echo c' });
    expect(progress.at(-1)).toBe('c');
  });

  it('B68: puts characters together that arrive in two halves, and replaces what is none', async () => {
    const { text } = await bash(temporaryFolder(), {
      command: `printf '\\360\\237'; sleep 0.05; printf '\\230\\200 \\377'`,
    });
    expect(text).toBe('😀 \uFFFD');
  });

  it('says which signal ended a command, and what is wrong with a shell', async () => {
    expect((await bash(temporaryFolder(), { command: 'kill -SEGV $$' })).text).toBe('(Killed by SIGSEGV.)');
    const setting = { tools: [createBashTool({ shell: '/no/such/shell' })], cwd: temporaryFolder() };
    const { outcome, text } = await callTool(setting, 'Bash', { command: 'true' });
    expect(outcome).toMatchObject({ isError: true, stage: 'run' });
    expect(text).toContain('/no/such/shell');
  });

  it('takes no colours and no escapes into the result', async () => {
    expect((await bash(temporaryFolder(), { command: `printf '\\033[31mred\\033[0m'` })).text).toBe('red');
  });

  it.each([
    {},
    { command: '' },
    { command: 'a', timeout: 0 },
    { command: 'a', timeout: 600_001 },
    { command: 'a', cwd: '/' },
  ])('refuses the input %j', async (input) => {
    expect((await bash('/', input)).outcome.stage).toBe('schema');
  });

  it('refuses a NUL, which no shell could get', async () => {
    expect((await bash('/', { command: 'a\0b' })).outcome.stage).toBe('validation');
  });

  it('is asked by default, and obeys rules for commands', async () => {
    const folder = temporaryFolder();
    const run = (command: string, rules: string[], behavior: 'allow' | 'deny') =>
      bash(
        folder,
        { command },
        {
          mode: behavior === 'allow' ? 'default' : 'bypassPermissions',
          rules: rules.map((rule) => ({ behavior, rule })),
        },
      );
    expect((await bash(folder, { command: 'echo a' }, { mode: 'default' })).outcome.stage).toBe('permission');
    expect((await run('echo a', ['Bash(echo *)'], 'allow')).text).toBe('a');
    expect((await run('echo a; touch b', ['Bash(echo *)'], 'allow')).outcome.stage).toBe('permission');
    expect((await run('true && /usr/bin/touch b', ['Bash(touch *)'], 'deny')).outcome.stage).toBe('permission');
    expect(existsSync(join(folder, 'b'))).toBe(false);
  });

  it('is never read-only and never safe beside others', () => {
    const tool = createBashTool();
    expect([
      tool.isReadOnly({ command: 'ls' }),
      tool.isConcurrencySafe({ command: 'ls' }),
      tool.isReplaySafe({}),
    ]).toEqual([false, false, false]);
  });

  it('does not hang on a command that reads a terminal', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'ask.sh'), 'read answer < /dev/tty; echo "got $answer"');
    const { outcome } = await bash(folder, { command: 'sh ask.sh', timeout: 5_000 });
    expect(outcome.stage).toBe('run');
  });
});

describe('the buffer for output', () => {
  it('keeps the beginning and the end, and counts what lies between', () => {
    const buffer = new OutputBuffer(10, 10);
    for (let index = 0; index < 100; index += 1) buffer.push(`${index % 10}`);
    const text = buffer.text();
    expect(text).toMatch(/^0123456789\n\[\.\.\. 80 characters of output left out \.\.\.\]\n0123456789$/);
    const large = new OutputBuffer(10, 10);
    large.push('a'.repeat(1_000));
    large.push('end');
    expect(large.text()).toMatch(/^a{10}\n.*\na*end$/s);
    expect(large.text().length).toBeLessThan(90);
  });

  it('keeps everything that fits', () => {
    const buffer = new OutputBuffer(10, 10);
    buffer.push('abc');
    buffer.push('def');
    expect(buffer.text()).toBe('abcdef');
  });
});
