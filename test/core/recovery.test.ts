/** What may still be tried, in figures: waits, fallbacks, a lowered max_tokens, and what is shown when nothing may. */
import { describe, expect, it } from 'vitest';
import type { LoopConfig } from '../../src/core/config.ts';
import { type Failure, failureOf } from '../../src/core/failure.ts';
import { chance } from '../../src/core/ids.ts';
import { noUsage } from '../../src/core/message.ts';
import {
  isVerdict,
  loweredMaxTokens,
  mayDrain,
  mayFallBack,
  mayRetry,
  retryDelay,
  shownFailure,
} from '../../src/core/recovery.ts';
import type { AttemptEnd, LoopState, QueryAccount, Verdict } from '../../src/core/state.ts';
import { begun, Drive } from '../support/drive.ts';
import { startOf } from '../support/random-run.ts';

const limits = { retries: 4, overloadsBeforeFallback: 3, outputRecoveries: 2, pauseTurns: 6 };
const { state: start, config } = new Drive({ models: ['one', 'two', 'three'], limits });
const streaming = begun({ limits }).state;

interface At {
  readonly verdict?: Verdict;
  readonly end?: AttemptEnd | null;
  readonly query?: Partial<QueryAccount>;
}

function at({ verdict, end = null, query }: At, state: LoopState = start): LoopState {
  const scratch = { ...state.scratch, verdict: verdict ?? null, end };
  return { ...state, scratch, query: { ...state.query, ...query } };
}

function failed(more: Partial<Failure> = {}): AttemptEnd {
  return {
    type: 'failed',
    failure: { ...failureOf('overloaded', 'Busy.'), ...more },
    unfinished: null,
    usage: noUsage,
  };
}

function answered(stopReason: string | null): AttemptEnd {
  return { type: 'answered', stopReason, usage: noUsage, output: null };
}

describe('a retry', () => {
  it('is for an incomplete answer, so many times', () => {
    const may = (retries: number, verdict?: Verdict): boolean =>
      mayRetry(at({ ...(verdict === undefined ? {} : { verdict }), query: { retries } }), config);
    expect([3, 4].map((retries) => may(retries, 'incomplete'))).toEqual([true, false]);
    expect([may(0, 'done'), may(0)]).toEqual([false, false]);
    expect(isVerdict(at({ verdict: 'done' }), 'tools', 'done')).toBe(true);
  });

  it('waits twice as long each time, up to the cap, less a share that chance takes', () => {
    const still = { ...config, delays: { ...config.delays, jitter: 0 } };
    const waits = [0, 1, 2, 5, 6, 7].map((retries) => retryDelay(at({ query: { retries } }), still));
    expect(waits).toEqual([500, 1_000, 2_000, 16_000, 32_000, 32_000]);
    const state = at({ query: { retries: 6, modelCalls: 9 } });
    const drawn = chance(state.query.seed, 9);
    expect(drawn).toBeGreaterThan(0.05);
    expect(retryDelay(state, config)).toBe(Math.round(32_000 - 8_000 * drawn));
  });

  it('waits what the server asked, up to a cap of its own', () => {
    const still = { ...config, delays: { ...config.delays, jitter: 0 } };
    const asked = (retryAfterMs: number | null): number => retryDelay(at({ end: failed({ retryAfterMs }) }), still);
    expect([0, 7, 60_000, 60_001, -1, null].map(asked)).toEqual([0, 7, 60_000, 60_000, 500, 500]);
  });
});

describe('a fallback', () => {
  const may = (overloadsInARow: number, modelIndex: number, verdict: Verdict = 'incomplete'): boolean =>
    mayFallBack(at({ verdict, query: { overloadsInARow, modelIndex } }), config);

  it('takes enough overloads in a row and another model', () => {
    expect([2, 3, 4].map((overloads) => may(overloads, 0))).toEqual([false, true, true]);
    expect([0, 1, 2].map((index) => may(3, index))).toEqual([true, true, false]);
    expect(may(2, 2)).toBe(false);
    expect(may(3, 0, 'done')).toBe(false);
  });
});

