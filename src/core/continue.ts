/** The seven ways an iteration starts again. Each writes all ten carried fields; only `next_turn` sets a guard back. */
import { addNote, dropAttempt } from './answer.ts';
import { budgetGoesOn, budgetNudge } from './budget.ts';
import { compactedState } from './compaction.ts';
import { isSubAgent, isShrinking, type LoopConfig } from './config.ts';
import { commitAll } from './context/collapse.ts';
import { keepCut } from './cut.ts';
import type { EventOf } from './event.ts';
import { drawId } from './ids.ts';
import { emptyScratch, freshTurn } from './initial-state.ts';
import { withNotices } from './moves.ts';
import { escalatedMaxTokens, isOverflow, isVerdict, mayDrain, mayRecoverOutput } from './recovery.ts';
import type { Carried, ContinueName, LoopState, PendingSummary, QueryAccount } from './state.ts';
import { batchContext } from './tools/context.ts';
import { arrow, type Transition } from './transition.ts';
import { conversation } from './wire/request.ts';

/** Starts the next iteration: the ten fields anew, the scratch dropped whole. */
function goOn(state: LoopState, carried: Carried): LoopState {
  return { ...state, carried, scratch: emptyScratch };
}

/** What six of the seven do with the guards: keep every one. */
function kept(state: LoopState, transition: ContinueName): Carried {
  const { carried } = state;
  return {
    messages: conversation(state),
    toolUseContext: carried.toolUseContext,
    autoCompactTracking: carried.autoCompactTracking,
    maxOutputTokensRecoveryCount: carried.maxOutputTokensRecoveryCount,
    hasAttemptedReactiveCompact: carried.hasAttemptedReactiveCompact,
    maxOutputTokensOverride: carried.maxOutputTokensOverride,
    pendingToolUseSummary: carried.pendingToolUseSummary,
    stopHookActive: carried.stopHookActive,
    turnCount: carried.turnCount,
    transition,
  };
}

export const continues: { readonly [Name in ContinueName]: Transition } = {
  next_turn: {
    why: 'Tools ran and their results go back to the model. The only continue that sets guards and counters of the turn back.',
    arrows: {
      toolsRan: arrow({
        from: ['advancing'],
        on: 'always',
        to: 'preparing',
        when: () => true,
        set: nextTurn,
      }),
    },
  },
  collapse_drain_retry: {
    why: 'The context overflowed and summaries of old spans are ready: commit them and ask again, once a turn.',
    arrows: {
      overflow: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state) => isOverflow(state) && mayDrain(state),
        set: drain,
      }),
    },
  },
  reactive_compact_retry: {
    why: 'The context overflowed, or media were too large; the history was summarised and the request is made again. Once a turn, whatever the stop hooks do.',
    arrows: {
      compacted: arrow({
        from: ['compactingReactively'],
        on: 'compact.answered',
        to: 'preparing',
        when: (state, event, config) => compactedState(state, event, config) !== null,
        set: reactivelyCompacted,
      }),
    },
  },
  max_output_tokens_escalate: {
    why: 'The answer was cut at the default output cap: ask the same again with a higher one. The cut answer is forgotten.',
    arrows: {
      cut: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) => isVerdict(state, 'output_limit') && escalatedMaxTokens(state, config) !== null,
        set: escalate,
      }),
    },
  },
  max_output_tokens_recovery: {
    why: 'The answer was cut again: keep it and ask the model to resume in mid-thought, three times a turn.',
    arrows: {
      cut: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) => isVerdict(state, 'output_limit') && mayRecoverOutput(state, config),
        set: recover,
      }),
    },
  },
  stop_hook_blocking: {
    why: 'The model says that it is done and a stop hook says that it is not. Bounded for the whole query, whatever the model does between.',
    arrows: {
      blocked: arrow({
        from: ['runningStopHooks'],
        on: 'stopHooks.ended',
        to: 'preparing',
        when: (state, event, config) =>
          event.errors.length > 0 && state.query.stopHookBlocks < config.limits.stopHookBlocks,
        set: blockedByHook,
      }),
    },
  },
  token_budget_continuation: {
    why: 'The user asked for so many output tokens and the model stopped early: say what is left and go on.',
    arrows: {
      underBudget: arrow({
        from: ['budgeting'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) => budgetGoesOn(state, config),
        set: continueForBudget,
      }),
    },
  },
};

