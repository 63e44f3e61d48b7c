/** The whole engine: take the first row that allows the event, then every row that fires at once. */
import type { LoopConfig } from './config.ts';
import type { Effect, RunningEffect } from './effect.ts';
import { effectsBetween, spawnedBetween } from './effects-between.ts';
import type { LoopEvent } from './event.ts';
import type { LoopState } from './state.ts';
import { type Row, rowsFor } from './table.ts';

/** The state after an event, and what the outside has to do now, in order. */
export interface Step {
  readonly state: LoopState;
  readonly effects: readonly Effect[];
}

/** True when the row's guard lets it fire. The chart asks the same. */
export function allows(row: Row, state: LoopState, event: LoopEvent, config: LoopConfig): boolean {
  return row.arrow.when(state, event, config);
}

/** The state after the row fired. The chart does the same. */
export function follow(row: Row, state: LoopState, event: LoopEvent, config: LoopConfig): LoopState {
  const next = row.arrow.set(state, event, config);
  const { to } = row.arrow;
  return to === null || to === next.phase ? next : { ...next, phase: to };
}

/** The first row that answers `trigger`, or null. */
export function firstRow(state: LoopState, event: LoopEvent, config: LoopConfig, always: boolean): Row | null {
  for (const row of rowsFor(state.phase, always ? 'always' : event.type)) {
    if (allows(row, state, event, config)) return row;
  }
  return null;
}

/** More rows at once than any state can need: a loop without an event is a bug of the rows, and said so. */
const mostRowsAtOnce = 100;

/**
 * Takes one event. Pure: the same three values give the same result, and nothing that was passed in is changed.
 * An event that no row allows gives the same state object and no effects.
 *
 * @throws Error when rows fire without end, which the search over the rows shows never to happen.
 */
export function step(state: LoopState, event: LoopEvent, config: LoopConfig): Step {
  const cleared = clearOutbox(state);
  const spawned: RunningEffect[] = [];
  let next = cleared;
  let row = firstRow(cleared, event, config, false);
  if (row === null) return { state: cleared, effects: [] };
  for (let count = 0; row !== null; count += 1) {
    if (count >= mostRowsAtOnce) throw new Error(`Rows fire without end in phase ${next.phase}: ${row.name}.`);
    const moved = follow(row, next, event, config);
    const started = spawnedBetween(next, moved, config);
    if (started.length > 0) spawned.push(...started);
    next = moved;
    row = firstRow(next, event, config, true);
  }
  return { state: next, effects: effectsBetween(cleared, next, spawned, event, config) };
}

/** What the event before showed is not shown again. */
export function clearOutbox(state: LoopState): LoopState {
  return state.outbox.length === 0 ? state : { ...state, outbox: [] };
}
