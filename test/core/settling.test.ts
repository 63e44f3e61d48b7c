/** Section 4 of the contract: what an ended attempt means, and the order in which its ladders are tried. */
import { describe, expect, it } from 'vitest';
import { failureOf } from '../../src/core/failure.ts';
import type { Message } from '../../src/core/message.ts';
import type { StagedCollapse } from '../../src/core/state.ts';
import { begun, type Drive } from '../support/drive.ts';
import {
  assistant,
  block,
  outline,
  type Said,
  text,
  textOf,
  thinking,
  tokens,
  tool,
  unsafe,
  user,
} from '../support/said.ts';

const serverTool = block({ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} });
const picture = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } } as const;

/** A history with something to summarise, something to collapse, and a tail. */
const long = [
  user('u1', tokens(900)),
  assistant('a1', { type: 'text', text: tokens(900) }),
  user('u2', tokens(9_000)),
  assistant('a2', { type: 'text', text: 'ok' }),
  user('u3', 'go'),
];
const staged: readonly StagedCollapse[] = [{ firstId: 'u1', lastId: 'a1', summary: 'it was long' }];

describe('stop reasons', () => {
  it.each<[string, string | null, readonly Said[], string]>([
    ['end_turn is done', 'end_turn', [text('yes')], 'completed done'],
    ['stop_sequence is done', 'stop_sequence', [text('yes')], 'completed done'],
    ['an empty end_turn is done too', 'end_turn', [], 'completed done'],
    ['only blank text is done and stores nothing', 'end_turn', [text(' ')], 'completed done'],
    ['refusal ends the query', 'refusal', [text('no')], 'completed refusal'],
    ['a refusal without a block ends it too', 'refusal', [], 'completed refusal'],
    ['tool_use runs the tools', 'tool_use', [tool('t1')], 'runningTools'],
    ['tool_use without a tool is malformed', 'tool_use', [text('hm')], 'malformed_reasked'],
    ['end_turn with a tool is malformed', 'end_turn', [unsafe('t1')], 'malformed_reasked'],
    ['pause_turn with a tool of ours is malformed', 'pause_turn', [unsafe('t1')], 'malformed_reasked'],
    ['pause_turn is sent back', 'pause_turn', [serverTool], 'pause_resent'],
    ['thinking and nothing else is asked again', 'end_turn', [thinking()], 'thinking_only_reasked'],
    ['max_tokens is an output limit', 'max_tokens', [text('cut')], 'max_output_tokens_escalate'],
    ['a full window is an overflow', 'model_context_window_exceeded', [text('cut')], 'prompt_too_long'],
    ['compaction in streaming is incomplete', 'compaction', [text('summary')], 'retried'],
    ['null is incomplete', null, [text('a')], 'retried'],
    ['unknown is incomplete', 'some_future_reason', [text('a')], 'retried'],
  ])('%s', (_name, stopReason, said, expected) => {
    const drive = begun().answers(stopReason, ...said);
    const happened =
      drive.end === ''
        ? [drive.phase, ...drive.rows.map((name) => name.split('.')[0])]
        : [drive.end, drive.terminal.reason];
    expect(happened).toContain(expected);
  });

  it('an empty end_turn after tool results is done, and nothing empty is stored', () => {
    const drive = begun().turn(tool('t1')).answers('end_turn');
    expect(drive.end).toBe('completed done');
    expect(outline(drive.carried.messages)).toEqual(['user', 'assistant', 'tool_results']);
  });

  it('an incomplete answer is never completed, however often it comes', () => {
    const drive = begun({ limits: { retries: 2 } });
    for (let count = 0; count < 3; count += 1) drive.answers(null, text('a'));
    expect(drive.end).toBe('model_error');
    expect(drive.terminal.failure).toMatchObject({ class: 'incomplete' });
  });

  it('a pause is sent back unchanged, with no user message behind it', () => {
    const drive = begun().answers('pause_turn', text('searching'), serverTool);
    expect(drive.request.messages.at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'searching' }, serverTool.block],
    });
    expect(drive.continues).toEqual([]);
    expect(drive.carried.transition).toBeNull();
  });

  it('a pause is still a pause when the answer after it is escalated: the same request goes out', () => {
    const drive = begun().answers('pause_turn', serverTool);
    const before = drive.request.messages;
    drive.answers('max_tokens', text('half'));
    expect(drive.continues).toEqual(['max_output_tokens_escalate']);
    expect(drive.request.messages).toEqual(before);
  });
});

