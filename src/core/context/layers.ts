/** The layers that make a context smaller without a model call, in the order in which they run before every request. */
import { isShrinking, type LoopConfig } from '../config.ts';
import type { LoopState } from '../state.ts';
import { collapse } from './collapse.ts';
import { withHistory } from './edit.ts';
import { microcompact } from './microcompact.ts';
import { snip } from './snip.ts';
import { withoutBoundThinking } from './thinking.ts';
import { toolResultBudget } from './tool-result-budget.ts';

/** The same state when no layer has anything to do. Together they are one edit: bound thinking behind it goes with it. */
export function applyLayers(state: LoopState, config: LoopConfig): LoopState {
  const budgeted = toolResultBudget(state, config);
  // A query that exists to shrink a context must see all of it.
  const after = isShrinking(config) ? budgeted : collapse(clearResults(snip(budgeted, config), config), config);
  const { messages } = state.carried;
  if (after.carried.messages === messages) return after;
  const kept = withoutBoundThinking(messages, after.carried.messages);
  const { measured } = withHistory(state, kept, config).query;
  return { ...after, carried: { ...after.carried, messages: kept }, query: { ...after.query, measured } };
}

function clearResults(state: LoopState, config: LoopConfig): LoopState {
  if (config.microcompactor === null) return microcompact(state, config);
  const after = config.microcompactor(state, config);
  return after.carried.messages === state.carried.messages ? after : withHistory(state, after.carried.messages, config);
}
