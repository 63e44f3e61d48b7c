/** The bound in figures worked out by hand; that no run is longer and some run is as long, the search shows. */
import { describe, expect, it } from 'vitest';
import { type Bound, bound } from '../../src/core/bound.ts';
import { defaultConfig, type LoopConfig, type RecoveryLimits } from '../../src/core/config.ts';

/** Limits that no two mechanisms share, so that one taken for another shows. */
const limits: RecoveryLimits = {
  retries: 2,
  overloadsBeforeFallback: 3,
  outputRecoveries: 5,
  malformedAnswers: 7,
  pauseTurns: 11,
  thinkingOnly: 13,
  outputMismatches: 17,
  stopHookBlocks: 19,
  budgetContinuations: 23,
  compactionFailures: 3,
  compactionShrinks: 1,
  refills: 2,
  refillTurns: 3,
  spanFailures: 1,
  repeatsBeforeAdvice: 0,
};

type Change = Partial<Omit<LoopConfig, 'limits'>> & { readonly limits?: Partial<RecoveryLimits> };

const all: LoopConfig = {
  ...defaultConfig,
  models: ['one', 'two', 'three'],
  smallModel: 'small',
  collapse: true,
  maxTurns: 10,
  stopHooks: true,
  tokenBudget: 1_000,
  outputSchema: {},
  limits,
};

function of({ limits: changed, ...change }: Change = {}): Bound {
  return bound({ ...all, ...change, limits: { ...limits, ...changed } });
}

function reactive(change: Change): number {
  return of(change).shares.reactiveCompactions;
}

describe('the bound', () => {
  it('is the sum of its shares', () => {
    const iterations = 10 + 10 + 6 + 10 + 50 + 19 + 23;
    const answers = iterations + 70 + 110 + 130 + 17 + 2;
    expect(of()).toEqual({
      modelCalls: answers + 2 * answers + 20,
      summaryCalls: (4 * 3 * 3 + 1) * 2,
      toolFreeIterations: 1 + 1 + 1 + 1 + 5 + 19 + 23,
      turns: 10,
      shares: {
        turns: 10,
        drains: 10,
        reactiveCompactions: 6,
        escalations: 10,
        outputRecoveries: 50,
        stopHookBlocks: 19,
        budgetContinuations: 23,
        malformedAnswers: 70,
        pauseTurns: 110,
        thinkingOnly: 130,
        outputMismatches: 17,
        fallbacks: 2,
        retries: 2 * answers,
        oneShotResends: 20,
      },
    });
  });

  it('holds for each turn when there is no limit', () => {
    expect(of({ maxTurns: null })).toEqual(of({ maxTurns: 1 }));
    expect(of({ maxTurns: 0 }).turns).toBe(0);
  });

  it('leaves out what is switched off', () => {
    expect(of({ outputSchema: null }).shares.outputMismatches).toBe(0);
    expect(of({ stopHooks: false }).shares.stopHookBlocks).toBe(0);
    expect(of({ tokenBudget: null }).shares.budgetContinuations).toBe(0);
    expect(of({ querySource: 'agent:x' }).shares.budgetContinuations).toBe(0);
    expect(of({ maxOutputTokens: 500 }).shares.escalations).toBe(0);
    expect(of({ thinking: 'adaptive' }).shares.oneShotResends).toBe(30);
    expect(of({ querySource: 'compact' }).shares.stopHookBlocks).toBe(0);
  });

  it('reaches fallbacks only when a row of overloads fits the retries', () => {
    expect(of({ limits: { retries: 1 } }).shares.fallbacks).toBe(0);
    expect(of({ limits: { retries: 3 } }).shares.fallbacks).toBe(2);
    expect(of({ models: ['one'] }).shares.fallbacks).toBe(0);
  });
});

describe('drains', () => {
  it('are one a turn while the small model summarises spans, else one in all', () => {
    expect(of().shares.drains).toBe(10);
    const without = [
      { collapse: false },
      { smallModel: null },
      { querySource: 'compact' },
      { limits: { spanFailures: 0 } },
    ];
    expect(without.map((change) => of(change).shares.drains)).toEqual([1, 1, 1, 1]);
    expect(of({ collapse: false, maxTurns: 0 }).shares.drains).toBe(0);
  });
});

describe('reactive compactions', () => {
  it('are none when switched off or shrinking', () => {
    expect(reactive({ reactiveCompact: false })).toBe(0);
    expect(reactive({ querySource: 'session_memory' })).toBe(0);
  });

  it('are one a turn without the rule on refills, and a row in each period with it', () => {
    expect(reactive({ limits: { refillTurns: 0 } })).toBe(10);
    expect(reactive({ limits: { refillTurns: 1 } })).toBe(3 * 3 + 1);
    const by = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((maxTurns) => reactive({ maxTurns }));
    expect(by).toEqual([1, 2, 3, 3, 3, 4, 5, 6, 6]);
  });
});

describe('summaries', () => {
  it('are the reactive ones alone without auto-compact or when shrinking', () => {
    expect(of({ autoCompact: false }).summaryCalls).toBe(6 * 2);
    expect(of({ autoCompact: false, limits: { compactionShrinks: 3 } }).summaryCalls).toBe(6 * 4);
    expect(of({ querySource: 'compact' }).summaryCalls).toBe(0);
  });

  it('are as many as breaker and refills allow', () => {
    expect(of({ reactiveCompact: false }).summaryCalls).toBe(4 * 3 * 3 * 2);
    expect(of({ limits: { compactionFailures: 0 } }).summaryCalls).toBe((4 * 3 + 1) * 2);
    expect(of({ limits: { refillTurns: 1 } }).summaryCalls).toBe((10 * 3 * 3 + 1) * 2);
  });

  it('are no more than the passes: one for each iteration', () => {
    const lax = { limits: { refillTurns: 0 } };
    const iterations = 10 + 10 + 10 + 10 + 50 + 19 + 23;
    expect(of(lax).summaryCalls).toBe(iterations * 2);
    expect(of({ ...lax, maxTurns: 0 }).summaryCalls).toBe((19 + 23) * 2);
    // Nine drains less, and the pass before the one that is left compacts nothing.
    expect(of({ ...lax, smallModel: null }).summaryCalls).toBe((iterations - 9 - 1) * 2);
    expect(of({ ...lax, collapse: false }).summaryCalls).toBe((iterations - 9) * 2);
  });
});
