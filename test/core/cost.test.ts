import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costDetail, isCostReached, paidSmall, priceOf, spend, spendByTool } from '../../src/core/cost.ts';
import { noUsage } from '../../src/core/message.ts';
import type { Effect } from '../../src/core/effect.ts';
import type { LoopState, QueryAccount, ToolOutcome } from '../../src/core/state.ts';
import { step } from '../../src/core/step.ts';
import { syntheticOutcome } from '../../src/core/tools/schedule.ts';
import { query } from '../../src/query.ts';
import { Drive } from '../support/drive.ts';
import { choices, configs, play, startOf } from '../support/random-run.ts';

const requests: ReadonlySet<Effect['type']> = new Set(['streamModel', 'compact', 'summarizeToolUse', 'summarizeSpan']);

const price = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, longInput: { above: 1_000_000, times: 2 } };
const million = 1_000_000;

describe('the cost', () => {
  it('counts input, output, and both sides of the cache', () => {
    const usage = { input: million, output: million, cacheRead: 0, cacheCreation: 0 };
    expect(priceOf(price, usage)).toBeCloseTo(6);
    expect(priceOf(price, { ...noUsage, cacheRead: million })).toBeCloseTo(0.1);
    expect(priceOf(price, { ...noUsage, cacheCreation: million })).toBeCloseTo(1.25);
    expect(priceOf(price, { ...noUsage, cacheRead: million + 1 })).toBeCloseTo(0.2);
    expect(priceOf(price, { ...noUsage, input: -5 })).toBe(0);
  });

  it('is not known any more once a model without a price was paid', () => {
    fc.assert(
      fc.property(configs, (config) => {
        const { query: account } = startOf(config);
        const paid = spend(spend(account, { ...noUsage, output: 10 }, 'one', config), noUsage, 'mine', config);
        expect(paid.cost).toBeNull();
        expect(spend(paid, noUsage, 'one', config).cost).toBeNull();
      }),
      { numRuns: 5 },
    );
  });
});

const { state: start, config: plain } = new Drive({
  smallModel: 'small',
  prices: { one: { ...price, input: 2, longInput: null }, small: { ...price, input: 3 } },
});
const usage = { ...noUsage, input: million };

describe('what was spent', () => {
  it('is dearer for an input above the limit, whatever it consists of', () => {
    const half = million / 2;
    const twice = { input: 1, output: 0, cacheRead: half, cacheCreation: half };
    expect(priceOf(price, twice)).toBeCloseTo(2 * (0.05 + 0.625), 4);
    expect(priceOf(price, { ...twice, input: 0 })).toBeCloseTo(0.675);
    expect(priceOf({ ...price, input: 2, longInput: null }, { ...usage, input: 2 * million })).toBe(4);
  });

  it('adds up over requests', () => {
    const paid = spend(spend({ ...start.query, cost: 0 }, usage, 'one', plain), usage, 'one', plain);
    expect(paid).toMatchObject({ cost: 4, usage: { input: 2 * million } });
  });

  it('holds what the small model wrote, at its price', () => {
    expect(paidSmall(start.query, {}, plain)).toBe(start.query);
    expect(paidSmall({ ...start.query, cost: 1 }, { usage }, plain).cost).toBe(4);
    const nameless = { ...plain, smallModel: null, prices: { '': price } };
    expect(paidSmall({ ...start.query, cost: 1 }, { usage }, nameless).cost).toBe(2);
  });

  it('holds what tools asked of models: at their own figure, else by the prices', () => {
    const account: QueryAccount = { ...start.query, cost: 1 };
    const spent = [
      { model: 'one', usage },
      { model: 'small', usage },
    ];
    const by = (facts: Partial<ToolOutcome>): QueryAccount =>
      spendByTool(account, { ...syntheticOutcome('ok'), ...facts }, plain);
    expect(by({})).toBe(account);
    expect(by({ spent })).toEqual({ ...account, cost: 6, spentByTools: spent });
    expect(by({ spent, cost: 0.5 }).cost).toBe(1.5);
    expect(by({ spent, cost: null }).cost).toBeNull();
    expect(by({ spent: [...spent, { model: 'mine', usage }] }).cost).toBeNull();
  });
});

describe('the cost cap', () => {
  const at = (cost: number | null): LoopState => ({ ...start, query: { ...start.query, cost } });

  it('is reached at its sum, and where the sum is not known', () => {
    const capped = { ...plain, maxCost: 2 };
    expect([1.99, 2, 2.01, null].map((cost) => isCostReached(at(cost), capped))).toEqual([false, true, true, true]);
    expect([99, null].map((cost) => isCostReached(at(cost), plain))).toEqual([false, false]);
  });

  it('says what was spent', () => {
    const capped = { ...plain, maxCost: 2 };
    expect(costDetail(at(2.00006), capped)).toBe('The cost cap of $2 is reached: $2.0001 was spent.');
    expect(costDetail(at(null), capped)).toBe('The cost cap of $2 is reached: an amount that is not known was spent.');
  });

  it('lets no request start once it is reached, whatever the outside does', () => {
    let reached = 0;
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        const capped = { ...config, maxCost: config.maxCost ?? 0.01 };
        let state = startOf(capped);
        play(capped, numbers, (event) => {
          const result = step(state, event, capped);
          state = result.state;
          if (isCostReached(state, capped)) expect(result.effects.filter(isRequest)).toEqual([]);
          return state;
        });
        if (state.terminal?.outcome === 'cost_limit') reached += keepsAnswers(state);
      }),
      { numRuns: 600 },
    );
    expect(reached).toBeGreaterThan(20);
  });

  it.each([{ model: 'llama' }, { fallbackModels: ['llama'] }, { smallModel: 'llama' }])(
    'cannot be kept without a price: %j',
    (options) => {
      expect(() => query({ prompt: 'go', maxCost: 1, ...options })).toThrow(
        /^The price of the model llama is not known, so the cost cap \(maxCost\) cannot be kept: name its price in the option prices, or leave the cap out\.$/,
      );
      expect(() =>
        query({ prompt: 'go', maxCost: 1, prices: { llama: { input: 0, output: 0 } }, ...options }),
      ).not.toThrow();
    },
  );
});

function isRequest({ type }: Effect): boolean {
  return requests.has(type);
}

/** The end says what was spent. */
function keepsAnswers({ terminal }: LoopState): number {
  expect(terminal?.detail).toMatch(/^The cost cap of \$[\d.]+ is reached: \$[\d.]+ was spent\.$/);
  return 1;
}
