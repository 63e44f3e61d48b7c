import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoopConfig } from '../../src/core/config.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import type { Carried, ContinueName, LoopState } from '../../src/core/state.ts';
import { clearOutbox, firstRow, follow } from '../../src/core/step.ts';
import { simulateRecorded } from '../../src/testing/simulate.ts';
import { choices, configs, play, startOf } from '../support/random-run.ts';
import { scenario, scenariosIn } from '../support/scenarios.ts';

type Check = (before: LoopState, after: LoopState) => void;
type Field = Exclude<keyof Carried, 'messages' | 'transition'>;

/** The field stays the same object. */
const keep =
  (field: Field): Check =>
  (before, after) =>
    expect(after.carried[field]).toBe(before.carried[field]);

const is =
  (field: Field, value: unknown): Check =>
  (_before, after) =>
    expect(after.carried[field]).toEqual(value);

const plusOne =
  (field: 'maxOutputTokensRecoveryCount' | 'turnCount'): Check =>
  (before, after) =>
    expect(after.carried[field]).toBe(before.carried[field] + 1);

const fields: readonly Field[] = [
  'toolUseContext',
  'autoCompactTracking',
  'maxOutputTokensRecoveryCount',
  'hasAttemptedReactiveCompact',
  'maxOutputTokensOverride',
  'pendingToolUseSummary',
  'stopHookActive',
  'turnCount',
];

/** All fields kept, but for those that are named. */
function keptBut(more: Partial<Record<Field, Check>>): readonly Check[] {
  return fields.map((field) => more[field] ?? keep(field));
}

/** What each continue does to the carried fields. Only `next_turn` sets a guard or a counter back. */
const expected: Readonly<Record<ContinueName, readonly Check[]>> = {
  next_turn: keptBut({
    toolUseContext: () => {},
    autoCompactTracking: (before, after) =>
      expect(after.carried.autoCompactTracking.turnsSince).toBe(before.carried.autoCompactTracking.turnsSince + 1),
    maxOutputTokensRecoveryCount: is('maxOutputTokensRecoveryCount', 0),
    hasAttemptedReactiveCompact: is('hasAttemptedReactiveCompact', false),
    maxOutputTokensOverride: is('maxOutputTokensOverride', null),
    pendingToolUseSummary: () => {},
    turnCount: plusOne('turnCount'),
  }),
  collapse_drain_retry: keptBut({}),
  reactive_compact_retry: keptBut({
    toolUseContext: () => {},
    autoCompactTracking: (_before, after) =>
      expect(after.carried.autoCompactTracking).toMatchObject({ compacted: true, turnsSince: 0, failures: 0 }),
    hasAttemptedReactiveCompact: is('hasAttemptedReactiveCompact', true),
  }),
  max_output_tokens_escalate: keptBut({
    maxOutputTokensOverride: (before, after) => {
      expect(before.carried.maxOutputTokensOverride).toBeNull();
      expect(after.carried.maxOutputTokensOverride).toBeGreaterThan(0);
    },
  }),
  max_output_tokens_recovery: keptBut({ maxOutputTokensRecoveryCount: plusOne('maxOutputTokensRecoveryCount') }),
  stop_hook_blocking: keptBut({ stopHookActive: is('stopHookActive', true) }),
  token_budget_continuation: keptBut({}),
};

const seen = new Set<string>();

/** Folds an event and checks every continue on the way. */
function fold(state: LoopState, event: LoopEvent, config: LoopConfig): LoopState {
  let next = clearOutbox(state);
  for (let row = firstRow(next, event, config, false); row !== null; row = firstRow(next, event, config, true)) {
    const before = next;
    next = follow(row, before, event, config);
    if (row.kind !== 'continue') continue;
    const name = row.transition as ContinueName;
    seen.add(name);
    expect(next.carried.transition).toBe(name);
    for (const check of expected[name]) check(before, next);
  }
  return next;
}

describe('continues', () => {
  it('do to the carried fields what their table says', async () => {
    for (const file of scenariosIn('transitions')) {
      for (const { config, initial, events } of (await simulateRecorded(scenario(file))).journals) {
        events.reduce((state, event) => fold(state, event, config), initial);
      }
    }
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        let state = startOf(config);
        play(config, numbers, (event) => (state = fold(state, event, config)));
      }),
      { numRuns: 300 },
    );
    expect([...seen].toSorted()).toEqual(Object.keys(expected).toSorted());
  });
});
