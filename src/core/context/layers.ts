/** The layers that make a context smaller without a model call, in the order in which they run before every request. */
import type { Layer, LoopConfig } from '../config.ts';
import type { LoopState } from '../state.ts';
import { microcompact } from './microcompact.ts';
import { snip } from './snip.ts';
import { toolResultBudget } from './tool-result-budget.ts';

export function applyLayers(state: LoopState, config: LoopConfig): LoopState {
  const layers: readonly Layer[] = [toolResultBudget, snip, config.microcompactor ?? microcompact];
  return layers.reduce((shrunk, layer) => layer(shrunk, config), state);
}
