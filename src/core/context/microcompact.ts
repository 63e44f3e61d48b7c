/** Layer 2: clears old results of named tools. */
import type { LoopConfig } from '../config.ts';
import type { LoopState } from '../state.ts';

/** Passes the history through: this layer does nothing yet. */
export function microcompact(state: LoopState, _config: LoopConfig): LoopState {
  return state;
}
