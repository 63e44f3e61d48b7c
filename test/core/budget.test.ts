import { describe, expect, it } from 'vitest';
import { budgetGoesOn, budgetNudge, hasBudget } from '../../src/core/budget.ts';
import type { LoopConfig } from '../../src/core/config.ts';
import type { LoopState, QueryAccount } from '../../src/core/state.ts';
import { Drive } from '../support/drive.ts';

const { state: start, config: defaults } = new Drive({ tokenBudget: 10_000, limits: { budgetContinuations: 5 } });

function at(query: Partial<QueryAccount>): LoopState {
  return { ...start, query: { ...start.query, ...query } };
}

function goesOn(query: Partial<QueryAccount>, config: Partial<LoopConfig> = {}): boolean {
  return budgetGoesOn(at(query), { ...defaults, ...config });
}

describe('the token budget', () => {
  it('counts when one is set and the query is no sub-agent', () => {
    expect(hasBudget(defaults)).toBe(true);
    expect(hasBudget({ ...defaults, tokenBudget: null })).toBe(false);
    expect(hasBudget({ ...defaults, querySource: 'agent:x' })).toBe(false);
    expect(goesOn({})).toBe(true);
    expect(goesOn({}, { tokenBudget: null })).toBe(false);
    expect(goesOn({}, { querySource: 'agent:x' })).toBe(false);
  });

  it('is enough at nine tenths', () => {
    expect(goesOn({ budgetUsed: 8_999 })).toBe(true);
    expect(goesOn({ budgetUsed: 9_000 })).toBe(false);
  });

  it('causes so many continuations and no more', () => {
    expect(goesOn({ budgetContinuations: 4 }, { tokenBudget: 100_000 })).toBe(false);
    const marks = { budgetUsed: 5_000, budgetMarks: [1_000, 3_000] };
    expect(goesOn({ budgetContinuations: 4, ...marks })).toBe(true);
    expect(goesOn({ budgetContinuations: 5, ...marks })).toBe(false);
  });
});

describe('diminishing returns', () => {
  const three = { budgetContinuations: 3 };

  it('are two steps in a row under 500 tokens', () => {
    expect(goesOn({ ...three, budgetMarks: [3_000, 3_499], budgetUsed: 3_998 })).toBe(false);
    expect(goesOn({ ...three, budgetMarks: [3_000, 3_499], budgetUsed: 3_999 })).toBe(true);
    expect(goesOn({ ...three, budgetMarks: [3_000, 3_500], budgetUsed: 3_999 })).toBe(true);
  });

  it('are not looked for before the third continuation', () => {
    expect(goesOn({ budgetContinuations: 2, budgetMarks: [3_000, 3_001], budgetUsed: 3_002 })).toBe(true);
    expect(goesOn({ ...three, budgetMarks: [3_000, 3_001], budgetUsed: 3_002 })).toBe(false);
  });
});

describe('what the model is told', () => {
  it('says what is used, of how much, and what is left', () => {
    expect(budgetNudge(at({ budgetUsed: 1_299 }), defaults)).toBe(
      '12 % of the token budget is used (1299 of 10000 tokens), 8701 tokens are left. Go on working on the task; do not sum up.',
    );
    expect(budgetNudge(at({ budgetUsed: 12_000 }), defaults)).toMatch(/^120 % .*, 0 tokens are left\./);
  });
});
