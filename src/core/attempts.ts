/** The life of one attempt: how it is sent, what it reports, how it is asked again. */
import { addNote, accountFor, dropAttempt, judge, keepAnswer, keepResults, noAttempt, show } from './answer.ts';
import type { LoopConfig } from './config.ts';
import { withConversation } from './context/edit.ts';
import { replaceMedia } from './context/media.ts';
import { stripThinking, withoutBoundThinking } from './context/thinking.ts';
import { estimateMessages, fixedTokens } from './context/tokens.ts';
import { spend, spendByTool } from './cost.ts';
import type { EventOf } from './event.ts';
import type { Failure } from './failure.ts';
import { drawId, idAt } from './ids.ts';
import { limitsOf } from './initial-state.ts';
import { isNothing, isToolUse, type Message, type ToolUseBlock } from './message.ts';
import { PrefixMemo } from './prefix.ts';
import { loweredMaxTokens, retryDelay } from './recovery.ts';
import type { AttemptEnd, LoopState, QueryAccount, ToolRun, TurnCounters } from './state.ts';
import { mismatchNote, mismatchOf, verdictOn } from './structured-output.ts';
import { recordOutcome, schedule, syntheticOutcome } from './tools/schedule.ts';
import { scheduleTools } from './tools/schedule-tools.ts';
import { isToolUseId, normaliseToolName } from './wire/blocks.ts';
import { buildRequest, conversation, currentModel, fittingMaxTokens } from './wire/request.ts';

/** Sends the next request. */
export function send(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const { seed, drawn, measured, modelCalls } = state.query;
  const attempt = {
    effectId: `streamModel-${idAt(seed, drawn + 1)}`,
    number: modelCalls + 1,
    messageId: idAt(seed, drawn + 2),
    model: currentModel(state, config),
    maxTokens: fittingMaxTokens(state, config) ?? 1,
    delayMs: state.scratch.delayMs,
    estimate: measured === null ? estimateAll(state, config) : null,
  };
  return {
    ...state,
    query: { ...state.query, drawn: drawn + 2, modelCalls: modelCalls + 1 },
    scratch: { ...state.scratch, ...noAttempt, attempt, delayMs: 0 },
  };
}

/** The whole request by the estimate alone, for learning how far estimates are off. */
function estimateAll(state: LoopState, config: LoopConfig): number {
  const tokens = fixedTokens(state, config) + estimateMessages(conversation(state));
  return Math.ceil(tokens * state.query.tokenRatio);
}

/** Takes in a whole block; a tool use may start early. */
export function reportBlock(state: LoopState, event: EventOf<'model.blockEnded'>, config: LoopConfig): LoopState {
  const { block, rawInput } = event;
  if (!isToolUse(block)) {
    return { ...state, scratch: { ...state.scratch, blocks: [...state.scratch.blocks, { block, rawInput: null }] } };
  }
  const [query, use] = normaliseToolUse(state, block);
  const [drawn, id] = drawId(query);
  const run: ToolRun = {
    toolUseId: use.id,
    name: use.name,
    input: use.input,
    verdict: event.verdict ?? { concurrencySafe: false, readOnly: false, replaySafe: false },
    status: rawInput === null ? 'waiting' : 'ended',
    effectId: `runTool-${id}`,
    outcome: rawInput === null ? null : syntheticOutcome(rawInputSentence(use.name, rawInput)),
    decisions: [],
  };
  const blocks = [...state.scratch.blocks, { block: use, rawInput }];
  const toolRuns = schedule([...state.scratch.toolRuns, run], 'early', config);
  return { ...state, query: drawn, scratch: { ...state.scratch, blocks, toolRuns } };
}

function rawInputSentence(name: string, raw: string): string {
  return `${name} did not run: its input is no JSON object. Send it again, whole. It was: ${raw}`;
}

/** A tool use with an id that is new in the session and a name that the API takes back. */
function normaliseToolUse(state: LoopState, block: ToolUseBlock): readonly [QueryAccount, ToolUseBlock] {
  const name = normaliseToolName(block.name);
  if (isToolUseId(block.id) && !isTaken(state, block.id)) {
    return [state.query, name === block.name ? block : { ...block, name }];
  }
  const [query, id] = drawId(state.query);
  return [query, { ...block, name, id: `toolu_${id}` }];
}

