/** What the moves inside an iteration do to the state, apart from those of an attempt. */
import { addMessage, addNote, dropAttempt, keepAnswer, keepResults, noAttempt, show, userMessage } from './answer.ts';
import {
  announceCompaction,
  announceFailure,
  beginCompaction,
  compactedState,
  failedState,
  paid,
} from './compaction.ts';
import type { LoopConfig } from './config.ts';
import { adviseOnRepeats } from './advice.ts';
import { isCostReached, paidSmall } from './cost.ts';
import { planCompaction } from './context/auto-compact.ts';
import { shorterCompaction } from './context/compact-request.ts';
import { applyLayers } from './context/layers.ts';
import { withoutBoundThinking } from './context/thinking.ts';
import { keepCut } from './cut.ts';
import type { EventOf, LoopEvent } from './event.ts';
import { type Failure, failureOf } from './failure.ts';
import { drawId } from './ids.ts';
import { noUsage } from './message.ts';
import { isVerdict } from './recovery.ts';
import { isRefusedPlan, rememberRefused } from './refused-summaries.ts';
import { isLive, phaseEffects } from './running.ts';
import { prefixHashOf } from './session-facts.ts';
import type { Compaction, LoopState, ToolRun, ToolSpec } from './state.ts';
import { addBatchChanges } from './tools/context.ts';
import { isRunning, syntheticOutcome } from './tools/schedule.ts';
import { scheduleTools } from './tools/schedule-tools.ts';

/** What hooks said of the prompt stands behind it. */
export function startQuery(state: LoopState, { contexts = [] }: EventOf<'query.started'>): LoopState {
  return contexts.reduce((next, text) => addNote(next, 'attachment', text), state);
}

/** The answer of an effect that nobody waits for any more: a dropped attempt, an abandoned tool, a finished query. */
export function isLate(state: LoopState, event: LoopEvent): boolean {
  return 'effectId' in event && !isLive(state, event.effectId);
}

export function layered(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const shrunk = applyLayers(state, config);
  return { ...shrunk, scratch: { ...shrunk.scratch, layered: true } };
}

export function noRoom(state: LoopState): LoopState {
  const failure = failureOf('overflow', 'The conversation leaves no room in the context window for an answer.');
  const end = { type: 'failed', failure, unfinished: null, usage: noUsage } as const;
  return { ...state, scratch: { ...state.scratch, ...noAttempt, end, verdict: 'overflow' } };
}

export function beginAutoCompact(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  return beginPlanned(state, config, { kind: 'auto_compact', cures: null });
}

export function beginManualCompact(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  return beginPlanned(state, config, { kind: 'manual_compact', cures: null });
}

function beginPlanned(state: LoopState, config: LoopConfig, what: Pick<Compaction, 'kind' | 'cures'>): LoopState {
  return announceCompaction(beginCompaction(state, planCompaction(state, config, what)), config);
}

/** A partial answer that a full window left is kept first; what ran early of a failed one is forgotten. */
export function beginReactiveCompact(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const { end, verdict } = state.scratch;
  const settled = keepCut(state);
  const waiting = { ...settled, scratch: { ...settled.scratch, ...noAttempt, end, verdict } };
  const cures = isVerdict(state, 'media') ? 'media' : 'overflow';
  return beginPlanned(waiting, config, { kind: 'reactive_compact', cures });
}

export function compactionWorked(state: LoopState, event: EventOf<'compact.answered'>, config: LoopConfig): LoopState {
  return compactedState(state, event, config) ?? state;
}

export function mayShrink(state: LoopState, event: EventOf<'compact.failed'>, config: LoopConfig): boolean {
  const { failure } = event;
  if (isCostReached(paid(state, event, config), config)) return false;
  return shorterPlan(rememberRefused(state, config, failure), config, failure) !== null;
}

export function shrinkCompaction(state: LoopState, event: EventOf<'compact.failed'>, config: LoopConfig): LoopState {
  const remembered = rememberRefused(paid(state, event, config), config, event.failure);
  const shorter = shorterPlan(remembered, config, event.failure);
  return shorter === null ? state : beginCompaction(remembered, shorter);
}

/** The next shorter input of the summariser that is not one that was refused: what is left out may have shown nothing. */
function shorterPlan(state: LoopState, config: LoopConfig, failure: Failure): ReturnType<typeof shorterCompaction> {
  const { compaction } = state.scratch;
  if (compaction === null || !['overflow', 'max_tokens_too_large'].includes(failure.class)) return null;
  let plan = shorterCompaction(state, config, compaction, failure);
  while (plan !== null && isRefusedPlan(state, config, plan)) {
    plan = shorterCompaction(state, config, { ...compaction, ...plan }, failure);
  }
  return plan;
}

export function summaryRejected(state: LoopState, event: EventOf<'compact.answered'>, config: LoopConfig): LoopState {
  const why = 'the summary was unusable or freed too little.';
  return failedState(announceFailure(paid(state, event, config), config, why), config, false);
}

export function compactionFailed(state: LoopState, event: EventOf<'compact.failed'>, config: LoopConfig): LoopState {
  const { failure } = event;
  const remembered = rememberRefused(paid(state, event, config), config, failure);
  return failedState(announceFailure(remembered, config, failure.message), config, failure.status === 400);
}

export function startTools(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const kept = keepAnswer(state, 'whole');
  return scheduleTools(kept, kept.scratch.toolRuns, config);
}

/** Gives the phase that follows an effect of its own. */
function withEffect(state: LoopState, name: string): LoopState {
  const [query, id] = drawId(state.query);
  return { ...state, query, scratch: { ...state.scratch, effectId: `${name}-${id}` } };
}

