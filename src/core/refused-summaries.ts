/** Requests for summaries that the API refused with a 400: the same body would be refused again, and is never sent. */
import type { LoopConfig } from './config.ts';
import { buildCompactRequest } from './context/compact-request.ts';
import type { Failure } from './failure.ts';
import { digest } from './ids.ts';
import type { Compaction, LoopState } from './state.ts';

type Plan = Omit<Compaction, 'effectId'>;

function fingerprint(state: LoopState, config: LoopConfig, plan: Plan): string {
  return digest(JSON.stringify(buildCompactRequest(state, config, { ...plan, effectId: '' })));
}

/** The state that remembers the compaction under way if the API refused its request. */
export function rememberRefused(state: LoopState, config: LoopConfig, failure: Failure): LoopState {
  const { compaction } = state.scratch;
  if (failure.status !== 400 || compaction === null) return state;
  const refusedSummaries = [...state.query.refusedSummaries, fingerprint(state, config, compaction)];
  return { ...state, query: { ...state.query, refusedSummaries } };
}

/** True when the request of the plan is one that was refused. */
export function isRefusedPlan(state: LoopState, config: LoopConfig, plan: Plan): boolean {
  const { refusedSummaries } = state.query;
  return refusedSummaries.length > 0 && refusedSummaries.includes(fingerprint(state, config, plan));
}
