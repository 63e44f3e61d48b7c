/** Layer 1: drops the oldest whole turns. Off by default. */
import type { LoopConfig } from '../config.ts';
import type { LoopState } from '../state.ts';

/** Passes the history through: this layer does nothing yet. */
export function snip(state: LoopState, _config: LoopConfig): LoopState {
  return state;
}
