/** Layer 4: what is summarised, what is left alone, and what the history looks like afterwards. */
import { note, userMessage } from '../answer.ts';
import { isShrinking, type LoopConfig } from '../config.ts';
import { isThinking, isToolUse, type Message, type UserBlock, type UserMessage } from '../message.ts';
import type { Compaction, LoopState } from '../state.ts';
import { projectHistory } from '../wire/project.ts';
import { assemble, conversation, currentModel } from '../wire/request.ts';
import type { WireRequest } from '../wire/request-type.ts';
import { compactThreshold, outputFloor, tailSize } from './thresholds.ts';
import {
  contextSize,
  estimateHistory,
  estimateMessage,
  estimateMessages,
  estimateText,
  fixedTokens,
} from './tokens.ts';

/** Models that bind thinking to everything before it: an edit of history takes all later thinking with it. */
const bindsThinking = /^claude-(fable-5-[12]|mythos-5-[12]|(opus|sonnet|haiku)-5-5)/;

/** What a summary request asks for at most, in tokens. */
const summaryTokens = 20_000;

const askForSummary = [
  'Summarise the conversation so far, so that the work can go on from the summary alone.',
  'Say: what the user asked for, in their words where they matter; what was decided and why; which files, commands',
  'and facts matter, with paths and names; what was done; what failed; what is left to do next.',
  'Write the summary only. Use no tool.',
].join(' ');

/** True when the context is large enough for auto-compact to begin, whether or not it may. */
function isOverThreshold(state: LoopState, config: LoopConfig): boolean {
  return contextSize(state, config) >= compactThreshold(state, config);
}

/** True when proactive compaction is wanted in this pass. */
export function needsCompaction(state: LoopState, config: LoopConfig): boolean {
  const { carried, scratch } = state;
  if (!config.autoCompact || isShrinking(config) || scratch.compactionTried) return false;
  return carried.transition !== 'reactive_compact_retry' && isOverThreshold(state, config);
}

/** True when three refills in a row came before this need: another summary would be filled up again at once. */
export function isRefilled(state: LoopState, config: LoopConfig): boolean {
  const { compacted, turnsSince, refills } = state.carried.autoCompactTracking;
  return compacted && turnsSince < config.limits.refillTurns && refills >= config.limits.refills;
}

/**
 * Index at which the protected tail begins: the largest tail that fits `tailSize`, cut where no tool use is separated
 * from its result. 0 when nothing can be summarised.
 */
function compactionCut(messages: readonly Message[], tail: number): number {
  let cut = messages.length;
  let tokens = 0;
  for (let index = messages.length - 1; index > 0; index -= 1) {
    tokens += estimateMessage(messages[index]!);
    if (tokens > tail) break;
    if (isCutPoint(messages, index)) cut = index;
  }
  return isCutPoint(messages, cut) ? cut : 0;
}

/** A cut before `index` separates no pair. */
export function isCutPoint(messages: readonly Message[], index: number): boolean {
  const before = messages[index - 1];
  return before !== undefined && !(before.role === 'assistant' && before.content.some(isToolUse));
}

/** The newest message that a person wrote: it stays as it is, however old. */
function newestUserIndex(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => message.role === 'user' && message.origin === 'user' && !message.refused);
}

/** What a compaction would summarise; null when there is nothing but the tail and the user's newest words. */
export function planCut(state: LoopState, config: LoopConfig): number | null {
  const messages = conversation(state);
  const cut = compactionCut(messages, tailSize(state, config));
  const newest = newestUserIndex(messages);
  const summarised = messages.slice(0, cut).filter((message, index) => index !== newest && !message.refused);
  return summarised.length === 0 ? null : cut;
}

/** The request to the summariser: the head of the conversation without media, then the order. */
export function buildCompactRequest(state: LoopState, config: LoopConfig, { skip, cut }: Compaction): WireRequest {
  const head = conversation(state).slice(skip, cut).map(withoutMedia);
  const ask = userMessage('summary-request', 'continue_request', [{ type: 'text', text: summaryOrder(config) }]);
  return assemble(state, config, {
    model: currentModel(state, config),
    maxTokens: Math.min(
      summaryTokens,
      state.query.limits.maxOutput,
      summaryRoom(state, inputSize(state, config, head)),
    ),
    thinking: null,
    messages: projectHistory([...head, ask], { thinkingOf: null, endsPaused: false }),
    outputConfig: null,
  });
}

/** A summary may take a third of a small window, and no more than its input leaves. */
function summaryRoom(state: LoopState, input: number): number {
  const { contextWindow } = state.query.limits;
  return Math.max(1, Math.min(Math.floor(contextWindow * 0.3), contextWindow - input));
}

/** Tokens of a request that summarises `head`. */
function inputSize(state: LoopState, config: LoopConfig, head: readonly Message[]): number {
  return Math.ceil((fixedInput(state, config) + estimateMessages(head)) * inputScale(state, config));
}

function fixedInput(state: LoopState, config: LoopConfig): number {
  return fixedTokens(state, config) + estimateText(summaryOrder(config));
}