function nextTurn(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const { carried } = state;
  const [query, pendingToolUseSummary] = nextSummary(state, config);
  const tracking = carried.autoCompactTracking;
  return goOn(
    { ...state, query: { ...query, turn: freshTurn } },
    {
      messages: conversation(state),
      toolUseContext: batchContext(state),
      autoCompactTracking: { ...tracking, turnsSince: tracking.turnsSince + 1 },
      maxOutputTokensRecoveryCount: 0,
      hasAttemptedReactiveCompact: false,
      maxOutputTokensOverride: null,
      pendingToolUseSummary,
      stopHookActive: carried.stopHookActive,
      turnCount: carried.turnCount + 1,
      transition: 'next_turn',
    },
  );
}

/** The handle of the summary that the small model now writes of this turn's tools; null where nobody would read it. */
function nextSummary(state: LoopState, config: LoopConfig): readonly [QueryAccount, PendingSummary | null] {
  const { toolRuns } = state.scratch;
  if (config.smallModel === null || isSubAgent(config) || isShrinking(config) || toolRuns.length === 0) {
    return [state.query, null];
  }
  const [query, id] = drawId(state.query);
  return [query, { effectId: `summarizeToolUse-${id}`, toolUseIds: toolRuns.map((run) => run.toolUseId) }];
}

function drain(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const answered = keepCut(state);
  const carried = { ...answered.carried, messages: conversation(answered) };
  const drained = commitAll({ ...answered, carried, scratch: { ...answered.scratch, additions: [] } }, config);
  const { turn } = drained.query;
  const query = { ...drained.query, turn: { ...turn, drains: turn.drains + 1 } };
  return goOn({ ...drained, query }, kept(drained, 'collapse_drain_retry'));
}

function reactivelyCompacted(state: LoopState, event: EventOf<'compact.answered'>, config: LoopConfig): LoopState {
  const done = compactedState(state, event, config) ?? state;
  return goOn(done, {
    messages: done.carried.messages,
    toolUseContext: done.carried.toolUseContext,
    autoCompactTracking: done.carried.autoCompactTracking,
    maxOutputTokensRecoveryCount: state.carried.maxOutputTokensRecoveryCount,
    hasAttemptedReactiveCompact: true,
    maxOutputTokensOverride: state.carried.maxOutputTokensOverride,
    pendingToolUseSummary: state.carried.pendingToolUseSummary,
    stopHookActive: state.carried.stopHookActive,
    turnCount: state.carried.turnCount,
    transition: 'reactive_compact_retry',
  });
}

function escalate(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const maxOutputTokensOverride = escalatedMaxTokens(state, config);
  const dropped = dropAttempt(state, 'it was cut at the output cap and is asked again with a higher one');
  return goOn(dropped, { ...kept(dropped, 'max_output_tokens_escalate'), maxOutputTokensOverride });
}

function recover(state: LoopState): LoopState {
  const resumed = keepCut(state);
  const maxOutputTokensRecoveryCount = state.carried.maxOutputTokensRecoveryCount + 1;
  return goOn(resumed, { ...kept(resumed, 'max_output_tokens_recovery'), maxOutputTokensRecoveryCount });
}

function blockedByHook(state: LoopState, event: EventOf<'stopHooks.ended'>): LoopState {
  const told = addNote(
    withNotices(state, event),
    'stop_hook',
    `A stop hook says that the work is not done: ${event.errors.join('\n')}`,
  );
  const query = { ...told.query, stopHookBlocks: told.query.stopHookBlocks + 1 };
  return goOn({ ...told, query }, { ...kept(told, 'stop_hook_blocking'), stopHookActive: true });
}

function continueForBudget(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const nudged = addNote(state, 'budget_nudge', budgetNudge(state, config));
  const { budgetContinuations, budgetMarks, budgetUsed } = nudged.query;
  const query = {
    ...nudged.query,
    budgetContinuations: budgetContinuations + 1,
    budgetMarks: [...budgetMarks.slice(-1), budgetUsed],
  };
  return goOn({ ...nudged, query }, kept(nudged, 'token_budget_continuation'));
}
