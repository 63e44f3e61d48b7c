/** How a query is brought to its end: what history keeps, what is shown, which facts the terminal states. */
import { addNote, dropAttempt, keepAnswer, keepResultsWith, reportedBlocks, show } from './answer.ts';
import type { LoopConfig } from './config.ts';
import { whatFills } from './context/auto-compact.ts';
import type { EventOf } from './event.ts';
import type { Failure } from './failure.ts';
import { emptyScratch } from './initial-state.ts';
import { type Message, totalUsage } from './message.ts';
import { failureIn, isVerdict, shownFailure } from './recovery.ts';
import type {
  CompletedOutcome,
  LoopState,
  Terminal,
  TerminalFacts,
  TerminalName,
  ToolRun,
  Unfinished,
} from './state.ts';
import { fittingOutput, mismatchOf } from './structured-output.ts';
import { isRunning } from './tools/schedule.ts';
import { conversation } from './wire/request.ts';
import { keepCutAnswer } from './cut.ts';
import { batchContext } from './tools/context.ts';

interface Ending {
  readonly failure?: Failure;
  readonly detail?: string;
}

/** Ends the query: what re-asks added enters the history, the failure is shown once, the facts are written down. */
export function end(state: LoopState, reason: Exclude<TerminalName, 'completed'>, ending: Ending = {}): LoopState {
  return finish(state, ending, (facts) => ({ reason, outcome: null, ...facts }));
}

export function complete(state: LoopState, outcome: CompletedOutcome, ending: Ending = {}): LoopState {
  return finish(state, ending, (facts) => ({ reason: 'completed', outcome, ...facts }));
}

function finish(state: LoopState, ending: Ending, terminalOf: (facts: TerminalFacts) => Terminal): LoopState {
  const failure = ending.failure ?? null;
  const shown = failure === null ? state : show(state, { type: 'error', failure });
  const terminal = terminalOf({
    turns: state.carried.turnCount,
    usage: totalUsage(state.query),
    cost: state.query.cost,
    output: fittingOutput(state),
    modelCalls: state.query.modelCalls,
    summaryCalls: state.query.summaryCalls,
    failure,
    detail: ending.detail ?? null,
  });
  return {
    ...shown,
    carried: {
      ...shown.carried,
      messages: conversation(shown),
      toolUseContext: batchContext(shown),
      pendingToolUseSummary: null,
    },
    scratch: emptyScratch,
    query: { ...shown.query, pendingSpan: null },
    terminal,
  };
}

export const emptyDetail = 'The model answered with thinking and nothing else, twice.';
export const nothingToCompact = 'There is nothing to compact: the conversation is short.';
export const uselessSummary = 'The conversation was summarised, but the summary was unusable or freed too little.';

export function fullDetail(state: LoopState, config: LoopConfig): string {
  return `${whatFills(state, config)} Shorten it or start a new session.`;
}

export function stopHookDetail(config: LoopConfig, errors: readonly string[]): string {
  return `Stop hooks blocked more than ${config.limits.stopHookBlocks} times; the last said: ${errors.join(' ')}`;
}

/** The reason that a tool hook gave for stopping the loop, or null. */
export function stopWord(state: LoopState): string | null {
  return state.scratch.toolRuns.map((run) => run.outcome?.stop ?? null).find((stop) => stop !== null) ?? null;
}

/** What is kept of an answer that broke off: its whole blocks, its unfinished text, a result for every whole tool use. */
export function keepBroken(state: LoopState, config: LoopConfig): LoopState {
  const { end: ended } = state.scratch;
  const unfinished = ended?.type === 'failed' ? ended.unfinished : null;
  return keepBlocks(state, config, unfinished, () => 'No result: the answer of the model broke off.');
}

function keepBlocks(
  state: LoopState,
  config: LoopConfig,
  unfinished: Unfinished | null,
  why: (run: ToolRun) => string,
): LoopState {
  return keepResultsWith(keepAnswer(state, 'broken', unfinished), config, why);
}

/** After a limit the cut answer stays without its tools, and nobody is asked to go on; after an error what broke off stays. */
export function keepLimited(state: LoopState, config: LoopConfig): LoopState {
  const isCut = state.scratch.end?.type === 'answered' && isVerdict(state, 'output_limit', 'overflow');
  return isCut ? keepCutAnswer(state) : keepBroken(state, config);
}

export function outputLimitReached(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  return complete(keepLimited(state, config), 'output_limit', { failure: shownFailure(state, config) });
}

/** The history with the newest words of the user, and everything behind them, left out of later requests. */
function withoutNewestWords(messages: readonly Message[]): readonly Message[] {
  const from = messages.findLastIndex((message) => message.role === 'user' && message.origin === 'user');
  return messages.map((message, index) => (index < Math.max(0, from) ? message : { ...message, refused: true }));
}