describe('malformed tool uses', () => {
  it('bad JSON gets an error result with the raw text, and the model is asked again', () => {
    const drive = begun().answers('tool_use', unsafe('t1', { raw: '{"edits":[{a:1}' }));
    expect(outline(drive.state.scratch.additions)).toEqual(['assistant', 'tool_results']);
    expect(textOf(drive.state.scratch.additions[1])).toContain('{\\"edits\\":[{a:1}');
    expect(drive.state.query.turn.malformedAnswers).toBe(1);
    expect(drive.started('runTool')).toEqual([]);
  });

  it('bad JSON beside a good sibling: the sibling runs, the bad one has its error, in the order of the calls', () => {
    const drive = begun().answers('tool_use', unsafe('t1', { raw: '{' }), unsafe('t2'));
    expect(drive.tools).toEqual({ t1: 'ended', t2: 'running' });
    drive.toolEnds('t2').attaches();
    const content = drive.carried.messages.at(-1)?.content ?? [];
    expect(content).toMatchObject([
      { tool_use_id: 't1', is_error: true },
      { tool_use_id: 't2', is_error: false },
    ]);
  });

  it('is asked again three times, then it is a model_error that says so', () => {
    const drive = begun();
    for (let count = 0; count < 4; count += 1) drive.answers('tool_use', unsafe(`t${count}`, { raw: '{' }));
    expect(drive.end).toBe('model_error');
    expect(drive.terminal.detail).toBe('malformed_tool_use_exhausted');
    expect(drive.terminal.modelCalls).toBe(4);
  });

  it('a tool that nobody can answer for takes the whole answer with it', () => {
    const drive = begun().answers('end_turn', text('done'), unsafe('t1'));
    expect(outline(drive.state.scratch.additions)).toEqual(['continue_request']);
    expect(drive.shownOf('tombstone')).toHaveLength(1);
  });

  it('none of the three counters of odd answers clears another', () => {
    const drive = begun();
    for (let round = 0; round < 3; round += 1) drive.answers('pause_turn', serverTool).answers('tool_use', text('hm'));
    drive.answers('end_turn', thinking());
    expect(drive.state.query.turn).toMatchObject({ malformedAnswers: 3, pauseTurns: 3, thinkingOnly: 1 });
    expect(drive.answers('end_turn', thinking()).end).toBe('completed empty');
  });
});

describe('pauses and thinking only', () => {
  it('ten pauses a turn, then a model_error', () => {
    const drive = begun();
    for (let count = 0; count < 10; count += 1) drive.answers('pause_turn', serverTool);
    expect(drive.phase).toBe('streaming');
    expect(drive.answers('pause_turn', serverTool).end).toBe('model_error');
    expect(drive.terminal.detail).toBe('pause_turn_exhausted');
  });

  it('thinking only is asked once more, then it is empty: never done', () => {
    const drive = begun({ stopHooks: true }).answers('end_turn', thinking());
    expect(drive.phase).toBe('streaming');
    expect(drive.answers('end_turn', thinking()).end).toBe('completed empty');
    expect(outline(drive.carried.messages)).toEqual(['user', 'continue_request']);
    expect(drive.started('runStopHooks')).toEqual([]);
  });
});

/** How a drive got out of settling, by its rungs. */
function rungs(drive: Drive): readonly string[] {
  return drive.rows.map((name) => name.split('.')[0]!).filter((name) => ladder.has(name));
}

const ladder: ReadonlySet<string> = new Set([
  'collapse_drain_retry',
  'media_replaced',
  'reactive_compaction_began',
  'reactive_compact_retry',
  'max_output_tokens_escalate',
  'max_output_tokens_recovery',
  'max_tokens_lowered',
  'thinking_stripped',
  'prompt_too_long',
  'image_error',
]);

describe('the ladder of an overflow', () => {
  it('drains, else compacts, else surfaces: in this order', () => {
    const drive = begun({}, { messages: long, staged }).fails('overflow').fails('overflow').summary().fails('overflow');
    expect(rungs(drive)).toEqual([
      'collapse_drain_retry',
      'reactive_compaction_began',
      'reactive_compact_retry',
      'prompt_too_long',
    ]);
    expect(drive.end).toBe('prompt_too_long');
  });

  it('a full window keeps the partial answer, compacts once and goes on; the second time it ends', () => {
    const drive = begun({}, { messages: long }).answers('model_context_window_exceeded', text('half'));
    expect(drive.phase).toBe('compactingReactively');
    drive.summary();
    expect(outline(drive.carried.messages)).toEqual(['summary', 'assistant', 'user', 'assistant', 'continue_request']);
    expect(textOf(drive.carried.messages[3])).toContain('half');
    expect(drive.answers('model_context_window_exceeded', text('again')).end).toBe('prompt_too_long');
  });

  it('at the end of the ladder nothing asks a later query to resume the cut answer', () => {
    const drive = begun({ reactiveCompact: false }).answers(
      'model_context_window_exceeded',
      text('half'),
      unsafe('t1'),
    );
    expect(drive.end).toBe('prompt_too_long');
    expect(outline(drive.carried.messages)).toEqual(['user', 'assistant']);
    expect(textOf(drive.carried.messages[1])).not.toContain('t1');
  });

  it('with both compactions off nobody is asked for a summary', () => {
    const drive = begun({ autoCompact: false, reactiveCompact: false }, { messages: long }).fails('overflow');
    expect(drive.end).toBe('prompt_too_long');
    expect(drive.started('compact')).toEqual([]);
  });

  it('a failed reactive compaction surfaces the error that was kept back, once', () => {
    for (const fail of ['summaryFails', 'empty'] as const) {
      const drive = begun({}, { messages: long }).fails('overflow');
      if (fail === 'empty') drive.summary('');
      else drive.summaryFails();
      expect(drive.end).toBe('prompt_too_long');
      expect(drive.shownOf('error')).toHaveLength(1);
      expect(drive.terminal.failure).toMatchObject({ class: 'overflow' });
    }
  });

  it('no room left is an overflow without being sent', () => {
    const drive = begun(
      {
        window: 10_000,
        autoCompact: false,
        reactiveCompact: false,
        buffers: { outputReserve: 0, compactBuffer: 0, blockBuffer: 0 },
      },
      { prompt: tokens(9_900) },
    );
    expect(drive.end).toBe('prompt_too_long');
    expect(drive.terminal.modelCalls).toBe(0);
  });
});