describe('a drain', () => {
  it('takes a staged summary, and is one a turn', () => {
    const staged = startOf({ ...config, collapse: true });
    const { turn } = staged.query;
    expect(mayDrain(staged)).toBe(true);
    expect(mayDrain({ ...staged, query: { ...staged.query, staged: [] } })).toBe(false);
    expect(mayDrain({ ...staged, query: { ...staged.query, turn: { ...turn, drains: 1 } } })).toBe(false);
    expect(mayDrain({ ...staged, carried: { ...staged.carried, transition: 'collapse_drain_retry' } })).toBe(false);
  });
});

describe('a lowered max_tokens', () => {
  type Tokens = Partial<Failure['tokens']>;
  /** The attempt asked for 8,000 of a window of 200,000; under 3,000 is not worth a request. */
  function lowered(tokens: Tokens, more: Partial<LoopConfig> = {}, state = streaming): number | null {
    const end = failed({ tokens: { input: null, window: null, maxOutput: null, ...tokens } });
    return loweredMaxTokens(at({ end }, state), { ...config, ...more });
  }

  it('is the room that the API named', () => {
    expect(streaming.scratch.attempt?.maxTokens).toBe(8_000);
    expect(lowered({ input: 195_000 })).toBe(5_000);
    expect(lowered({ input: 95_000, window: 100_000 })).toBe(5_000);
    expect(lowered({ maxOutput: 4_096 })).toBe(4_096);
    expect(lowered({ input: 195_000, maxOutput: 4_096 })).toBe(4_096);
    expect(lowered({ input: 196_000, maxOutput: 4_096 })).toBe(4_000);
  });

  it('is none that is not lower, or too low to be worth a request', () => {
    expect([192_000, 192_001].map((input) => lowered({ input }))).toEqual([null, 7_999]);
    expect([197_000, 197_001].map((input) => lowered({ input }))).toEqual([3_000, null]);
    expect(lowered({})).toBeNull();
    expect(lowered({ window: 5_000 })).toBeNull();
  });

  it('is tried once a turn, after a failure alone', () => {
    const { turn } = streaming.query;
    const again = at({ query: { turn: { ...turn, loweredMaxTokens: 1 } } }, streaming);
    expect(lowered({ input: 195_000 }, {}, again)).toBeNull();
    expect(loweredMaxTokens(at({}, streaming), config)).toBeNull();
    expect(loweredMaxTokens(at({ end: answered('end_turn') }, streaming), config)).toBeNull();
    expect(lowered({ input: 195_000 }, {}, start)).toBeNull();
  });
});

describe('what is shown', () => {
  const shown = (verdict: Verdict, end: AttemptEnd | null = null, state: LoopState = streaming): Failure =>
    shownFailure(at({ verdict, end }, state), { ...config, limits: { ...config.limits, ...limits } });

  it('is the failure where there was one', () => {
    const end = failed();
    expect(shown('overflow', end)).toBe(end.type === 'failed' ? end.failure : null);
  });

  it.each([
    ['overflow', 'overflow', 'The conversation does not fit the context window of the model.'],
    ['output_limit', 'too_large', 'The answer was cut at 8000 output tokens 3 times in one turn.'],
    ['malformed', 'incomplete', 'The model asked for tools in a form that cannot be run, again and again.'],
    ['pause_turn', 'incomplete', 'The model paused its turn more than 6 times.'],
    ['incomplete', 'incomplete', 'The answer ended without a stop reason.'],
  ] as const)('is a sentence of its own for %s', (verdict, kind, sentence) => {
    expect(shown(verdict)).toEqual(failureOf(kind, sentence));
    expect(shown(verdict, answered(null))).toEqual(failureOf(kind, sentence));
  });

  it('names a stop reason that is not known', () => {
    expect(shown('incomplete', answered('bored')).message).toBe(
      'The answer ended with the stop reason "bored", which this version does not know.',
    );
    expect(shown('output_limit', null, start).message).toMatch(/cut at 0 output tokens/);
  });
});
