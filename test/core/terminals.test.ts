/** The ten ways a query ends, and what each carries. */
import { describe, expect, it } from 'vitest';
import type { FailureClass } from '../../src/core/failure.ts';
import { terminals } from '../../src/core/terminal.ts';
import { begun, Drive } from '../support/drive.ts';
import { assistant, outline, text, textOf, thinking, tokens, tool, unsafe, user } from '../support/said.ts';

const long = [user('u1', tokens(9_000)), assistant('a1', { type: 'text', text: 'ok' }), user('u2', 'go')];

/** How a query gets there, its reason and outcome, the class of the failure that it shows, and what its detail says. */
type Case = readonly [
  name: string,
  drive: () => Drive,
  end: string,
  failure: FailureClass | null,
  detail: RegExp | null,
];

function refilled(): Drive {
  const drive = begun(
    { window: 12_000, limits: { refills: 0 } },
    { messages: [...long.slice(0, 2), user('u2', 'go')] },
  );
  return drive.summary().answers('tool_use', tool('t1')).toolEnds('t1', tokens(9_000)).attaches();
}

const cases: readonly Case[] = [
  ['done', () => begun().answers('end_turn', text('yes')), 'completed done', null, null],
  [
    'budget spent',
    () =>
      begun({ tokenBudget: 100 })
        .says(text('yes'))
        .stops('end_turn', { input: 9, output: 95, cacheRead: 0, cacheCreation: 0 }),
    'completed budget_spent',
    null,
    /95 of 100/,
  ],
  [
    'output limit',
    () => begun({ maxOutputTokens: 500, limits: { outputRecoveries: 0 } }).answers('max_tokens', text('cut')),
    'completed output_limit',
    'too_large',
    null,
  ],
  ['refusal', () => begun().answers('refusal'), 'completed refusal', null, /refused/],
  ['API error', () => begun().fails('authentication'), 'completed api_error', 'authentication', null],
  [
    'stop-hook limit',
    () =>
      begun({ stopHooks: true, limits: { stopHookBlocks: 0 } })
        .answers('end_turn', text('a'))
        .hooks({ errors: ['lint'] }),
    'completed stop_hook_limit',
    null,
    /lint/,
  ],
  [
    'empty',
    () => begun({ limits: { thinkingOnly: 0 } }).answers('end_turn', thinking()),
    'completed empty',
    null,
    /thinking/,
  ],
  [
    'over the hard limit without auto-compact',
    () => begun({ window: 10_000, autoCompact: false }, { prompt: tokens(9_000) }),
    'blocking_limit',
    null,
    /the newest user message/,
  ],
  ['filled again and again', refilled, 'blocking_limit', null, /newest tool results/],
  ['overflow', () => begun().fails('overflow'), 'prompt_too_long', 'overflow', null],
  ['media', () => begun().fails('media'), 'image_error', 'media', null],
  [
    'retries spent',
    () => begun({ limits: { retries: 0 } }).fails('overloaded'),
    'model_error',
    'overloaded',
    /1 request/,
  ],
  ['a throw that is no API answer', () => begun().fails('thrown'), 'model_error', 'thrown', /thrown/],
  ['abort while streaming', () => begun().interrupts(), 'aborted_streaming', null, null],
  ['abort while tools run', () => begun().answers('tool_use', tool('t1')).interrupts(), 'aborted_tools', null, null],
  [
    'denial with interrupt',
    () => begun().answers('tool_use', tool('t1')).toolEnds('t1', { interrupt: true, isError: true }),
    'aborted_tools',
    null,
    /denied/,
  ],
  [
    'stop hook prevents',
    () =>
      begun({ stopHooks: true })
        .answers('end_turn', text('a'))
        .hooks({ prevent: 'enough', errors: ['lint'] }),
    'stop_hook_prevented',
    null,
    /enough/,
  ],
  [
    'tool hook stops',
    () => begun().answers('tool_use', tool('t1')).toolEnds('t1', { stop: 'halt' }),
    'hook_stopped',
    null,
    /halt/,
  ],
  ['prompt blocked', () => new Drive().begin('not today'), 'hook_stopped', null, /not today/],
  ['max turns', () => begun({ maxTurns: 1 }).turn(tool('t1')), 'max_turns', null, /1 turn/],
];

