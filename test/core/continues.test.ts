/** What each of the seven continues does to each of the ten carried fields: the table of section 4, as data. */
import { describe, expect, it } from 'vitest';
import type { Carried, ContinueName } from '../../src/core/state.ts';
import type { FileRecord } from '../../src/core/tools/context.ts';
import { begun, Drive } from '../support/drive.ts';
import { assistant, outline, results, text, tokens, tool, user } from '../support/said.ts';

/** What a continue does to a field: leaves it as it is (the same object), or gives it this value. */
type Cell = 'keep' | { readonly to: unknown };

const keep = 'keep';
const to = (value: unknown): Cell => ({ to: value });

const file: FileRecord = { mtimeMs: 1, hash: 'h', partial: false };

/** Every guard set and every counter raised, so that a cell that should keep one cannot pass by chance. */
const raised: Partial<Carried> = {
  autoCompactTracking: { compacted: true, turnId: 'c1', turnsSince: 5, failures: 2, refills: 1 },
  maxOutputTokensRecoveryCount: 2,
  hasAttemptedReactiveCompact: true,
  maxOutputTokensOverride: 9_000,
  pendingToolUseSummary: { effectId: 's1', toolUseIds: ['t0'] },
  stopHookActive: true,
  turnCount: 4,
};

const history = [
  user('u1', tokens(9_000)),
  assistant('a1', { type: 'tool_use', id: 'old', name: 'read', input: { file_path: '/old' } }),
  results('r1', 'old'),
  user('u2', tokens(9_000)),
  assistant('a2', { type: 'tool_use', id: 'new', name: 'read', input: { file_path: '/new' } }),
  results('r2', 'new'),
  user('u3', 'go'),
];

function raise(more: Partial<Carried> = {}): Drive {
  const staged = [{ firstId: 'u1', lastId: 'r1', summary: 'old' }];
  const config = { stopHooks: true, tokenBudget: 1_000, smallModel: 'small' };
  const drive = new Drive(config, { messages: history, staged }).begin();
  const filesRead = { '/old': file, '/new': file };
  return drive.carries({ ...raised, toolUseContext: { ...drive.carried.toolUseContext, filesRead }, ...more });
}

interface Expectation {
  /** Brings a query to the event right before the continue. */
  readonly before: () => Drive;
  readonly go: (drive: Drive) => Drive;
  readonly cells: { readonly [Field in Exclude<keyof Carried, 'messages' | 'transition'>]: Cell };
  /** Outline of the history afterwards, from where it differs from the history before. */
  readonly messages: readonly string[];
}

const plan = { contextChanges: [{ type: 'permissionMode', mode: 'plan' } as const] };

const kept: Expectation['cells'] = {
  toolUseContext: keep,
  autoCompactTracking: keep,
  maxOutputTokensRecoveryCount: keep,
  hasAttemptedReactiveCompact: keep,
  maxOutputTokensOverride: keep,
  pendingToolUseSummary: keep,
  stopHookActive: keep,
  turnCount: keep,
};

const table: { readonly [Name in ContinueName]: Expectation } = {
  next_turn: {
    before: () => raise().answers('tool_use', tool('t1')).toolEnds('t1', plan),
    go: (drive) => drive.attaches({ attachments: [[{ type: 'text', text: 'a file changed' }]] }),
    cells: {
      toolUseContext: to(expect.objectContaining({ permissionMode: 'plan' })),
      autoCompactTracking: to({ compacted: true, turnId: 'c1', turnsSince: 6, failures: 2, refills: 1 }),
      maxOutputTokensRecoveryCount: to(0),
      hasAttemptedReactiveCompact: to(false),
      maxOutputTokensOverride: to(null),
      pendingToolUseSummary: to({
        effectId: expect.stringMatching(/^summarizeToolUse-/) as unknown,
        toolUseIds: ['t1'],
      }),
      stopHookActive: keep,
      turnCount: to(5),
    },
    messages: ['assistant', 'tool_results', 'attachment'],
  },
  collapse_drain_retry: {
    before: raise,
    go: (drive) => drive.fails('overflow'),
    cells: kept,
    messages: ['summary', 'user', 'assistant', 'tool_results', 'user'],
  },
  reactive_compact_retry: {
    before: () => raise({ hasAttemptedReactiveCompact: false, transition: 'collapse_drain_retry' }).fails('overflow'),
    go: (drive) => drive.summary(),
    cells: {
      ...kept,
      toolUseContext: to(expect.objectContaining({ filesRead: { '/new': file } })),
      autoCompactTracking: to({
        compacted: true,
        turnId: expect.stringMatching(/^compact-/) as unknown,
        turnsSince: 0,
        failures: 0,
        refills: 0,
      }),
      hasAttemptedReactiveCompact: to(true),
    },
    messages: ['summary', 'assistant', 'tool_results', 'user'],
  },
  max_output_tokens_escalate: {
    before: () => raise({ maxOutputTokensOverride: null }),
    go: (drive) => drive.answers('max_tokens', text('cut')),
    cells: { ...kept, maxOutputTokensOverride: to(64_000) },
    messages: [],
  },
  max_output_tokens_recovery: {
    before: raise,
    go: (drive) => drive.answers('max_tokens', text('cut')),
    cells: { ...kept, maxOutputTokensRecoveryCount: to(3) },
    messages: ['assistant', 'continue_request'],
  },
  stop_hook_blocking: {
    before: () => raise({ stopHookActive: false }).answers('end_turn', text('done')),
    go: (drive) => drive.hooks({ errors: ['3 lint errors'] }),
    cells: { ...kept, stopHookActive: to(true) },
    messages: ['assistant', 'stop_hook'],
  },
  token_budget_continuation: {
    before: () => raise().answers('end_turn', text('done')),
    go: (drive) => drive.hooks(),
    cells: kept,
    messages: ['assistant', 'budget_nudge'],
  },
};