export function askStopHooks(state: LoopState): LoopState {
  return withEffect(keepAnswer(state, 'whole'), 'runStopHooks');
}

export function takeResults(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  return withEffect(keepResults(state, config), 'collectAttachments');
}

export function withNotices(state: LoopState, event: { readonly notices: readonly string[] }): LoopState {
  return event.notices.reduce((shown, text) => show(shown, { type: 'notice', text }), state);
}

/** Attachments first, then what the user said: the newest words stand last. */
export function collect(state: LoopState, event: EventOf<'attachments.collected'>, config: LoopConfig): LoopState {
  const attached = event.attachments.reduce(
    (next, content) => {
      const [query, id] = drawId(next.query);
      const message = userMessage(id, 'attachment', content);
      return show(addMessage({ ...next, query }, message), { type: 'user', message });
    },
    withNotices(addBatchChanges(state, event.contextChanges ?? []), event),
  );
  const advised = adviseOnRepeats(attached, config);
  const said = advised.query.queued.reduce((next, { id, content }) => {
    const added = addMessage(next, userMessage(id, 'user', content));
    return show(added, { type: 'command', messageId: id, status: 'started' });
  }, advised);
  const taken = { ...said, query: { ...said.query, queued: [] } };
  return event.tools === null ? taken : changeTools(taken, event.tools, config);
}

/** Another tool list is an edit before everything: no figure holds any more, nor any thinking that is bound to its prefix. */
function changeTools(state: LoopState, tools: readonly ToolSpec[], config: LoopConfig): LoopState {
  const messages = withoutBoundThinking([], state.carried.messages);
  const additions = withoutBoundThinking([], state.scratch.additions);
  return {
    ...state,
    carried: { ...state.carried, messages },
    scratch: { ...state.scratch, additions },
    query: { ...state.query, tools, prefixHash: prefixHashOf(config.system, tools), measured: null },
  };
}

export function queueMessage(state: LoopState, event: EventOf<'message.queued'>): LoopState {
  return { ...state, query: { ...state.query, queued: [...state.query.queued, event.message] } };
}

export function showSummary(state: LoopState, event: EventOf<'toolUse.summarized'>, config: LoopConfig): LoopState {
  const toolUseIds = state.carried.pendingToolUseSummary?.toolUseIds ?? [];
  const query = paidSmall(state.query, event, config);
  const done = { ...state, query, carried: { ...state.carried, pendingToolUseSummary: null } };
  return event.text === null ? done : show(done, { type: 'tool_use_summary', toolUseIds, text: event.text });
}

export function recordDecision(state: LoopState, event: EventOf<'tool.decided'>): LoopState {
  const toolRuns = state.scratch.toolRuns.map((run) =>
    run.toolUseId === event.toolUseId ? { ...run, decisions: [...run.decisions, event.decision] } : run,
  );
  return { ...state, scratch: { ...state.scratch, toolRuns } };
}

/** The API's own word on what it left out: shown when it grew, since a request is cleared anew each time. */
export function showCleared(state: LoopState, { cleared, input }: EventOf<'context.cleared'>): LoopState {
  const query = { ...state.query, clearedByServer: cleared };
  const told = { ...state, query };
  if (cleared <= state.query.clearedByServer) return told;
  return show(told, { type: 'boundary', kind: 'microcompact', tokensBefore: input + cleared, tokensAfter: input });
}

/** Whatever the phase, what small models write in the background is asked for again, unless the cost cap forbids: it died too. */
function resumeBackground(state: LoopState, config: LoopConfig): LoopState {
  if (isCostReached(state, config)) {
    return {
      ...state,
      query: { ...state.query, pendingSpan: null },
      carried: { ...state.carried, pendingToolUseSummary: null },
    };
  }
  const { pendingToolUseSummary: summary } = state.carried;
  const { pendingSpan: span } = state.query;
  const [afterSummary, summaryId] = summary === null ? [state.query, ''] : drawId(state.query);
  const [afterSpan, spanId] = span === null ? [afterSummary, ''] : drawId(afterSummary);
  const pendingToolUseSummary = summary === null ? null : { ...summary, effectId: `summarizeToolUse-${summaryId}` };
  const pendingSpan = span === null ? null : { ...span, effectId: `summarizeSpan-${spanId}` };
  return { ...state, query: { ...afterSpan, pendingSpan }, carried: { ...state.carried, pendingToolUseSummary } };
}

/** The answer that was under way is lost with the process that read it: a new attempt. */
export function resumeStreaming(before: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const dropped = dropAttempt(resumeBackground(before, config), 'the process ended while the model answered');
  return { ...dropped, scratch: { ...dropped.scratch, compactionTried: true } };
}

/** The effect of the phase once more, under a new id: the old one died with its process. */
export function resumeEffect(before: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const state = resumeBackground(before, config);
  const { compaction } = state.scratch;
  if (compaction !== null) return beginCompaction(state, compaction);
  return withEffect(state, phaseEffects[state.phase] ?? state.phase);
}

/** What can do no harm twice runs again; any other tool may have done its work, and says so. */
export function resumeTools(before: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const state = resumeBackground(before, config);
  let { query } = state;
  const resumed = state.scratch.toolRuns.map((run): ToolRun => {
    if (!isRunning(run)) return run;
    if (!run.verdict.readOnly && !run.verdict.replaySafe) {
      return { ...run, status: 'ended', outcome: syntheticOutcome(interruptedSentence) };
    }
    const [drawn, id] = drawId(query);
    query = drawn;
    return { ...run, effectId: `runTool-${id}` };
  });
  return scheduleTools({ ...state, query }, resumed, config);
}

const interruptedSentence =
  'Interrupted: the process ended while this tool ran. It may have done its work; look before you run it again.';
