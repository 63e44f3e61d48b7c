/** The layers that make a context smaller without a model call, in the order in which they run before every request. */
import type { LoopConfig } from '../config.ts';
import type { LoopState } from '../state.ts';
import { microcompact } from './microcompact.ts';
import { snip } from './snip.ts';
import { toolResultBudget } from './tool-result-budget.ts';

export function applyLayers(state: LoopState, config: LoopConfig): LoopState {
  const layer2 = config.microcompactor ?? microcompact;
  return layer2(snip(toolResultBudget(state, config), config), config);
}
