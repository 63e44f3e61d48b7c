import { describe, expect, it } from 'vitest';
import { type Form, rendererFor } from '../../src/cli/render.ts';
import { failureOf } from '../../src/core/failure.ts';
import type { Message, Origin } from '../../src/core/message.ts';
import { noUsage } from '../../src/core/message.ts';
import type { Emitted, Observation } from '../../src/core/output.ts';
import type { Terminal } from '../../src/core/state.ts';
import { fakeIo } from './fake-io.ts';

const done: Terminal = {
  reason: 'completed',
  outcome: 'done',
  turns: 1,
  usage: noUsage,
  cost: null,
  output: null,
  modelCalls: 1,
  summaryCalls: 0,
  failure: null,
  detail: null,
};
const failed: Terminal = { ...done, reason: 'max_turns', outcome: null, detail: 'No turn\u001B[2K is left.' };
const answer: Message = {
  role: 'assistant',
  id: 'a',
  model: 'm',
  content: [{ type: 'text', text: 'Fixed\u001B[2K.' }],
  refused: false,
};

type Piece = (Observation & { type: 'delta' })['delta'];

function delta(messageId: string, index: number, piece: Piece): Emitted {
  return { type: 'delta', messageId, index, delta: piece };
}

const text = (words: string, index = 0, messageId = 'm1'): Emitted =>
  delta(messageId, index, { type: 'text', text: words });
const thinking = (words: string): Emitted => delta('m1', 0, { type: 'thinking', text: words });

function progress(status: 'started' | 'ended', words: string): Emitted {
  return {
    type: 'progress',
    toolUseId: 't',
    name: 'Bash',
    status,
    ms: 5,
    text: words,
    isError: status === 'ended' ? false : null,
  };
}

function marked(origin: Origin): Emitted {
  return { type: 'user', message: { role: 'user', id: 'u', origin, content: [], refused: false } };
}

const textForm: Form = { outputFormat: 'text', print: false, verbose: false };

function shownAs(form: Partial<Form>, items: readonly Emitted[], terminal: Terminal = done) {
  const io = fakeIo();
  const renderer = rendererFor({ ...textForm, ...form }, io);
  for (const item of items) renderer.show(item);
  renderer.end({ terminal, budget: null, messages: [answer] });
  return { ...io.printed, lines: io.printed.out.split('\n') };
}

describe('text', () => {
  it('is what was streamed, a line for each tool, the end', () => {
    const items = [
      text('Let me '),
      text('look.'),
      progress('started', 'ls'),
      progress('ended', 'fine'),
      text('Done.', 0, 'm2'),
    ];
    expect(shownAs({}, items).out).toBe(
      'Let me look.\n✓ Bash ls (5 ms)\nDone.\n\ncompleted (done) · 1 turn · 0 tokens in, 0 out\n',
    );
  });

  it('says what was dropped, noted, made smaller, summarised, and what went wrong', () => {
    const items: Emitted[] = [
      text('Half'),
      { type: 'tombstone', messageId: 'm1', why: 'overloaded' },
      { type: 'notice', text: 'A hook crashed.' },
      { type: 'boundary', kind: 'auto_compact', tokensBefore: 9, tokensAfter: 3 },
      { type: 'tool_use_summary', toolUseIds: ['t'], text: 'Looked around' },
      { type: 'error', failure: failureOf('server', 'Down\u001B[2K') },
      { type: 'command', messageId: 'q', status: 'started' },
    ];
    expect(shownAs({}, items).lines.slice(0, 6)).toEqual([
      'Half',
      '(the text above was dropped: overloaded)',
      'A hook crashed.',
      '(auto_compact: 9 to 3 tokens)',
      '• Looked around',
      'Down␛[2K',
    ]);
  });

  it('goes on in mid-sentence where an answer was cut, and begins a line for a new one', () => {
    const cut = [text('the begin'), marked('continue_request'), text('ning', 0, 'm2')];
    expect(shownAs({}, cut).lines[0]).toBe('the beginning');
    const sentBack = [text('All done.'), marked('stop_hook'), text('Not yet.', 0, 'm2')];
    expect(shownAs({}, sentBack).lines.slice(0, 2)).toEqual(['All done.', 'Not yet.']);
  });

  it('joins blocks that follow one another and keeps others apart', () => {
    expect(shownAs({}, [text('One,', 0), text(' two.', 1), text('Three.', 4)]).lines.slice(0, 2)).toEqual([
      'One, two.',
      'Three.',
    ]);
  });

  it('shows thinking when asked to, on lines of its own', () => {
    const items = [thinking('hm'), text('Yes.', 1)];
    expect(shownAs({}, items).lines[0]).toBe('Yes.');
    expect(shownAs({ verbose: true }, items).lines.slice(0, 2)).toEqual(['hm', 'Yes.']);
  });

  it('leaves the terminal alone, whatever the model says', () => {
    expect(shownAs({}, [text('\u001B[2J\u0007over\r\n')]).lines[0]).toBe('␛[2J␇over');
  });

  it('holds back what comes while somebody else writes', () => {
    const io = fakeIo();
    const renderer = rendererFor(textForm, io);
    renderer.show(text('Wait'));
    renderer.pause();
    renderer.pause();
    renderer.show(text('later'));
    renderer.resume();
    expect(io.printed.out).toBe('Wait\n');
    renderer.resume();
    expect(io.printed.out).toBe('Wait\nlater');
    renderer.pause();
    renderer.show(text(' on'));
    renderer.end({ terminal: done, budget: null, messages: [] });
    renderer.resume();
    expect(io.printed.out).toMatch(/^Wait\nlater\n on\n\ncompleted \(done\).*\n$/);
  });

  it('tells of a request that failed only when asked to', () => {
    const quiet = fakeIo();
    rendererFor(textForm, quiet).requestFailed('Overloaded');
    const verbose = fakeIo();
    rendererFor({ ...textForm, verbose: true }, verbose).requestFailed('Overloaded');
    expect([quiet.printed.err, verbose.printed.err]).toEqual(['', '[request failed: Overloaded]\n']);
  });
});

describe('--print', () => {
  it('prints the final text alone, for a program as it is', () => {
    expect(shownAs({ print: true }, [text('Let me.'), progress('ended', '')])).toMatchObject({
      out: 'Fixed\u001B[2K.\n',
      err: '',
    });
  });

  it('says beside it how it ended, unless it is done', () => {
    const items: Emitted[] = [{ type: 'error', failure: failureOf('server', 'Down') }];
    expect(shownAs({ print: true }, items, failed).err).toBe('Down\nmax_turns: No turn␛[2K is left.\n');
    expect(shownAs({ print: true }, [], { ...done, outcome: 'refusal' }).err).toBe('completed (refusal)\n');
  });
});

describe('JSON', () => {
  it('is one object with the ending, the cost, the text and the history', () => {
    const { out } = shownAs({ outputFormat: 'json' }, [text('Let me.')]);
    expect(JSON.parse(out)).toEqual({ ...done, cost: null, text: 'Fixed\u001B[2K.', messages: [answer] });
    expect(out.trimEnd()).not.toContain('\n');
  });

  it('is one object a line, the terminal last', () => {
    const items = [text('two\nlines'), marked('tool_results')];
    const { lines } = shownAs({ outputFormat: 'stream-json', print: true }, items, failed);
    expect(lines.slice(0, -1).map((line) => JSON.parse(line) as unknown)).toEqual([
      ...items,
      { type: 'terminal', ...failed, cost: null },
    ]);
  });
});
