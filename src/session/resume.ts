/** Going on from a journal after the process died. */
import type { Effect } from '../core/effect.ts';
import type { LoopState } from '../core/state.ts';
import { step } from '../core/step.ts';
import { type RecordedQuery, replay } from './journal.ts';

/**
 * Folds a journal and starts what was waiting: model calls and compactions as new attempts, tools that are read-only or
 * replay-safe again, every other one gets an error result. No counter is set back. For hosts that perform effects
 * themselves; `query({ resume })` does the same with the chart.
 */
export function resume(recorded: RecordedQuery): { readonly state: LoopState; readonly effects: readonly Effect[] } {
  return step(replay(recorded), { type: 'query.resumed' }, recorded.config);
}