function isTaken(state: LoopState, id: string): boolean {
  const { toolRuns, additions } = state.scratch;
  if (toolRuns.some((run) => run.toolUseId === id)) return true;
  return usedIds(state.carried.messages).has(id) || additions.some((message) => toolIds(message).includes(id));
}

interface UsedIds {
  readonly messages: readonly Message[];
  readonly ids: Set<string>;
}

const usedMemo = new PrefixMemo<UsedIds>();

/** Ids of all tool uses in a history. */
function usedIds(messages: readonly Message[]): ReadonlySet<string> {
  const known = usedMemo.find(messages);
  if (known?.messages.length === messages.length) return known.ids;
  // The set is handed on, not copied: the shorter history is found no more once the longer one is kept.
  const ids = known?.ids ?? new Set<string>();
  for (const message of messages.slice(known?.messages.length ?? 0)) for (const id of toolIds(message)) ids.add(id);
  usedMemo.keep({ messages, ids });
  return ids;
}

function toolIds(message: Message): readonly string[] {
  return message.role === 'assistant' ? message.content.filter(isToolUse).map((block) => block.id) : [];
}

export function attemptAnswered(state: LoopState, event: EventOf<'model.answered'>, config: LoopConfig): LoopState {
  const { stopReason, usage, output } = event;
  return attemptEnded(state, { type: 'answered', stopReason, usage, output: verdictOn(output, config) }, config);
}

export function attemptFailed(state: LoopState, event: EventOf<'model.failed'>, config: LoopConfig): LoopState {
  const { failure, unfinished, usage } = event;
  return adopt(attemptEnded(state, { type: 'failed', failure, unfinished, usage }, config), failure);
}

function attemptEnded(state: LoopState, end: AttemptEnd, config: LoopConfig): LoopState {
  const scratch = { ...state.scratch, end };
  const verdict = judge(scratch);
  const overloaded = end.type === 'failed' && end.failure.class === 'overloaded';
  const account = accountFor(state.query, verdict, overloaded);
  const isWhole = end.type === 'answered' && verdict !== 'incomplete';
  const model = state.scratch.attempt?.model ?? currentModel(state, config);
  // A request that failed before anything was read is nothing to pay for, whatever the price.
  const isFree = end.type === 'failed' && isNothing(end.usage);
  const paid = isFree ? account : spend(account, end.usage, model, config);
  const query = { ...paid, retries: isWhole ? 0 : account.retries };
  return { ...state, query, scratch: { ...scratch, verdict } };
}

/** Figures in an error are the truth: the window, the largest output, the size of what was sent. */
function adopt(state: LoopState, failure: Failure): LoopState {
  const { input, window, maxOutput } = failure.tokens;
  if (input === null && window === null && maxOutput === null) return state;
  const { limits, measured } = state.query;
  const messages = state.carried.messages.length + state.scratch.additions.length;
  const query = {
    ...state.query,
    limits: { ...limits, contextWindow: window ?? limits.contextWindow, maxOutput: maxOutput ?? limits.maxOutput },
    measured: input === null ? measured : { tokens: input, messages },
  };
  return { ...state, query };
}

/** Asks again within the iteration: no compaction comes between, and one more of `counter` is used up. */
function reask(state: LoopState, counter: keyof TurnCounters | null): LoopState {
  const { turn } = state.query;
  const counted = counter === null ? turn : { ...turn, [counter]: turn[counter] + 1 };
  return {
    ...state,
    query: { ...state.query, turn: counted },
    scratch: { ...state.scratch, ...noAttempt, compactionTried: true },
  };
}

export function retry(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const delayMs = retryDelay(state, config);
  const asked = reask(dropAttempt(state, 'the request failed and is sent again'), null);
  const query = { ...asked.query, retries: asked.query.retries + 1 };
  return { ...asked, query, scratch: { ...asked.scratch, delayMs } };
}

/** The next model takes over; thinking of other models would be refused by it and is stripped, once and for good. */
export function fallBack(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const dropped = dropAttempt(state, 'the model is overloaded and another one takes over');
  const modelIndex = dropped.query.modelIndex + 1;
  const stripped = withoutThinking(dropped, (model) => model !== config.models[modelIndex]);
  const query = {
    ...stripped.query,
    modelIndex,
    limits: limitsOf(config, modelIndex),
    fallbacks: stripped.query.fallbacks + 1,
    retries: 0,
    overloadsInARow: 0,
    measured: null,
  };
  return { ...stripped, query };
}

