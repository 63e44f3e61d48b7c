/**
 * The teeth of the search. A guard is dropped by setting back, behind every row, what it reads: then it never says no. Each
 * mutant must spin, or run longer than the bound.
 */
import { describe, expect, it } from 'vitest';
import { bound } from '../../src/core/bound.ts';
import type { LoopConfig } from '../../src/core/config.ts';
import { failureOf } from '../../src/core/failure.ts';
import { noUsage } from '../../src/core/message.ts';
import type { Carried, LoopState, QueryAccount, TurnCounters } from '../../src/core/state.ts';
import type { Row } from '../../src/core/table.ts';
import { ids } from './canonical.ts';
import { blank } from './features.ts';
import { type Cost, longest, modelCalls, order, Spiral, summaryCalls } from './longest.ts';
import { rebuild } from './rebuild.ts';
import { explore } from './search.ts';
import { alone, configFor, narrow, type Setting } from './settings.ts';
import { type Engine, engineWith, realEngine } from './trace.ts';

type Forget = (state: LoopState, row: Row) => LoopState;

const carried =
  (part: Partial<Carried>): Forget =>
  (state) => ({ ...state, carried: { ...state.carried, ...part } });
const query =
  (part: Partial<QueryAccount>): Forget =>
  (state) => ({ ...state, query: { ...state.query, ...part } });
const turn =
  (part: Partial<TurnCounters>): Forget =>
  (state) => ({
    ...state,
    query: { ...state.query, turn: { ...state.query.turn, ...part } },
  });
const tracking =
  (part: Partial<Carried['autoCompactTracking']>): Forget =>
  (state) => ({
    ...state,
    carried: { ...state.carried, autoCompactTracking: { ...state.carried.autoCompactTracking, ...part } },
  });

interface Mutant {
  readonly guard: string;
  readonly forget: Forget;
  readonly setting: Setting;
  /** `spiral`: a cycle without a new turn. `calls` and `summaries`: a run that is longer than the bound. */
  readonly effect: 'spiral' | 'calls' | 'summaries';
}

const compacting: Setting = { ...alone, autoCompact: true };
const overloaded: Setting = { ...alone, models: ['one', 'two'], limits: { retries: 1 } };

const mutants: readonly Mutant[] = [
  {
    guard: 'the one reactive compaction of a turn',
    forget: carried({ hasAttemptedReactiveCompact: false }),
    setting: { ...alone, reactiveCompact: true, limits: { refillTurns: 0 } },
    effect: 'spiral',
  },
  {
    guard: 'the reactive flag is kept when a stop hook blocks',
    forget: (state, row) =>
      row.transition === 'stop_hook_blocking' ? carried({ hasAttemptedReactiveCompact: false })(state, row) : state,
    setting: { ...alone, reactiveCompact: true, stopHooks: true, limits: { refillTurns: 0, stopHookBlocks: 1 } },
    effect: 'calls',
  },
  {
    guard: 'the reactive flag is kept when a drain is tried again',
    forget: (state, row) =>
      row.transition === 'collapse_drain_retry' ? carried({ hasAttemptedReactiveCompact: false })(state, row) : state,
    setting: { ...alone, reactiveCompact: true, collapse: true, smallModel: 'small', limits: { refillTurns: 0 } },
    effect: 'calls',
  },
  {
    guard: 'one drain a turn',
    forget: turn({ drains: 0 }),
    setting: { ...alone, collapse: true, smallModel: 'small', limits: { outputRecoveries: 1 } },
    effect: 'calls',
  },
  {
    guard: 'one escalation a turn',
    forget: carried({ maxOutputTokensOverride: null }),
    setting: { ...alone, maxOutputTokens: null },
    effect: 'spiral',
  },
  {
    guard: 'the output recoveries of a turn',
    forget: carried({ maxOutputTokensRecoveryCount: 0 }),
    setting: { ...alone, limits: { outputRecoveries: 1 } },
    effect: 'spiral',
  },
  {
    guard: 'the malformed answers of a turn',
    forget: turn({ malformedAnswers: 0 }),
    setting: { ...alone, limits: { malformedAnswers: 1 } },
    effect: 'spiral',
  },
  {
    guard: 'malformed answers are not set back by a pause, nor pauses by a malformed answer',
    forget: (state, row) =>
      row.transition === 'pause_resent'
        ? turn({ malformedAnswers: 0 })(state, row)
        : row.transition === 'malformed_reasked'
          ? turn({ pauseTurns: 0 })(state, row)
          : state,
    setting: { ...alone, limits: { malformedAnswers: 1, pauseTurns: 1 } },
    effect: 'spiral',
  },
  {
    guard: 'the pauses of a turn',
    forget: turn({ pauseTurns: 0 }),
    setting: { ...alone, limits: { pauseTurns: 1 } },
    effect: 'spiral',
  },
  {
    guard: 'one more question after thinking and nothing else',
    forget: turn({ thinkingOnly: 0 }),
    setting: { ...alone, limits: { thinkingOnly: 1 } },
    effect: 'spiral',
  },
  {
    guard: 'max_tokens is lowered once a turn',
    forget: turn({ loweredMaxTokens: 0 }),
    setting: alone,
    effect: 'spiral',
  },
  {
    guard: 'thinking is stripped once a turn',
    forget: turn({ thinkingStripped: 0 }),
    // What was stripped is gone: only thinking that came since can be refused again.
    setting: { ...alone, thinking: 'adaptive', limits: { pauseTurns: 1 } },
    effect: 'calls',
  },
  {
    guard: 'media are replaced once a turn',
    forget: turn({ mediaReplaced: 0 }),
    setting: alone,
    effect: 'spiral',
  },
  {
    guard: 'the retries of a request',
    forget: query({ retries: 0 }),
    setting: { ...alone, limits: { retries: 1 } },
    effect: 'spiral',
  },
  {
    guard: 'the retries of a request are not set back by a one-shot resend',
    forget: (state, row) => (row.transition === 'max_tokens_lowered' ? query({ retries: 0 })(state, row) : state),
    setting: { ...alone, limits: { retries: 1 } },
    effect: 'calls',
  },
  { guard: 'the list of fallbacks ends', forget: query({ modelIndex: 0 }), setting: overloaded, effect: 'spiral' },
  {
    guard: 'the stop-hook blocks of a query',
    forget: query({ stopHookBlocks: 0 }),
    setting: { ...alone, stopHooks: true, limits: { stopHookBlocks: 1 } },
    effect: 'spiral',
  },
  {
    guard: 'the stop-hook blocks are not set back by a new turn',
    forget: (state, row) => (row.transition === 'next_turn' ? query({ stopHookBlocks: 0 })(state, row) : state),
    setting: { ...alone, stopHooks: true, limits: { stopHookBlocks: 1 } },
    effect: 'calls',
  },
  {
    guard: 'the budget continuations of a query',
    forget: query({ budgetContinuations: 0 }),
    setting: { ...alone, tokenBudget: 100_000, limits: { budgetContinuations: 1 } },
    effect: 'spiral',
  },
  {
    guard: 'the breaker',
    forget: (state, row) => query({ breakerOpen: false })(tracking({ failures: 0 })(state, row), row),
    setting: { ...compacting, limits: { outputRecoveries: 2 } },
    effect: 'summaries',
  },
  {
    guard: 'an open breaker stays open',
    forget: query({ breakerOpen: false }),
    setting: { ...compacting, limits: { outputRecoveries: 3, compactionFailures: 2 } },
    effect: 'summaries',
  },
  {
    guard: 'the refill rule',
    forget: tracking({ refills: 0, compacted: false }),
    setting: { ...compacting, limits: { outputRecoveries: 2 } },
    effect: 'summaries',
  },
  {
    guard: 'one proactive compaction a pass',
    forget: (state) => ({ ...state, scratch: { ...state.scratch, compactionTried: false } }),
    setting: { ...compacting, limits: { refills: 9, compactionFailures: 9 } },
    effect: 'summaries',
  },
  {
    guard: 'the shrinks of one compaction',
    forget: (state) => {
      const { compaction } = state.scratch;
      return compaction === null
        ? state
        : { ...state, scratch: { ...state.scratch, compaction: { ...compaction, shrinks: 0 } } };
    },
    setting: { ...compacting, limits: { compactionShrinks: 1 } },
    effect: 'spiral',
  },
];