describe('the ten terminals', () => {
  it.each(cases)('%s', (_name, drive, end, failure, detail) => {
    const ended = drive();
    expect(ended.end).toBe(end);
    expect(ended.terminal.failure?.class ?? null).toBe(failure);
    if (detail === null) expect(ended.terminal.detail).toBeNull();
    else expect(ended.terminal.detail).toMatch(detail);
  });

  it.each(cases)('%s: an error is shown once, right before the end', (_name, drive, _end, failure) => {
    const shown = drive().shown.map(({ type }) => type);
    expect(shown.filter((type) => type === 'error')).toHaveLength(failure === null ? 0 : 1);
    if (failure !== null) expect(shown.at(-1)).toBe('error');
  });

  it.each(cases)('%s: nothing runs any more, and nothing that comes later changes anything', (_name, drive) => {
    const ended = drive();
    expect(ended.state.scratch.attempt).toBeNull();
    expect(ended.carried.pendingToolUseSummary).toBeNull();
    const { state } = ended;
    ended.interrupts().queues('late').resumes();
    expect(ended.state).toEqual({ ...state, outbox: [] });
  });

  it('are all here', () => {
    expect(Object.keys(terminals)).toHaveLength(10);
    expect(new Set(cases.map(([, , end]) => end.split(' ')[0]))).toEqual(new Set(Object.keys(terminals)));
  });

  it('carry turns, usage and calls', () => {
    const drive = begun({}, { messages: long }).turn(tool('t1')).fails('overflow').summary('short', 'end_turn', {
      input: 100,
      output: 10,
      cacheRead: 0,
      cacheCreation: 0,
    });
    drive.says(text('yes')).stops('end_turn', { input: 7, output: 3, cacheRead: 2, cacheCreation: 1 });
    expect(drive.terminal).toMatchObject({
      turns: 2,
      modelCalls: 3,
      summaryCalls: 1,
      usage: { input: 107, output: 13, cacheRead: 2, cacheCreation: 1 },
    });
  });
});

describe('blocking_limit', () => {
  it.each(['compact', 'session_memory'])('never for the source %s: it exists to shrink the context', (querySource) => {
    expect(begun({ window: 10_000, autoCompact: false, querySource }, { prompt: tokens(6_900) }).phase).toBe(
      'streaming',
    );
  });

  it('a partial answer that a full window left keeps no tool use', () => {
    const drive = begun(
      { window: 60_000, limits: { refills: 0 } },
      { messages: [user('u0', tokens(20_000)), ...long.slice(1)] },
    );
    drive.fails('overflow').summary().turn(tool('t1'));
    drive.answers('model_context_window_exceeded', text('half'), unsafe('t2'));
    expect(drive.end).toBe('blocking_limit');
    expect(textOf(drive.carried.messages.at(-1))).toContain('half');
    expect(JSON.stringify(drive.carried.messages)).not.toContain('t2');
  });
});

describe('hook_stopped', () => {
  it('no further tool starts, running ones finish, the rest get made-up results', () => {
    const drive = begun().answers('tool_use', tool('t1'), tool('t2'), unsafe('t3'));
    drive.toolEnds('t1', { stop: 'halt' });
    expect(drive.phase).toBe('runningTools');
    drive.toolEnds('t2', 'seen');
    expect(drive.end).toBe('hook_stopped');
    expect(drive.started('runTool').map(({ toolUseId }) => toolUseId)).toEqual(['t1', 't2']);
    const newest = textOf(drive.carried.messages.at(-1));
    expect(newest).toContain('seen');
    expect(newest).toContain('Not run: a hook stopped the loop.');
  });

  it.each([
    ['the connection breaks', (drive: Drive) => drive.fails('connection')],
    ['the answer is malformed', (drive: Drive) => drive.stops('end_turn')],
    ['the answer is cut', (drive: Drive) => drive.stops('max_tokens')],
    ['the model is overloaded', (drive: Drive) => drive.fails('overloaded')],
  ])('the word of a hook on an early tool is not lost when %s', (_name, ends) => {
    const drive = ends(begun().says(text('I look'), tool('t1')).toolEnds('t1', { stop: 'halt' }));
    expect(drive.end).toBe('hook_stopped');
    expect(drive.terminal.detail).toBe('halt');
    expect(drive.started('streamModel')).toHaveLength(1);
  });

  it('comes before max_turns', () => {
    const drive = begun({ maxTurns: 1 }).answers('tool_use', tool('t1')).toolEnds('t1', { stop: 'halt' });
    expect(drive.end).toBe('hook_stopped');
  });

  it('a prompt that a hook blocked is never shown to a model', () => {
    const blocked = new Drive({}, { messages: long.slice(0, 2), prompt: 'my password' }).begin('it holds a secret');
    expect(blocked.started('streamModel')).toEqual([]);
    const next = begun({}, { messages: blocked.carried.messages, prompt: 'hi' });
    expect(JSON.stringify(next.request)).not.toContain('my password');
    expect(JSON.stringify(next.request)).toContain('hi');
  });
});

