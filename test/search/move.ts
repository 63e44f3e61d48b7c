/** One thing that the outside does. */
import type { LoopEvent } from '../../src/core/event.ts';

export interface Move {
  readonly name: string;
  readonly events: readonly LoopEvent[];
}

/** A move of one event. */
export function one(name: string, event: LoopEvent): Move {
  return { name, events: [event] };
}
