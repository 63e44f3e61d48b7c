/** The ten ways a query ends. Whatever the reason, the history that is left is one that the API accepts. */
import { hasBudget } from './budget.ts';
import { dropAttempt } from './answer.ts';
import { manual, summaryFailed, summaryUnusable } from './compaction-ending.ts';
import { isShrinking } from './config.ts';
import { costLimit } from './cost-ending.ts';
import { isHopeless, isRefilled, needsCompaction } from './context/auto-compact.ts';
import { hardLimit } from './context/thresholds.ts';
import { contextSize } from './context/tokens.ts';
import {
  abortedStreaming,
  abortedTools,
  complete,
  denied,
  emptyDetail,
  end,
  fullDetail,
  hookStopped,
  keepBroken,
  keepLimited,
  modelFailed,
  outputInvalid,
  outputLimitReached,
  promptBlocked,
  refused,
  stopHookDetail,
  stopWord,
} from './ending.ts';
import { withNotices } from './moves.ts';
import { isOverflow, isVerdict, mayCompactReactively, mayDrain, shownFailure } from './recovery.ts';
import type { TerminalName } from './state.ts';
import { isRunning } from './tools/schedule.ts';
import { arrow, type Transition, yes } from './transition.ts';

export const terminals: { readonly [Name in TerminalName]: Transition } = {
  completed: {
    why: 'The model is done, or the query is over for a reason that is no failure of the loop: `outcome` says which.',
    arrows: {
      refusal: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => isVerdict(state, 'refusal'),
        set: refused,
      }),
      empty: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => isVerdict(state, 'thinking_only'),
        set: (state) => complete(dropAttempt(state, 'it held thinking only'), 'empty', { detail: emptyDetail }),
      }),
      outputLimit: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => isVerdict(state, 'output_limit'),
        set: outputLimitReached,
      }),
      apiError: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => isVerdict(state, 'api_error', 'thinking_refused', 'max_tokens_too_large'),
        set: (state, _event, config) =>
          complete(keepBroken(state, config), 'api_error', { failure: shownFailure(state, config) }),
      }),
      stopHookLimit: arrow({
        from: ['runningStopHooks'],
        on: 'stopHooks.ended',
        to: 'ended',
        when: (_state, event) => event.errors.length > 0,
        set: (state, event, config) =>
          complete(withNotices(state, event), 'stop_hook_limit', { detail: stopHookDetail(config, event.errors) }),
      }),
      budgetSpent: arrow({
        from: ['budgeting'],
        on: 'always',
        to: 'ended',
        when: (_state, _event, config) => hasBudget(config),
        set: (state, _event, config) =>
          complete(state, 'budget_spent', {
            detail: `${state.query.budgetUsed} of ${config.tokenBudget} tokens used.`,
          }),
      }),
      done: arrow({
        from: ['budgeting'],
        on: 'always',
        to: 'ended',
        when: yes,
        set: (state) => complete(state, 'done'),
      }),
      invalidOutput: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => isVerdict(state, 'invalid_output'),
        set: outputInvalid,
      }),
      ...costLimit,
      ...manual.completed,
    },
  },
  blocking_limit: {
    why: 'The context is full and nothing may or can shrink it: no request is sent that cannot work.',
    arrows: {
      full: arrow({
        from: ['preparing'],
        on: 'always',
        to: 'ended',
        when: (state, _event, config) =>
          !config.autoCompact && !isShrinking(config) && contextSize(state, config) >= hardLimit(state, config),
        set: (state, _event, config) => end(state, 'blocking_limit', { detail: fullDetail(state, config) }),
      }),
      refilled: arrow({
        from: ['preparing'],
        on: 'always',
        to: 'ended',
        when: (state, _event, config) => needsCompaction(state, config) && isRefilled(state, config),
        set: (state, _event, config) => end(state, 'blocking_limit', { detail: fullDetail(state, config) }),
      }),
      hopeless: arrow({
        from: ['preparing'],
        on: 'always',
        to: 'ended',
        when: (state, _event, config) =>
          needsCompaction(state, config) && state.query.breakerOpen && isHopeless(state, config),
        set: (state, _event, config) => end(state, 'blocking_limit', { detail: fullDetail(state, config) }),
      }),
      refilledReactively: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state, _event, config) =>
          (isOverflow(state) || isVerdict(state, 'media')) &&
          mayCompactReactively(state, config) &&
          isRefilled(state, config),
        set: (state, _event, config) =>
          end(keepLimited(state, config), 'blocking_limit', {
            failure: shownFailure(state, config),
            detail: fullDetail(state, config),
          }),
      }),
    },
  },
  prompt_too_long: {
    why: 'The context overflowed and every rung of the ladder failed or was used: the error that was kept back is shown.',
    arrows: {
      noRungLeft: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => isOverflow(state) && !mayDrain(state),
        set: (state, _event, config) =>
          end(keepLimited(state, config), 'prompt_too_long', { failure: shownFailure(state, config) }),
      }),
      compactionAnswered: arrow({
        from: ['compactingReactively'],
        on: 'compact.answered',
        to: 'ended',
        when: (state) => state.scratch.compaction?.cures === 'overflow',
        set: (state, event, config) => summaryUnusable(state, event, config, 'prompt_too_long'),
      }),
      compactionFailed: arrow({
        from: ['compactingReactively'],
        on: 'compact.failed',
        to: 'ended',
        when: (state) => state.scratch.compaction?.cures === 'overflow',
        set: (state, event, config) => summaryFailed(state, event, config, 'prompt_too_long'),
      }),
      ...manual.prompt_too_long,
    },
  },
  image_error: {
    why: 'An image or document is too large, and neither replacing it nor one compaction helped.',
    arrows: {
      noRungLeft: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => isVerdict(state, 'media'),
        set: (state, _event, config) =>
          end(keepBroken(state, config), 'image_error', { failure: shownFailure(state, config) }),
      }),
      compactionAnswered: arrow({
        from: ['compactingReactively'],
        on: 'compact.answered',
        to: 'ended',
        when: yes,
        set: (state, event, config) => summaryUnusable(state, event, config, 'image_error'),
      }),
      compactionFailed: arrow({
        from: ['compactingReactively'],
        on: 'compact.failed',
        to: 'ended',
        when: yes,
        set: (state, event, config) => summaryFailed(state, event, config, 'image_error'),
      }),
    },
  },
  model_error: {
    why: 'Attempts and fallbacks did not cure it, or something threw that is no answer of the API.',
    arrows: {
      retriesSpent: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => isVerdict(state, 'incomplete', 'pause_turn', 'malformed', 'thrown'),
        set: modelFailed,
      }),
      ...manual.model_error,
    },
  },
  aborted_streaming: {
    why: 'The user stopped the query while the model was asked or answered, or before it began.',
    arrows: {
      aborted: arrow({
        from: ['ready', 'compacting', 'streaming', 'compactingReactively', 'runningStopHooks'],
        on: 'abort',
        to: 'ended',
        when: yes,
        set: abortedStreaming,
      }),
    },
  },
  aborted_tools: {
    why: 'The user stopped the query while tools ran or attachments were collected, or denied a tool use and wants the turn to end.',
    arrows: {
      aborted: arrow({
        from: ['runningTools', 'attaching'],
        on: 'abort',
        to: 'ended',
        when: yes,
        set: abortedTools,
      }),
      denied: arrow({
        from: ['streaming', 'runningTools'],
        on: 'always',
        to: 'ended',
        when: (state) => state.scratch.toolRuns.some((run) => run.outcome?.interrupt === true),
        set: denied,
      }),
    },
  },
  stop_hook_prevented: {
    why: 'A stop hook said that the loop must not go on; that beats the blocking errors of another.',
    arrows: {
      prevented: arrow({
        from: ['runningStopHooks'],
        on: 'stopHooks.ended',
        to: 'ended',
        when: (_state, event) => event.prevent !== null,
        set: (state, event) => end(withNotices(state, event), 'stop_hook_prevented', { detail: event.prevent ?? '' }),
      }),
    },
  },
  hook_stopped: {
    why: 'A hook before or after a tool stopped the loop, or a hook did not let the prompt pass.',
    arrows: {
      promptBlocked: arrow({
        from: ['ready'],
        on: 'query.started',
        to: 'ended',
        when: (_state, event) => event.blocked !== null,
        set: promptBlocked,
      }),
      toolHook: arrow({
        from: ['runningTools'],
        on: 'always',
        to: 'ended',
        when: (state) => stopWord(state) !== null && !state.scratch.toolRuns.some(isRunning),
        set: hookStopped,
      }),
      earlyToolHook: arrow({
        from: ['settling'],
        on: 'always',
        to: 'ended',
        when: (state) => stopWord(state) !== null && !isVerdict(state, 'tools'),
        set: hookStopped,
      }),
    },
  },
  max_turns: {
    why: 'The next turn would be one more than the caller allows.',
    arrows: {
      reached: arrow({
        from: ['advancing'],
        on: 'always',
        to: 'ended',
        when: (state, _event, config) => config.maxTurns !== null && state.carried.turnCount + 1 > config.maxTurns,
        set: (state, _event, config) =>
          end(state, 'max_turns', { detail: `The limit of ${config.maxTurns} turns is reached.` }),
      }),
    },
  },
};