describe('stop hooks', () => {
  it('prevention beats the blocking errors of another hook', () => {
    const drive = begun({ stopHooks: true })
      .answers('end_turn', text('a'))
      .hooks({ errors: ['lint'], prevent: 'enough' });
    expect(drive.end).toBe('stop_hook_prevented');
  });

  it('a crash counts as a pass, with a notice', () => {
    const drive = begun({ stopHooks: true })
      .answers('end_turn', text('a'))
      .hooks({ notices: ['hook crashed'] });
    expect(drive.end).toBe('completed done');
    expect(drive.shownOf('notice')).toEqual([{ type: 'notice', text: 'hook crashed' }]);
  });

  it.each([{ errors: ['lint'] }, { prevent: 'enough' }])(
    'the notice of a crash is shown whatever another hook says: %o',
    (more) => {
      const drive = begun({ stopHooks: true, limits: { stopHookBlocks: 0 } }).answers('end_turn', text('a'));
      expect(drive.hooks({ ...more, notices: ['crashed'] }).shownOf('notice')).toHaveLength(1);
      const other = begun({ stopHooks: true }).answers('end_turn', text('a'));
      expect(other.hooks({ ...more, notices: ['crashed'] }).shownOf('notice')).toHaveLength(1);
    },
  );

  it('receive whether one has forced a retry before', () => {
    const drive = begun({ stopHooks: true })
      .answers('end_turn', text('a'))
      .hooks({ errors: ['lint'] });
    drive.answers('end_turn', text('b'));
    expect(drive.started('runStopHooks').map(({ stopHookActive }) => stopHookActive)).toEqual([false, true]);
  });

  it.each(['compact', 'session_memory'])('are not asked for the source %s', (querySource) => {
    expect(begun({ stopHooks: true, querySource }).answers('end_turn', text('a')).end).toBe('completed done');
  });
});

describe('max_turns', () => {
  it('counts turns with tools alone', () => {
    const drive = begun({ maxTurns: 2, stopHooks: true }).turn(tool('t1'));
    drive
      .answers('end_turn', text('a'))
      .hooks({ errors: ['lint'] })
      .answers('end_turn', text('b'))
      .hooks();
    expect(drive.end).toBe('completed done');
    expect(drive.terminal.turns).toBe(2);
  });

  it('ends with the results in the history', () => {
    const drive = begun({ maxTurns: 1 }).turn(tool('t1'));
    expect(outline(drive.carried.messages)).toEqual(['user', 'assistant', 'tool_results']);
  });
});

describe('what tools changed is kept at every end', () => {
  const plan = { contextChanges: [{ type: 'permissionMode', mode: 'plan' } as const] };
  const oneDone = (): Drive => begun().answers('tool_use', tool('t1'), unsafe('t2')).toolEnds('t1', plan);

  it.each<[string, () => Drive]>([
    ['abort while tools run', () => oneDone().interrupts()],
    ['abort while attaching', () => oneDone().toolEnds('t2').interrupts()],
    ['abort while streaming', () => begun().says(tool('t1')).toolEnds('t1', plan).interrupts()],
    ['a hook stops', () => oneDone().toolEnds('t2', { stop: 'halt' })],
    ['a denial', () => oneDone().toolEnds('t2', { interrupt: true })],
    ['max turns', () => begun({ maxTurns: 1 }).answers('tool_use', tool('t1')).toolEnds('t1', plan).attaches()],
  ])('%s', (_name, drive) => {
    expect(drive().carried.toolUseContext.permissionMode).toBe('plan');
  });

  it('but not of a tool whose result vanished', () => {
    const early = (): Drive =>
      begun({ maxOutputTokens: 500, limits: { outputRecoveries: 0 } })
        .says(tool('t1'))
        .toolEnds('t1', plan);
    expect(early().stops('max_tokens').carried.toolUseContext.permissionMode).toBe('default');
    expect(early().stops('refusal').carried.toolUseContext.permissionMode).toBe('default');
  });
});
