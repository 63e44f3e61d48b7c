/**
 * Ends of a query that has spent what it may. Asked wherever a request would start, before anything is given up for it:
 * an answer that was paid for stays, and so does the part of one that broke off.
 */
import { budgetGoesOn } from './budget.ts';
import type { LoopConfig } from './config.ts';
import { continues } from './continue.ts';
import { costDetail, isCostReached } from './cost.ts';
import { complete, keepLimited } from './ending.ts';
import type { LoopEvent } from './event.ts';
import { withNotices } from './moves.ts';
import { settling } from './settling.ts';
import type { LoopState } from './state.ts';
import { type Arrow, arrow } from './transition.ts';

/** The arrows out of `settling` that lead to another request for the same answer. */
const askingAgain: readonly Arrow[] = [
  settling.fell_back.arrows.overloaded,
  settling.retried.arrows.failed,
  settling.pause_resent.arrows.paused,
  settling.malformed_reasked.arrows.malformed,
  settling.thinking_only_reasked.arrows.empty,
  settling.output_reasked.arrows.mismatch,
  settling.max_tokens_lowered.arrows.tooLarge,
  settling.thinking_stripped.arrows.refused,
  settling.media_replaced.arrows.refused,
  settling.reactive_compaction_began.arrows.forced,
  ...[
    continues.collapse_drain_retry,
    continues.max_output_tokens_escalate,
    continues.max_output_tokens_recovery,
  ].flatMap(({ arrows }) => Object.values(arrows)),
];

function wouldAskAgain(state: LoopState, event: LoopEvent, config: LoopConfig): boolean {
  return askingAgain.some(({ when }) => when(state, event, config));
}

function costReached(state: LoopState, config: LoopConfig): LoopState {
  return complete(state, 'cost_limit', { detail: costDetail(state, config) });
}

/** The arrows of the cap, by where the next request would have come from. */
export const costLimit = {
  costBeforeRequest: arrow({
    from: ['preparing'],
    on: 'always',
    to: 'ended',
    when: (state, _event, config) => isCostReached(state, config),
    set: (state, _event, config) => costReached(state, config),
  }),
  costBeforeAsking: arrow({
    from: ['settling'],
    on: 'always',
    to: 'ended',
    when: (state, event, config) => isCostReached(state, config) && wouldAskAgain(state, event, config),
    set: (state, _event, config) => costReached(keepLimited(state, config), config),
  }),
  costBeforeResuming: arrow({
    from: ['compacting', 'compactingReactively'],
    on: 'query.resumed',
    to: 'ended',
    when: (state, _event, config) => isCostReached(state, config),
    set: (state, _event, config) => costReached(state, config),
  }),
  costBeforeTurn: arrow({
    from: ['advancing'],
    on: 'always',
    to: 'ended',
    when: (state, _event, config) => isCostReached(state, config),
    set: (state, _event, config) => costReached(state, config),
  }),
  costBeforeBlock: arrow({
    from: ['runningStopHooks'],
    on: 'stopHooks.ended',
    to: 'ended',
    when: (state, event, config) => event.errors.length > 0 && isCostReached(state, config),
    set: (state, event, config) => costReached(withNotices(state, event), config),
  }),
  costBeforeNudge: arrow({
    from: ['budgeting'],
    on: 'always',
    to: 'ended',
    when: (state, _event, config) => isCostReached(state, config) && budgetGoesOn(state, config),
    set: (state, _event, config) => costReached(state, config),
  }),
};