describe.each(Object.entries(table))('%s', (name, { before, go, cells, messages }) => {
  it.each(Object.entries(cells) as [keyof Expectation['cells'], Cell][])('%s', (field, cell) => {
    const drive = before();
    const earlier = drive.carried[field];
    go(drive);
    if (cell === keep) expect(drive.carried[field]).toBe(earlier);
    else expect(drive.carried[field]).toEqual(cell.to);
  });

  it('messages', () => {
    const drive = go(before());
    const same = drive.carried.messages.findIndex((message, index) => message !== history[index]);
    expect(outline(same < 0 ? [] : drive.carried.messages.slice(same))).toEqual(messages);
  });

  it('says why in `transition`, and drops the scratch', () => {
    const drive = go(before());
    expect(drive.carried.transition).toBe(name);
    expect(drive.continues.at(-1)).toBe(name);
    expect(drive.state.scratch).toMatchObject({
      additions: [],
      blocks: [],
      toolRuns: [],
      end: null,
      compactionTried: false,
    });
  });
});

describe('only next_turn sets the counters of the turn back', () => {
  const spent = {
    malformedAnswers: 1,
    pauseTurns: 2,
    thinkingOnly: 1,
    loweredMaxTokens: 1,
    thinkingStripped: 1,
    mediaReplaced: 1,
    drains: 0,
  };

  it.each(Object.entries(table))('%s', (name, { before, go }) => {
    const drive = before();
    drive.state = { ...drive.state, query: { ...drive.state.query, turn: spent } };
    go(drive);
    const drains = name === 'collapse_drain_retry' ? 1 : 0;
    const zero = Object.fromEntries(Object.keys(spent).map((counter) => [counter, 0]));
    expect(drive.state.query.turn).toEqual(name === 'next_turn' ? zero : { ...spent, drains });
  });
});

describe('guards over continues', () => {
  it('the reactive flag survives a stop hook: one compaction, whatever the hook does', () => {
    const drive = begun({ stopHooks: true }, { messages: history }).fails('overflow').summary();
    drive.answers('end_turn', text('done')).hooks({ errors: ['no'] });
    expect(drive.fails('overflow').end).toBe('prompt_too_long');
    expect(drive.started('compact')).toHaveLength(1);
  });

  it('one drain a turn, and none right after another', () => {
    const staged = [{ firstId: 'u1', lastId: 'r1', summary: 'old' }];
    const drive = begun({ reactiveCompact: false }, { messages: history, staged }).fails('overflow');
    drive.state = {
      ...drive.state,
      query: { ...drive.state.query, staged: [{ firstId: 'u2', lastId: 'r2', summary: 'new' }] },
    };
    expect(drive.fails('overflow').end).toBe('prompt_too_long');
  });

  it('a cut answer that is escalated is tombstoned and not kept', () => {
    const drive = begun().answers('max_tokens', text('cut'));
    expect(drive.shownOf('tombstone')).toHaveLength(1);
    expect(drive.shownOf('assistant')).toEqual([]);
  });

  it('the stop hooks of a query block eight times, whatever the model does between', () => {
    const drive = begun({ stopHooks: true });
    for (let count = 0; count < 8; count += 1) {
      drive
        .turn(tool(`t${count}`))
        .answers('end_turn', text('done'))
        .hooks({ errors: [`error ${count}`] });
    }
    expect(drive.phase).toBe('streaming');
    expect(drive.answers('end_turn', text('done')).hooks({ errors: ['again'] }).end).toBe('completed stop_hook_limit');
    expect(drive.terminal.detail).toContain('again');
  });

  it('what re-asks added enters the history with the next continue', () => {
    const drive = begun().answers('tool_use', text('hm'));
    expect(outline(drive.carried.messages)).toEqual(['user']);
    drive.turn(tool('t1'));
    expect(outline(drive.carried.messages)).toEqual(['user', 'continue_request', 'assistant', 'tool_results']);
  });

  it('a re-ask leaves `transition` as it was', () => {
    const drive = begun().turn(tool('t1')).fails('server');
    expect(drive.carried.transition).toBe('next_turn');
    expect(drive.answers('tool_use', text('hm')).carried.transition).toBe('next_turn');
  });
});
