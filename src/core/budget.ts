/** The token budget: how much output the user asked for, and when asking for more has become pointless. */
import { isSubAgent, type LoopConfig } from './config.ts';
import type { LoopState } from './state.ts';

/** Share of the budget at which the query may end. */
const enough = 0.9;
/** After so many continuations, two in a row under `leastProgress` tokens end the query. */
const patience = 3;
const leastProgress = 500;

/** True when the query has a token budget that counts: a sub-agent never continues for one. */
export function hasBudget(config: LoopConfig): boolean {
  return config.tokenBudget !== null && !isSubAgent(config);
}

/** True when the token budget says go on. */
export function budgetGoesOn(state: LoopState, config: LoopConfig): boolean {
  if (config.tokenBudget === null || !hasBudget(config)) return false;
  if (state.query.budgetContinuations >= config.limits.budgetContinuations) return false;
  return state.query.budgetUsed < config.tokenBudget * enough && !isDiminishing(state);
}

function isDiminishing(state: LoopState): boolean {
  const { budgetContinuations, budgetUsed, budgetMarks } = state.query;
  if (budgetContinuations < patience) return false;
  const [before = 0, last = 0] = budgetMarks;
  return budgetUsed - last < leastProgress && last - before < leastProgress;
}

/** What the model is told when the budget says go on. */
export function budgetNudge(state: LoopState, config: LoopConfig): string {
  const total = config.tokenBudget ?? 0;
  const share = Math.floor((state.query.budgetUsed / Math.max(1, total)) * 100);
  const left = Math.max(0, total - state.query.budgetUsed);
  return `${share} % of the token budget is used (${state.query.budgetUsed} of ${total} tokens), ${left} tokens are left. Go on working on the task; do not sum up.`;
}
