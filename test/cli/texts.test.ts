/** The pure texts of the command line. */
import { describe, expect, it } from 'vitest';
import { answerOf, questionText } from '../../src/cli/ask.ts';
import { callText } from '../../src/cli/call-text.ts';
import { demoFiles, buggyFile } from '../../src/cli/demo/files.ts';
import { firstLine, report, verdict } from '../../src/cli/demo/report.ts';
import { newLines, oldLine } from '../../src/cli/demo/script.ts';
import { statusOf } from '../../src/cli/exit-status.ts';
import { finalText } from '../../src/inspect/final-text.ts';
import { formatTime, newDetail, summaryLine, toolLine } from '../../src/cli/format.ts';
import { wantsColor } from '../../src/cli/io.ts';
import { visible, visibleProse } from '../../src/cli/visible.ts';
import { failureOf } from '../../src/core/failure.ts';
import type { AssistantBlock, Message, Origin } from '../../src/core/message.ts';
import type { Terminal } from '../../src/core/state.ts';
import { plain } from './fake-io.ts';

const facts = {
  turns: 1,
  usage: { input: 1_200, output: 30, cacheRead: 4, cacheCreation: 0 },
  cost: null,
  output: null,
  modelCalls: 1,
  summaryCalls: 0,
  failure: null,
  detail: null,
} as const;
const done: Terminal = { reason: 'completed', outcome: 'done', ...facts };

describe('visible', () => {
  it.each([
    ['plain text,\n\ttabs and ünïcödé 🕰', 'plain text,\n\ttabs and ünïcödé 🕰'],
    ['\u001B[2K\u001B]0;title\u0007', '␛[2K␛]0;title␇'],
    ['a\rb\u007F\u0000', 'a␍b␡␀'],
    // A C1 control begins an order too, and a direction mark makes a text look like another one.
    ['\u009B2J \u202Ecod.exe\u2066', '<U+009B>2J <U+202E>cod.exe<U+2066>'],
  ])('shows %j as %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('takes any line end in prose', () => {
    expect(visibleProse('one\r\ntwo\rthree')).toBe('one\ntwothree');
  });
});

describe('times', () => {
  it.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [125_000, '2 min 5 s'],
    [119_700, '2 min 0 s'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatTime(ms)).toBe(text);
  });
});

describe('lines', () => {
  const ended = {
    type: 'progress',
    toolUseId: 't',
    name: 'Bash',
    status: 'ended',
    ms: 12,
    text: 'boom',
    isError: false,
  } as const;

  it('of a tool: what it was asked and its time; of one that failed why', () => {
    expect(toolLine(ended, 'ls', plain)).toBe('✓ Bash ls (12 ms)');
    expect(toolLine({ ...ended, isError: true }, 'ls', plain)).toBe('✗ Bash ls (12 ms)  boom');
    expect(toolLine(ended, 'ls\u001B[2K', plain)).toBe('✓ Bash ls␛[2K (12 ms)');
  });

  it('at the end: reason, turns, tokens, cost where it is known, the detail below', () => {
    expect(summaryLine(done, null, plain)).toBe('completed (done) · 1 turn · 1,204 tokens in, 30 out');
    const failed: Terminal = { ...facts, reason: 'max_turns', outcome: null, turns: 3, detail: 'No turn is left.' };
    expect(summaryLine({ ...failed, cost: 0.01 }, null, plain)).toBe(
      'max_turns · 3 turns · 1,204 tokens in, 30 out · $0.0100\nNo turn is left.',
    );
  });

  it('at the end: the share of a token budget that was used', () => {
    const spent: Terminal = { ...facts, reason: 'completed', outcome: 'budget_spent' };
    expect(summaryLine(spent, { total: 500_000, used: 466_999 }, plain)).toBe(
      'completed (budget_spent) · 1 turn · 1,204 tokens in, 30 out · 93 % of 500,000 budget tokens used',
    );
  });
});

describe('the detail of an ending', () => {
  it('is not said twice', () => {
    const failure = failureOf('server', 'Down');
    const ended: Terminal = { ...facts, reason: 'model_error', outcome: null, failure, detail: 'Down' };
    expect(newDetail(ended)).toBeNull();
    expect(newDetail({ ...ended, detail: 'Gave up.' })).toBe('Gave up.');
    expect(newDetail(done)).toBeNull();
  });
});

describe('the exit status', () => {
  it('is 0 for an end that is done, or whose token budget is spent', () => {
    expect(statusOf(done)).toBe(0);
    expect(statusOf({ ...facts, reason: 'completed', outcome: 'budget_spent' })).toBe(0);
    expect(statusOf({ ...facts, reason: 'completed', outcome: 'api_error' })).toBe(1);
    expect(statusOf({ ...facts, reason: 'model_error', outcome: null })).toBe(1);
    expect(statusOf({ ...facts, reason: 'aborted_streaming', outcome: null })).toBe(130);
    expect(statusOf({ ...facts, reason: 'aborted_tools', outcome: null })).toBe(130);
  });
});

describe('colours', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: 'false' }, true, false],
  ])('with %j and terminal %j: %j', (env, isTerminal, wanted) => {
    expect(wantsColor(env, isTerminal)).toBe(wanted);
  });
});