describe('the ladder of a media error', () => {
  const look: Message = { role: 'user', id: 'u3', origin: 'user', refused: false, content: [picture] };
  const withPicture = [...long.slice(0, 4), look];

  it('replaces, once, as a new attempt that is stored; else compacts; else surfaces', () => {
    const drive = begun({}, { messages: withPicture }).fails('media');
    expect(textOf(drive.carried.messages[4])).not.toContain('example.com');
    expect(drive.carried.transition).toBeNull();
    drive.fails('media').summary().fails('media');
    expect(rungs(drive)).toEqual([
      'media_replaced',
      'reactive_compaction_began',
      'reactive_compact_retry',
      'image_error',
    ]);
    expect(drive.shownOf('error')).toHaveLength(1);
  });

  it('shares the one reactive compaction with the overflow', () => {
    const drive = begun({}, { messages: withPicture }).fails('overflow').summary();
    expect(drive.carried.hasAttemptedReactiveCompact).toBe(true);
    expect(drive.fails('media').fails('media').end).toBe('image_error');
    expect(drive.started('compact')).toHaveLength(1);
  });

  it('a failed compaction for media is an image_error', () => {
    const drive = begun({}, { messages: long }).fails('media').summaryFails();
    expect(drive.end).toBe('image_error');
    expect(drive.terminal.failure).toMatchObject({ class: 'media' });
  });
});

describe('the ladder of an output limit', () => {
  it('escalates, recovers three times, then surfaces; no stop hook is asked', () => {
    const drive = begun({ stopHooks: true });
    for (let count = 0; count < 5; count += 1) drive.answers('max_tokens', text(`part ${count}`));
    expect(drive.continues).toEqual([
      'max_output_tokens_escalate',
      'max_output_tokens_recovery',
      'max_output_tokens_recovery',
      'max_output_tokens_recovery',
    ]);
    expect(drive.end).toBe('completed output_limit');
    expect(drive.shownOf('error')).toHaveLength(1);
    expect(drive.started('runStopHooks')).toEqual([]);
  });

  it('no tool of a cut message runs, even when its cut JSON happens to parse', () => {
    const drive = begun().says(text('I'), unsafe('t1')).stops('max_tokens');
    expect(drive.started('runTool')).toEqual([]);
    for (let count = 0; count < 4; count += 1) drive.says(text('I'), unsafe('t1')).stops('max_tokens');
    expect(drive.started('runTool')).toEqual([]);
    expect(JSON.stringify(drive.carried.messages)).not.toContain('tool_use');
  });

  it('an early tool of a cut message is cancelled, and its result vanishes', () => {
    const drive = begun().says(tool('t1'), tool('t2')).toolEnds('t1').stops('max_tokens');
    expect(drive.cancelled).toHaveLength(1);
    expect(drive.carried.messages).toHaveLength(1);
  });

  it('the rung of an escalation is skipped when the user set the limit, or nothing is above the cap', () => {
    expect(begun({ maxOutputTokens: 500 }).answers('max_tokens', text('cut')).continues).toEqual([
      'max_output_tokens_recovery',
    ]);
    expect(begun({ maxOutput: 8_000 }).answers('max_tokens', text('cut')).continues).toEqual([
      'max_output_tokens_recovery',
    ]);
  });

  it('escalates to the smallest of 64,000, the limit of the model and the room left', () => {
    const after = (config: Parameters<typeof begun>[0]): number =>
      begun(config).answers('max_tokens', text('cut')).request.max_tokens;
    expect(after({ maxOutput: 128_000 })).toBe(64_000);
    expect(after({ maxOutput: 32_000 })).toBe(32_000);
    expect(after({ window: 20_000 })).toBeLessThan(20_000);
    expect(after({ window: 20_000 })).toBeGreaterThan(8_000);
  });

  it('a cut of which nothing can be kept says so instead of asking to resume', () => {
    const drive = begun({ maxOutputTokens: 500 }).answers(
      'max_tokens',
      unsafe('t1', { raw: '{"path":"a","content":"xx' }),
    );
    expect(outline(drive.carried.messages)).toEqual(['user', 'continue_request']);
    expect(textOf(drive.carried.messages[1])).toContain('nothing of it could be kept');
  });
});

