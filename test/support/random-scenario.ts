/** Scenarios at random, drawn from numbers that fast-check shrinks. */
import fc from 'fast-check';
import { choicesFrom } from '../../src/testing/choose.ts';
import { randomScenario } from '../../src/testing/random-scenario.ts';
import type { Scenario } from '../../src/testing/scenario.ts';

/** Whole scenarios that never run out of answers. */
export const scenarios: fc.Arbitrary<Scenario> = fc
  .array(fc.nat(5_039), { maxLength: 400, size: 'max' })
  .map((numbers) => randomScenario(choicesFrom(numbers)));