describe('the call that is asked about', () => {
  it('shows a command whole, further lines under the first, nothing hidden', () => {
    const command = `echo ${'a'.repeat(5_000)}\nrm -rf /\u001B[1K\r`;
    expect(callText('Bash', { command }, plain)).toBe(`Bash echo ${'a'.repeat(5_000)}\n    rm -rf /␛[1K␍`);
  });

  it('shows an edit as lines that go and lines that come', () => {
    const input = { file_path: 'a.ts', old_string: 'one\n', new_string: 'uno\ndue', replace_all: true };
    expect(callText('Edit', input, plain)).toBe('Edit a.ts (wherever it stands)\n  - one\n  + uno\n  + due');
    expect(callText('Edit', { file_path: 'a.ts', old_string: '', new_string: 'x' }, plain)).toBe('Edit a.ts\n  + x');
  });

  it('says how much of a long file it leaves out', () => {
    const text = callText('Write', { file_path: 'a', content: 'x\n'.repeat(100) }, plain);
    expect(text.split('\n')).toHaveLength(42);
    expect(text).toMatch(/\(and 60 more lines\)$/);
    expect(callText('Write', { file_path: 'a', content: 'y'.repeat(2_001) }, plain)).toMatch(
      /y \(and 1 more characters\)$/,
    );
  });

  it('shows one text as it is, any other input as JSON', () => {
    expect(callText('Read', { file_path: '/etc/hosts' }, plain)).toBe('Read /etc/hosts');
    expect(callText('Glob', { pattern: '*', path: '/' }, plain)).toBe('Glob {"pattern":"*","path":"/"}');
    // A tool of a server may call itself what it likes; a name of ours with another input is no call of ours.
    expect(callText('Bash', { script: 1 }, plain)).toBe('Bash {"script":1}');
  });

  it('says what "always" would mean', () => {
    const rule = { behavior: 'allow', rule: 'Bash(ls)' } as const;
    expect(questionText('Bash ls', { reason: 'It may.', suggestions: [rule] })).toBe(
      'Bash ls\nIt may. Always would allow Bash(ls).',
    );
    expect(questionText('Bash ls', { reason: 'It may.', suggestions: [] })).toBe('Bash ls\nIt may.');
    expect(questionText('Bash ls', { reason: 'It may.', suggestions: [], agent: 'scout' })).toBe(
      'Bash ls\nThe agent scout asks. It may.',
    );
  });

  it.each([
    ['y', { behavior: 'allow' }],
    [' YES ', { behavior: 'allow' }],
    ['a', { behavior: 'allow', addedRules: [{ behavior: 'allow', rule: 'Bash(ls)' }] }],
    ['e', { behavior: 'deny', interrupt: true }],
    ['n', { behavior: 'deny' }],
    ['', { behavior: 'deny' }],
    ['yikes', { behavior: 'deny', message: 'The user said no: yikes' }],
    ['always not', { behavior: 'deny' }],
    [null, { behavior: 'deny' }],
  ])('takes %j for %j', (line, answer) => {
    const found = answerOf(line, [{ behavior: 'allow', rule: 'Bash(ls)' }]);
    expect(found).toMatchObject(answer);
    expect('interrupt' in found).toBe('interrupt' in answer);
  });
});

function assistant(...content: AssistantBlock[]): Message {
  return { role: 'assistant', id: 'a', model: 'm', content, refused: false };
}

function user(origin: Origin): Message {
  return { role: 'user', id: 'u', origin, content: [{ type: 'text', text: '?' }], refused: false };
}

const text = (words: string): AssistantBlock => ({ type: 'text', text: words });
const tool: AssistantBlock = { type: 'tool_use', id: 't', name: 'Bash', input: {} };

describe('the final text', () => {
  it('is the newest answer', () => {
    expect(finalText([user('user'), assistant(text('old'), tool), user('tool_results'), assistant(text('new'))])).toBe(
      'new',
    );
    expect(finalText([user('user'), assistant(text('wrong')), user('stop_hook'), assistant(text('right'))])).toBe(
      'right',
    );
    expect(finalText([user('user'), assistant(text('mine')), user('interruption')])).toBe('mine');
  });

  it('is whole when an answer was cut and went on', () => {
    const cut = [
      user('user'),
      assistant(text('the begin')),
      user('continue_request'),
      assistant(text('ning')),
      user('continue_request'),
    ];
    expect(finalText([...cut, assistant(text(' and the end'))])).toBe('the beginning and the end');
  });

  it('keeps apart what something stood between, and joins pieces', () => {
    const search: AssistantBlock = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    expect(finalText([user('user'), assistant(text('I look.'), search), assistant(text('Found'), text(' it.'))])).toBe(
      'I look.\nFound it.',
    );
  });

  it('is empty without an answer to the newest prompt', () => {
    expect(finalText([])).toBe('');
    expect(finalText([user('user'), assistant(tool), user('tool_results')])).toBe('');
    const refused = { ...assistant(text('I should not')), refused: true } as Message;
    expect(finalText([user('user'), assistant(text('earlier')), user('user'), refused])).toBe('');
  });
});

describe('the texts of the demo', () => {
  const red = { isGreen: false, passed: 2, failed: 1 };
  const green = { isGreen: true, passed: 3, failed: 0 };

  it('say at once that the model is scripted', () => {
    expect(firstLine(false, plain)).toMatch(/^Demo: .*the model is scripted/);
    expect(firstLine(true, plain)).toMatch(/Your prompt reached no model\.$/);
    expect([verdict(red, plain), verdict(green, plain)]).toEqual(['red (2 pass, 1 fails)', 'green (3 pass)']);
  });

  it('show tests, diff, path, and how to go on', () => {
    const fixed = (demoFiles[buggyFile] ?? '').replace(oldLine, newLines);
    const journey = {
      before: red,
      after: green,
      fixed,
      path: ['next_turn', 'completed (done)'],
      calls: 5,
      overloads: 1,
    };
    const told = report(journey, plain);
    expect(told).toContain('Tests after: red (2 pass, 1 fails) -> green (3 pass)');
    expect(told.split('\n').filter((line) => /^[+-] /.test(line))).toEqual([`+  ${newLines.split('\n')[0]}`]);
    expect(told).toContain('next_turn > completed (done)');
    expect(told).toContain('--base-url');
  });
});
