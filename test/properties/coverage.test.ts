import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoopConfig } from '../../src/core/config.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import type { LoopState } from '../../src/core/state.ts';
import { clearOutbox, firstRow, follow } from '../../src/core/step.ts';
import { table } from '../../src/core/table.ts';
import { simulateRecorded } from '../../src/testing/simulate.ts';
import { choices, configs, play, startOf } from '../support/random-run.ts';
import { scenario, scenariosIn } from '../support/scenarios.ts';

const fired = new Set<string>();

/** Folds one event and takes down the rows that fire. */
function fold(state: LoopState, event: LoopEvent, config: LoopConfig): LoopState {
  let next = clearOutbox(state);
  for (let row = firstRow(next, event, config, false); row !== null; row = firstRow(next, event, config, true)) {
    fired.add(row.name);
    next = follow(row, next, event, config);
  }
  return next;
}

describe('rows', () => {
  it('fire, every one of them: a row that never can is a fault', async () => {
    for (const file of scenariosIn('transitions')) {
      const { journals } = await simulateRecorded(scenario(file));
      for (const { config, initial, events } of journals) {
        events.reduce((state, event) => fold(state, event, config), initial);
      }
    }
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        let state = startOf(config);
        play(config, numbers, (event) => (state = fold(state, event, config)));
      }),
      { numRuns: 2_000, seed: 1 },
    );
    expect(table.map(({ name }) => name).filter((name) => !fired.has(name))).toEqual([]);
  });

  it('stand in the table once, each arrow of each transition', () => {
    const names = table.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
