/** Layer 0: keeps the results of one message within a total. Per-tool limits are kept by the pipeline when a tool ends. */
import type { LoopConfig } from '../config.ts';
import type { LoopState } from '../state.ts';

/** Passes the history through: this layer does nothing yet. */
export function toolResultBudget(state: LoopState, _config: LoopConfig): LoopState {
  return state;
}