/** A hook did not let the prompt pass: no model shall ever see it. */
export function promptBlocked(state: LoopState, event: EventOf<'query.started'>): LoopState {
  const carried = { ...state.carried, messages: withoutNewestWords(state.carried.messages) };
  return end({ ...state, carried }, 'hook_stopped', { detail: event.blocked ?? '' });
}

/** The refused answer is forgotten by the consumer; it, and what caused it, is left out of later requests. */
export function refused(state: LoopState): LoopState {
  const marked = withoutNewestWords(conversation(state));
  const answer = refusedAnswer(state);
  const dropped = dropAttempt(state, 'the model refused to answer');
  const carried = { ...dropped.carried, messages: [...marked, ...answer] };
  const query = { ...dropped.query, measured: null };
  const scratch = { ...dropped.scratch, additions: [] };
  return complete({ ...dropped, carried, scratch, query }, 'refusal', {
    detail: 'The model refused; the refused turn is left out of later requests.',
  });
}

function refusedAnswer(state: LoopState): readonly Message[] {
  const { attempt } = state.scratch;
  // Its tool uses never ran and would wait for results for ever.
  const content = reportedBlocks(state.scratch).filter((block) => block.type !== 'tool_use');
  if (attempt === null || content.length === 0) return [];
  return [{ role: 'assistant', id: attempt.messageId, model: attempt.model, content, refused: true }];
}

export function modelFailed(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const detail = isVerdict(state, 'malformed') ? 'malformed_tool_use_exhausted' : modelDetail(state, config);
  return end(keepBroken(state, config), 'model_error', { failure: shownFailure(state, config), detail });
}

function modelDetail(state: LoopState, config: LoopConfig): string {
  if (isVerdict(state, 'thrown')) return failureIn(state)?.message ?? 'Something threw.';
  if (isVerdict(state, 'pause_turn')) return 'pause_turn_exhausted';
  return `Gave up after ${config.limits.retries + 1} requests for one answer.`;
}

/** The last answer that did not fit stays, so that a person can see it. */
export function outputInvalid(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const tries = config.limits.outputMismatches + 1;
  const detail = `${tries} answers did not fit the JSON schema; of the last: ${mismatchOf(state)}`;
  return complete(keepAnswer(state, 'whole'), 'invalid_output', { detail });
}

const interruption = {
  streaming: 'The user interrupted the answer.',
  tools: 'The user interrupted while tools were running.',
};

export function abortedStreaming(state: LoopState, event: EventOf<'abort'>, config: LoopConfig): LoopState {
  const kept = keepBlocks(state, config, event.unfinished, whyAborted);
  return end(interrupted(kept, event, interruption.streaming), 'aborted_streaming', {});
}

export function abortedTools(state: LoopState, event: EventOf<'abort'>, config: LoopConfig): LoopState {
  const kept = state.phase === 'runningTools' ? keepResultsWith(state, config, whyAborted) : state;
  return end(interrupted(kept, event, interruption.tools), 'aborted_tools', {});
}

/** Why a tool use of an aborted batch has no result of its own. */
function whyAborted(run: ToolRun): string {
  if (!isRunning(run)) return 'Not run: the user interrupted.';
  // Nothing runs before a decision is recorded: until then a hook or a person was asked.
  return run.decisions.some(({ kind }) => kind === 'permission')
    ? 'Aborted by the user while it ran: it may have done a part of its work, and may still be running.'
    : 'Aborted by the user before it began: it was not approved yet.';
}

/** A denial that ends the turn, while the model still answers too: what came of the answer is kept. */
export function denied(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const kept = keepBlocks(state, config, null, (run) => (isRunning(run) ? whyAborted(run) : whyDenied));
  return end(kept, 'aborted_tools', { detail: 'A tool use was denied.' });
}

const whyDenied = 'Not run: the user denied another tool use and ended the turn.';

/** A tool hook stopped the loop: what was asked and not run says so. */
export function hookStopped(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const kept =
    state.phase === 'settling' ? keepLimited(state, config) : keepResultsWith(state, config, () => whyStopped);
  return end(kept, 'hook_stopped', { detail: stopWord(state) ?? '' });
}

const whyStopped = 'Not run: a hook stopped the loop.';

/** A message that was sent with the abort says enough and waits for the next query; else a note says what happened. */
function interrupted(state: LoopState, event: EventOf<'abort'>, text: string): LoopState {
  const queued = event.message === null ? state.query.queued : [...state.query.queued, event.message];
  const kept = { ...state, query: { ...state.query, queued } };
  return event.kind === 'submit' ? kept : addNote(kept, 'interruption', text);
}
