/** The real rows, folded as `step` folds them, with their names on the side. */
import type { LoopConfig } from '../../src/core/config.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import type { LoopState } from '../../src/core/state.ts';
import { clearOutbox, firstRow, follow } from '../../src/core/step.ts';
import type { Row } from '../../src/core/table.ts';

interface Traced {
  readonly state: LoopState;
  /** The rows that fired, in order; none when the event was not allowed. */
  readonly rows: readonly Row[];
}

/** What the search takes for the engine: the real rows, or a mutant of them. */
export type Engine = (state: LoopState, event: LoopEvent, config: LoopConfig) => Traced;

/** Rows at once after which the fold gives up, as `step` does. */
const mostRowsAtOnce = 100;

/** An engine that does `after` to the state behind every row: what it sets back is a guard that is gone. */
export function engineWith(after: (state: LoopState, row: Row) => LoopState): Engine {
  return (before, event, config) => {
    const rows: Row[] = [];
    let state = clearOutbox(before);
    for (let row = firstRow(state, event, config, false); row !== null; row = firstRow(state, event, config, true)) {
      if (rows.length >= mostRowsAtOnce) throw new Error(`Rows fire without end: ${row.name}`);
      rows.push(row);
      state = after(follow(row, state, event, config), row);
    }
    return { state, rows };
  };
}

/** The rows as they are. */
export const realEngine: Engine = engineWith((state) => state);