/** How far the figure for the context, which the API may have given, is from the estimate of the same. */
function inputScale(state: LoopState, config: LoopConfig): number {
  return contextSize(state, config) / Math.max(1, fixedInput(state, config) + estimateMessages(conversation(state)));
}

/**
 * How many of the oldest messages the first request for a summary leaves out: as many as it takes to fit the window. 0 when
 * nothing would fit: then the API has the last word.
 */
export function firstSkip(state: LoopState, config: LoopConfig, cut: number): number {
  const messages = conversation(state);
  const most = (state.query.limits.contextWindow - outputFloor(state, config)) / inputScale(state, config);
  let tokens = fixedInput(state, config) + estimateMessages(messages.slice(0, cut).map(withoutMedia));
  for (let index = 0; index < cut; index += 1) {
    if (tokens <= most && (index === 0 || isCutPoint(messages, index))) return index;
    tokens -= estimateMessages([withoutMedia(messages[index]!)]);
  }
  return 0;
}

function summaryOrder(config: LoopConfig): string {
  return note(config.compactInstructions === null ? askForSummary : `${askForSummary} ${config.compactInstructions}`);
}

const mediaCache = new WeakMap<Message, Message>();

function withoutMedia(message: Message): Message {
  if (message.role === 'assistant') return message;
  const known = mediaCache.get(message);
  if (known !== undefined) return known;
  const stripped = message.content.some(holdsMedia)
    ? { ...message, content: message.content.map(stripBlock) }
    : message;
  mediaCache.set(message, stripped);
  return stripped;
}

function holdsMedia(block: UserBlock): boolean {
  if (block.type === 'tool_result') return block.content.some(holdsMedia);
  return block.type !== 'text';
}

function stripBlock(block: UserBlock): UserBlock {
  if (block.type === 'text') return block;
  if (block.type !== 'tool_result') return { type: 'text', text: `[${block.type}]` };
  return { ...block, content: block.content.map((part) => stripBlock(part) as typeof part) };
}

/** How many of the oldest messages to leave out of the summariser's input next; null when no shorter input is left. */
export function nextSkip(state: LoopState, compaction: Compaction): number | null {
  const messages = conversation(state);
  const left = compaction.cut - compaction.skip;
  for (let index = compaction.skip + Math.max(1, Math.ceil(left / 3)); index < compaction.cut; index += 1) {
    if (isCutPoint(messages, index)) return index;
  }
  return null;
}

/** The history after a compaction, and both sizes in the same measure. */
export interface Compacted {
  readonly messages: readonly Message[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export function applyCompaction(
  state: LoopState,
  config: LoopConfig,
  compaction: Compaction,
  summary: UserMessage,
): Compacted {
  const before = conversation(state);
  const newest = newestUserIndex(before);
  const request = newest >= 0 && newest < compaction.cut ? [before[newest]!] : [];
  const tail = trimThinking(before.slice(compaction.cut), currentModel(state, config));
  const messages = [summary, ...request, ...tail];
  return {
    messages,
    tokensBefore: estimateHistory(before, state, config),
    tokensAfter: estimateHistory(messages, state, config),
  };
}

/** Thinking before the cut went with it; on models that bind thinking to its prefix the rest goes too. */
function trimThinking(tail: readonly Message[], model: string): readonly Message[] {
  return bindsThinking.test(model) ? stripThinking(tail, () => true) : tail;
}

/** Drops the thinking of every answer that `of` picks; an answer without any comes back as the same object. */
export function stripThinking(messages: readonly Message[], of: (model: string) => boolean): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant' || !of(message.model) || !message.content.some(isThinking)) return message;
    return { ...message, content: message.content.filter((block) => !isThinking(block)) };
  });
}

/**
 * An edit that made `after` of `before`. Models that bind thinking to all before it refuse what stands from the first
 * edited message on, so that goes in the same edit.
 */
export function withoutBoundThinking(before: readonly Message[], after: readonly Message[]): readonly Message[] {
  const first = after.findIndex((message, index) => message !== before[index]);
  if (first < 0) return after;
  return [...after.slice(0, first), ...stripThinking(after.slice(first), (model) => bindsThinking.test(model))];
}

/** A compaction that worked frees enough, and brings the context under the threshold. */
export function freedEnough(compacted: Compacted, state: LoopState, config: LoopConfig): boolean {
  const limit = compacted.tokensBefore * (1 - config.minimumFreed);
  return compacted.tokensAfter <= limit && compacted.tokensAfter < compactThreshold(state, config);
}

/** What fills the context, as one sentence: the largest of its parts. `fixed`: tokens that no compaction can free. */
export function whatFills(state: LoopState, fixed: number): string {
  const messages = conversation(state);
  const newest = messages.findLast((message) => message.role === 'user' && message.origin === 'tool_results');
  const results = newest === undefined ? 0 : estimateMessage(newest);
  const parts = [
    { name: 'the system prompt and the tools', tokens: fixed },
    { name: 'the newest tool results', tokens: results },
    { name: 'the other messages', tokens: estimateMessages(messages) - results },
  ];
  const largest = parts.reduce((most, part) => (part.tokens > most.tokens ? part : most));
  return `The context is full: ${largest.name} take about ${largest.tokens} of ${state.query.limits.contextWindow} tokens.`;
}