describe('one-shot resends, once a turn each', () => {
  const tooLarge = {
    ...failureOf('max_tokens_too_large', 'input + max_tokens', 400),
    tokens: { input: 195_000, window: 200_000, maxOutput: null },
  };

  it('lowers max_tokens to the room that the API named', () => {
    const drive = begun().fails(tooLarge);
    expect(drive.request.max_tokens).toBe(5_000);
    expect(drive.continues).toEqual([]);
  });

  it('a second time in the turn it is an overflow', () => {
    const drive = begun({ reactiveCompact: false }).fails(tooLarge).fails(tooLarge);
    expect(drive.end).toBe('prompt_too_long');
  });

  it('a limit of the model on max_tokens is no overflow: smaller input cures nothing', () => {
    const limit = {
      ...failureOf('max_tokens_too_large', 'max_tokens', 400),
      tokens: { input: null, window: null, maxOutput: 4_000 },
    };
    const drive = begun().fails(limit);
    expect(drive.request.max_tokens).toBe(4_000);
    expect(drive.fails(limit).end).toBe('completed api_error');
  });

  it('strips thinking after a 400, for good, and once', () => {
    const drive = begun({ thinking: 'adaptive' }).turn(thinking(), tool('t1')).fails('thinking');
    expect(JSON.stringify(drive.request)).not.toContain('"thinking":"hm"');
    expect(JSON.stringify(drive.carried.messages)).not.toContain('"thinking":"hm"');
    expect(drive.fails('thinking').end).toBe('completed api_error');
  });

  it('a 400 for the same body is never sent twice: no thinking in it, nothing to strip', () => {
    const thought = assistant('a1', { type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'text', text: 'ok' });
    const drive = begun({ thinking: 'off' }, { messages: [user('u1', 'a'), thought, user('u2', 'b')] }).fails(
      'thinking',
    );
    expect(drive.end).toBe('completed api_error');
    expect(drive.terminal.modelCalls).toBe(1);
  });
});

describe('an API error', () => {
  it.each(['invalid_request', 'authentication', 'billing', 'permission', 'not_found', 'too_large'] as const)(
    '%s ends the query without stop hooks and is shown once',
    (kind) => {
      const drive = begun({ stopHooks: true }).fails(kind);
      expect(drive.end).toBe('completed api_error');
      expect(drive.terminal.failure).toMatchObject({ class: kind });
      expect(drive.shown.map(({ type }) => type)).toEqual(['error']);
      expect(drive.started('runStopHooks')).toEqual([]);
    },
  );
});

describe('a refusal', () => {
  it('marks the answer and the words that caused it, and leaves them out of later requests', () => {
    const drive = begun({}, { messages: [...long.slice(0, 2), user('bad', 'do evil')] }).answers('refusal', text('I'));
    expect(drive.carried.messages.map(({ refused }) => refused)).toEqual([false, false, true, true]);
    expect(drive.shownOf('tombstone')).toHaveLength(1);
    const next = begun({}, { messages: drive.carried.messages, prompt: 'hi' });
    expect(JSON.stringify(next.request)).not.toContain('evil');
  });

  it('marks the turns that followed those words too, so that nothing left refers to what is gone', () => {
    const drive = begun().turn(tool('t1')).answers('refusal');
    expect(drive.carried.messages.every(({ refused }) => refused)).toBe(true);
  });
});

describe('withholding', () => {
  it('a failure that a rung cures is never shown', () => {
    const drive = begun({}, { messages: long, staged });
    drive.fails('server').fails('overflow').fails('overflow').summary().answers('max_tokens', text('a'));
    expect(drive.answers('end_turn', text('done')).end).toBe('completed done');
    expect(drive.shownOf('error')).toEqual([]);
  });

  it('an abort in mid-ladder shows it never', () => {
    const drive = begun({}, { messages: long }).fails('overflow').interrupts();
    expect(drive.end).toBe('aborted_streaming');
    expect(drive.shownOf('error')).toEqual([]);
    expect(drive.terminal.failure).toBeNull();
  });
});