/** What the search says of an engine. */
function verdict(config: LoopConfig, engine: Engine): { readonly spins: boolean; readonly over: readonly Cost[] } {
  try {
    const graph = explore({ config, environment: narrow(config), engine });
    const sorted = order(graph);
    const worst = bound({ ...config, maxTurns: 2 });
    const isOver = (cost: Cost, most: number): boolean => longest(graph, sorted, cost, 2).cost > most;
    return {
      spins: false,
      over: [
        ...(isOver(modelCalls, worst.modelCalls) ? [modelCalls] : []),
        ...(isOver(summaryCalls, worst.summaryCalls) ? [summaryCalls] : []),
      ],
    };
  } catch (error) {
    if (error instanceof Spiral) return { spins: true, over: [] };
    throw error;
  }
}

describe('a loop without', () => {
  it.each(mutants)('$guard is caught: $effect', ({ forget, setting, effect }) => {
    const config = configFor(setting);
    const { spins, over } = verdict(config, engineWith(forget));
    expect(spins).toBe(effect === 'spiral');
    if (effect === 'calls') expect(over).toContain(modelCalls);
    if (effect === 'summaries') expect(over).toContain(summaryCalls);
  });

  it.each(mutants)('nothing is let pass where it was caught without $guard', ({ setting }) => {
    expect(
      verdict(
        configFor(setting),
        engineWith((state) => state),
      ),
    ).toEqual({ spins: false, over: [] });
  });
});

describe('stop hooks after an error', () => {
  const config = configFor({ ...alone, stopHooks: true, limits: { stopHookBlocks: 1 } });
  const asking = engineWith((state) =>
    state.scratch.verdict === 'api_error' ? { ...state, scratch: { ...state.scratch, verdict: 'done' } } : state,
  );
  const failed = (engine: Engine): LoopState => {
    const state = rebuild({ ...blank, phase: 'streaming' }, config);
    const failure = failureOf('invalid_request', 'no', 400);
    const event = { type: 'model.failed', effectId: ids.attempt, failure, unfinished: null, usage: noUsage } as const;
    return engine(state, event, config).state;
  };

  it('make no run longer, and break the law that only answers are judged by hooks', () => {
    expect(verdict(config, asking)).toEqual({ spins: false, over: [] });
    expect([failed(asking).phase, failed(asking).scratch.end?.type]).toEqual(['runningStopHooks', 'failed']);
    expect(failed(realEngine).phase).toBe('ended');
  });
});
