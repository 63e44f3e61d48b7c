/** A file that reaches the bound: what `escapement bound` prints is no guess from above. */
import { expect, it } from 'vitest';
import { bound } from '../../src/core/bound.ts';
import { toLoopConfig } from '../../src/options.ts';
import { simulate } from '../../src/testing/simulate.ts';
import { scenario } from '../support/scenarios.ts';
import { ending } from '../support/simulated.ts';

it('asks the model exactly as often as the bound of the defaults says for one turn', async () => {
  const result = await simulate(scenario('worst/one-turn.json'));
  const worst = bound(toLoopConfig({}, { modelLimits: {}, stopHooks: true, microcompactor: null }));
  expect(result.violations).toEqual([]);
  expect(ending(result)).toBe('completed stop_hook_limit');
  expect(result.counts.modelCalls).toBe(worst.modelCalls);
});
