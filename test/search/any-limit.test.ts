/** Limits of any size: the proof, what it stands on, and that it would see a guard that is gone. */
import { describe, expect, it, vi } from 'vitest';
import { bound } from '../../src/core/bound.ts';
import { exploreAnyLimit } from './any-limit.ts';
import { longestAtLimits, withDefaults } from './at-limits.ts';
import { type CounterName, folded } from './counters.ts';
import { keyOf } from './features.ts';
import { longest, modelCalls, order, Spiral, summaryCalls } from './longest.ts';
import { rank } from './ranking.ts';
import { explore, featuresFrom } from './search.ts';
import { alone, anyLimit, configFor, narrow, type Setting } from './settings.ts';
import { type Engine, engineWith } from './trace.ts';

// Seconds alone; a busy machine may need longer.
vi.setConfig({ testTimeout: 120_000 });

function graphOf(setting: Setting, counters: readonly CounterName[], engine?: Engine) {
  const config = configFor(setting);
  const options = { config, environment: narrow(config), counters };
  return exploreAnyLimit(engine === undefined ? options : { ...options, engine });
}

describe('limits of any size', () => {
  const named = anyLimit.map((entry) => ({ ...entry, name: JSON.stringify(entry) }));

  it.each(named)(
    'end every run, and the longest at the default limits is the bound: $name',
    ({ setting, counters }) => {
      const graph = graphOf(setting, counters);
      expect(new Set(rank(graph).flat())).toEqual(new Set(counters));
      const config = withDefaults(configFor(setting), counters);
      for (const turns of [1, 2, 3]) {
        const worst = bound({ ...config, maxTurns: turns });
        expect(longestAtLimits(graph, config.limits, modelCalls, turns).cost).toBe(worst.modelCalls);
        expect(longestAtLimits(graph, config.limits, summaryCalls, turns).cost).toBeLessThanOrEqual(worst.summaryCalls);
      }
    },
  );

  it('give the longest runs of a search with the values themselves', () => {
    const counters = ['retries', 'malformedAnswers', 'outputRecoveries'] as const;
    const graph = graphOf(alone, counters);
    for (const [retries, malformedAnswers, outputRecoveries] of [
      [1, 1, 1],
      [2, 1, 3],
      [1, 4, 2],
    ] as const) {
      const config = configFor({ ...alone, limits: { retries, malformedAnswers, outputRecoveries } });
      const valued = explore({ config, environment: narrow(config) });
      const sorted = order(valued);
      for (const turns of [1, 2]) {
        const { cost } = longest(valued, sorted, modelCalls, turns);
        expect(longestAtLimits(graph, config.limits, modelCalls, turns).cost).toBe(cost);
      }
    }
  });

  it('forget nothing: each state of a search with values has its fold', () => {
    const cases: readonly { readonly setting: Setting; readonly counters: readonly CounterName[] }[] = [
      { setting: { ...alone, stopHooks: true }, counters: ['retries', 'pauseTurns', 'stopHookBlocks', 'thinkingOnly'] },
      { setting: {}, counters: ['compactionFailures', 'compactionShrinks', 'refills', 'outputRecoveries'] },
    ];
    for (const { setting, counters } of cases) {
      const keys = new Set(graphOf(setting, counters).keys);
      for (const value of [1, 2]) {
        const limits = { ...setting.limits, ...Object.fromEntries(counters.map((name) => [name, value])) };
        const config = configFor({ ...setting, limits });
        const folds = featuresFrom({ config, environment: narrow(config) }).map((features) =>
          keyOf(folded(features, counters, () => value)),
        );
        expect(folds.filter((key) => !keys.has(key))).toEqual([]);
      }
    }
  });

  it.each<{
    readonly guard: string;
    readonly counters: readonly CounterName[];
    readonly setting: Setting;
    readonly engine: Engine;
  }>([
    {
      guard: 'the pauses of a turn',
      counters: ['pauseTurns', 'retries'],
      setting: alone,
      engine: engineWith((state) => ({
        ...state,
        query: { ...state.query, turn: { ...state.query.turn, pauseTurns: 0 } },
      })),
    },
    {
      guard: 'stop-hook blocks and malformed answers do not set each other back',
      counters: ['stopHookBlocks', 'malformedAnswers'],
      setting: { ...alone, stopHooks: true },
      engine: engineWith((state, row) =>
        row.transition === 'malformed_reasked'
          ? { ...state, query: { ...state.query, stopHookBlocks: 0 } }
          : row.transition === 'stop_hook_blocking'
            ? { ...state, query: { ...state.query, turn: { ...state.query.turn, malformedAnswers: 0 } } }
            : state,
      ),
    },
    {
      guard: 'retries are set back by an answer alone',
      counters: ['retries'],
      setting: alone,
      engine: engineWith((state) => ({ ...state, query: { ...state.query, retries: 0 } })),
    },
  ])('find a spiral without a guard: $guard', ({ setting, counters, engine }) => {
    expect(() => rank(graphOf(setting, counters, engine))).toThrow(Spiral);
  });
});
