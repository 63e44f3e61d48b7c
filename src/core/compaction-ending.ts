/** Ends of a query that a compaction brings: one that failed when it was the last rung, one that the user asked for. */
import { judgeFailure } from './answer.ts';
import { announceFailure, compactedState, paid } from './compaction.ts';
import type { LoopConfig } from './config.ts';
import { complete, end, nothingToCompact, uselessSummary } from './ending.ts';
import type { EventOf } from './event.ts';
import { shownFailure } from './recovery.ts';
import type { LoopState, TerminalName } from './state.ts';
import { arrow } from './transition.ts';

/** The compaction that the user asked for is under way. */
function isByHand({ scratch }: LoopState): boolean {
  return scratch.compaction?.kind === 'manual_compact';
}

type Answered = EventOf<'compact.answered'>;
type Failed = EventOf<'compact.failed'>;

export function summaryUnusable(state: LoopState, event: Answered, config: LoopConfig, reason: Shown): LoopState {
  const told = announceFailure(paid(state, event, config), config, uselessSummary);
  return end(told, reason, { failure: shownFailure(state, config), detail: uselessSummary });
}

export function summaryFailed(state: LoopState, event: Failed, config: LoopConfig, reason: Shown): LoopState {
  const told = announceFailure(paid(state, event, config), config, event.failure.message);
  const detail = `The summary failed too: ${event.failure.message}`;
  return end(told, reason, { failure: shownFailure(state, config), detail });
}

function manualFailed(state: LoopState, event: Failed, config: LoopConfig, reason: Shown): LoopState {
  const { failure } = event;
  return end(announceFailure(paid(state, event, config), config, failure.message), reason, { failure });
}

type Shown = Extract<TerminalName, 'prompt_too_long' | 'image_error' | 'model_error'>;

/** The arrows of a compaction that the user asked for, by the terminal that they lead to. */
export const manual = {
  completed: {
    compacted: arrow({
      from: ['compacting'],
      on: 'compact.answered',
      to: 'ended',
      when: (state, event, config) => isByHand(state) && compactedState(state, event, config) !== null,
      set: (state, event, config) => complete(compactedState(state, event, config) ?? state, 'done'),
    }),
    nothingToCompact: arrow({
      from: ['preparing'],
      on: 'always',
      to: 'ended',
      when: (state) => state.query.manualCompaction !== null,
      set: (state) => complete(state, 'done', { detail: nothingToCompact }),
    }),
    compactionRefused: arrow({
      from: ['compacting'],
      on: 'compact.failed',
      to: 'ended',
      when: (state, event) => isByHand(state) && !['incomplete', 'thrown'].includes(judgeFailure(event.failure.class)),
      set: (state, event, config) =>
        complete(announceFailure(paid(state, event, config), config, event.failure.message), 'api_error', {
          failure: event.failure,
        }),
    }),
  },
  prompt_too_long: {
    notCompacted: arrow({
      from: ['compacting'],
      on: 'compact.failed',
      to: 'ended',
      when: (state, event) => isByHand(state) && event.failure.class === 'overflow',
      set: (state, event, config) => manualFailed(state, event, config, 'prompt_too_long'),
    }),
  },
  model_error: {
    notCompacted: arrow({
      from: ['compacting'],
      on: 'compact.failed',
      to: 'ended',
      when: isByHand,
      set: (state, event, config) => manualFailed(state, event, config, 'model_error'),
    }),
    summaryUnusable: arrow({
      from: ['compacting'],
      on: 'compact.answered',
      to: 'ended',
      when: isByHand,
      set: (state, event, config) =>
        end(announceFailure(paid(state, event, config), config, uselessSummary), 'model_error', {
          detail: uselessSummary,
        }),
    }),
  },
};
