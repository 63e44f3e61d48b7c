import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCostReached, priceOf, spend } from '../../src/core/cost.ts';
import { noUsage } from '../../src/core/message.ts';
import type { Effect } from '../../src/core/effect.ts';
import type { LoopState } from '../../src/core/state.ts';
import { step } from '../../src/core/step.ts';
import { query } from '../../src/query.ts';
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

describe('the cost cap', () => {
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