function withoutThinking(state: LoopState, of: (model: string) => boolean): LoopState {
  return {
    ...state,
    carried: { ...state.carried, messages: stripThinking(state.carried.messages, of) },
    scratch: { ...state.scratch, additions: stripThinking(state.scratch.additions, of) },
    query: { ...state.query, measured: null },
  };
}

/** Sends the paused answer back as it is; one that no tool of the API paused cannot stand last, and is asked to go on. */
export function resendPaused(state: LoopState): LoopState {
  const kept = keepAnswer(state, 'whole');
  const { additions } = kept.scratch;
  const paused = additions.slice(additions.findLastIndex(({ role }) => role === 'user') + 1);
  const mayStandLast = paused.length === 0 || paused.some(({ content }) => content.some(isServerToolUse));
  return reask(mayStandLast ? kept : addNote(kept, 'continue_request', 'Go on.'), 'pauseTurns');
}

function isServerToolUse({ type }: Message['content'][number]): boolean {
  return type === 'server_tool_use';
}

/** Tells the model what was wrong: with error results when there are tool uses to answer, with a note else. */
export function reaskMalformed(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const answerable = state.scratch.toolRuns.length > 0 && state.scratch.toolRuns.every((run) => run.outcome !== null);
  if (answerable) return reask(keepResults(keepAnswer(state, 'whole'), config), 'malformedAnswers');
  const dropped = dropAttempt(state, 'it asked for tools in a form that cannot be run');
  return reask(addNote(dropped, 'continue_request', malformedNote), 'malformedAnswers');
}

const malformedNote =
  'Your last answer asked for tools in a form that cannot be run, and was dropped. Ask for them again, or answer in text.';

export function reaskThinkingOnly(state: LoopState): LoopState {
  const dropped = dropAttempt(state, 'it held thinking only');
  const note = 'Your last answer held no text and no tool use, and was dropped. Answer, or use a tool.';
  return reask(addNote(dropped, 'continue_request', note), 'thinkingOnly');
}

/** The answer stays, what is wrong with it follows, and the model answers again: as often in one query as the limit says. */
export function reaskOutput(state: LoopState): LoopState {
  const told = addNote(keepAnswer(state, 'whole'), 'output_mismatch', mismatchNote(mismatchOf(state)));
  const query = { ...told.query, outputMismatches: told.query.outputMismatches + 1 };
  return reask({ ...told, query }, null);
}

export function lowerMaxTokens(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const lowered = loweredMaxTokens(state, config);
  const asked = reask(dropAttempt(state, 'max_tokens was too large and is lowered'), 'loweredMaxTokens');
  return { ...asked, scratch: { ...asked.scratch, loweredMaxTokens: lowered } };
}

/** True when the request that was refused held thinking: the same body is never sent twice. */
export function sentThinking(state: LoopState, config: LoopConfig): boolean {
  const { messages } = buildRequest(state, config);
  return messages.some(({ content }) =>
    content.some(({ type }) => type === 'thinking' || type === 'redacted_thinking'),
  );
}

export function resendWithoutThinking(state: LoopState): LoopState {
  const dropped = dropAttempt(state, 'its thinking was refused and is stripped');
  return reask(
    withoutThinking(dropped, () => true),
    'thinkingStripped',
  );
}

export function resendWithoutMedia(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const before = conversation(state);
  const messages = withoutBoundThinking(before, replaceMedia(state, config) ?? before);
  const asked = reask(dropAttempt(state, 'media were too large and are replaced'), 'mediaReplaced');
  const edited = withConversation(asked, messages);
  return { ...edited, query: { ...edited.query, measured: null } };
}

/** Puts an outcome on its run and lets the next tools start. */
export function recordTool(state: LoopState, event: EventOf<'tool.ended'>, config: LoopConfig): LoopState {
  const recorded = recordOutcome(state.scratch.toolRuns, event.toolUseId, event.outcome);
  const paid = { ...state, query: spendByTool(state.query, event.outcome, config) };
  const recordedState = scheduleTools(paid, recorded, config);
  return event.outcome.notices.reduce((shown, text) => show(shown, { type: 'notice', text }), recordedState);
}
