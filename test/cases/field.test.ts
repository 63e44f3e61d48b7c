import { describe, expect, it } from 'vitest';
import { simulate } from '../../src/testing/simulate.ts';
import { eachCase } from '../support/each-case.ts';
import { scenario } from '../support/scenarios.ts';
import { ending, type Right } from '../support/simulated.ts';
import { answers } from './right/answers.ts';
import { context } from './right/context.ts';
import { tools } from './right/tools.ts';
import { transport } from './right/transport.ts';

/** What is right in each case; the numbers are those of the collection of public reports that the cases come from. */
const right: Right = { ...context, ...tools, ...answers, ...transport };

describe('cases from the field', () => {
  eachCase('field', right);
});

describe('a rich run (B59)', () => {
  const rich = scenario('field/B59.json');
  const endless = { ...rich, model: [...rich.model.slice(0, -1), { ...rich.model.at(-1)!, repeat: true }] };

  it.each(['interrupt', 'submit'] as const)('ends legally when it meets %s before any event', async (kind) => {
    const { events } = await simulate(rich);
    for (const { index } of events) {
      const act = { abort: kind, at: index, ...(kind === 'submit' ? { text: 'now this' } : {}) };
      const result = await simulate({ ...endless, user: [act], then: [{ prompt: 'next' }] });
      expect({ index, violations: result.violations }).toEqual({ index, violations: [] });
      expect(result.terminals[0]?.reason).toMatch(/^aborted_/);
      expect(result.terminals[0]?.failure).toBeNull();
    }
  });

  it('goes on when the process dies before any event', async () => {
    const { events } = await simulate(rich);
    for (const { index } of events) {
      const result = await simulate({ ...endless, then: [{ resume: { cut: index } }] });
      expect({ index, violations: result.violations }).toEqual({ index, violations: [] });
      expect(ending(result)).toBe('completed done');
    }
  });
});
