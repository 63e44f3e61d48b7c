/** Layer 4: when history is summarised, what is left alone, and what it looks like afterwards. */
import { isShrinking, type LoopConfig } from '../config.ts';
import type { AssistantMessage, Message, UserMessage } from '../message.ts';
import type { Compaction, LoopState } from '../state.ts';
import { conversation, currentModel } from '../wire/request.ts';
import { fitsWhole, firstSkip } from './compact-request.ts';
import { holdsMedia } from './media-blocks.ts';
import { isCutPoint, newestUserIndex, tailStart } from './safe-cut.ts';
import { bindsThinking, stripThinking } from './thinking.ts';
import { compactThreshold, hardLimit, tailSize } from './thresholds.ts';
import { contextSize, estimateHistory, estimateMessage, estimateMessages, fixedTokens } from './tokens.ts';

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

/** True when what no summary can touch is over the threshold by itself: every compaction frees too little. */
export function isHopeless(state: LoopState, config: LoopConfig): boolean {
  return fixedTokens(state, config) * state.query.tokenRatio >= compactThreshold(state, config);
}

/**
 * What a compaction would summarise; null when there is nothing but the tail and the user's newest words. One that an
 * overflow forces gives up the tail rather than the session.
 */
export function planCut(state: LoopState, config: LoopConfig, isForced = false): number | null {
  const messages = conversation(state);
  const kept = tailStart(messages, tailSize(state, config));
  const cut = isForced && kept === 0 ? tailStart(messages, 0) : kept;
  const newest = wordsIndex(state, messages);
  const summarised = messages.slice(0, cut).filter((message, index) => index !== newest && !message.refused);
  return summarised.length === 0 ? null : cut;
}

/**
 * The user's words that a compaction leaves as they are; -1 for none. Where the user asked for it, nothing waits for an
 * answer: what they said last would look like a new request.
 */
function wordsIndex({ query }: LoopState, messages: readonly Message[]): number {
  return query.manualCompaction === null ? newestUserIndex(messages) : -1;
}

/** A compaction that may begin now: what it summarises, how much of that its first request holds, and who writes it. */
export function planCompaction(
  state: LoopState,
  config: LoopConfig,
  { kind, cures }: Pick<Compaction, 'kind' | 'cures'>,
): Omit<Compaction, 'effectId'> {
  const isForced = kind === 'reactive_compact';
  const cut = planCut(state, config, isForced) ?? 0;
  const onDemandCut = isForced ? null : planOnDemand(state, config, cut);
  if (onDemandCut !== null) return { kind, cures, cut: onDemandCut, skip: 0, shrinks: 0, trim: 1, onDemand: true };
  return { kind, cures, cut, skip: firstSkip(state, config, cut), shrinks: 0, trim: 1, onDemand: false };
}

/**
 * Where the API's own compaction would cut; null when it may not be asked. It takes a history that fits and holds no
 * media that would have to be left out, and its block stands first as an answer: what follows must begin with the user.
 */
function planOnDemand(state: LoopState, config: LoopConfig, cut: number): number | null {
  const { limits, onDemandOff } = state.query;
  if (config.profile !== 'anthropic' || limits.onDemandCompaction !== true || onDemandOff) return null;
  const messages = conversation(state);
  const newest = wordsIndex(state, messages);
  const next = messages.findIndex(({ role }, index) => index >= cut && role === 'user' && isCutPoint(messages, index));
  // The user's newest words are put behind the block when they stand before the cut.
  const moved = newest >= 0 && newest < cut ? cut : next < 0 ? messages.length : next;
  const head = messages.slice(0, moved);
  const mayAsk = isCutPoint(messages, moved) && !head.some(holdsMedia) && fitsWhole(state, config, head);
  return mayAsk ? moved : null;
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
  { cut }: Compaction,
  summary: UserMessage | AssistantMessage,
): Compacted {
  const before = conversation(state);
  const newest = wordsIndex(state, before);
  const request = newest >= 0 && newest < cut ? [before[newest]!] : [];
  // Behind the API's own block alone the thinking of the turns that are kept stays valid.
  const isUnchanged = summary.role === 'assistant' && request.length === 0;
  const kept = before.slice(cut);
  const tail = isUnchanged ? kept : stripThinking(kept, () => bindsThinking(currentModel(state, config)));
  const messages = [summary, ...request, ...tail];
  return {
    messages,
    tokensBefore: estimateHistory(before, state, config),
    tokensAfter: estimateHistory(messages, state, config),
  };
}

/**
 * A compaction that worked frees enough, and brings the context under the threshold; one that the user asked for need
 * only get under the hard limit.
 */
export function freedEnough(compacted: Compacted, state: LoopState, config: LoopConfig): boolean {
  const isByHand = state.scratch.compaction?.kind === 'manual_compact';
  const limit = isByHand ? hardLimit(state, config) : compactThreshold(state, config);
  return compacted.tokensAfter <= compacted.tokensBefore * (1 - config.minimumFreed) && compacted.tokensAfter < limit;
}

/** What fills the context, as one sentence: the largest of the parts that no compaction makes smaller. */
export function whatFills(state: LoopState, config: LoopConfig): string {
  const messages = conversation(state);
  const results = messages.findLast((message) => message.role === 'user' && message.origin === 'tool_results');
  const words = messages[newestUserIndex(messages)];
  const size = (message: Message | undefined): number => (message === undefined ? 0 : estimateMessage(message));
  const tail = messages.slice(tailStart(messages, tailSize(state, config)));
  const rest = tail.filter((message) => message !== results && message !== words);
  const parts = [
    { name: 'the system prompt and the tools', tokens: fixedTokens(state, config) },
    { name: 'the newest tool results', tokens: size(results) },
    { name: 'the newest user message', tokens: size(words) },
    { name: 'the newest messages, which stay as they are,', tokens: estimateMessages(rest) },
  ];
  const largest = parts.reduce((most, part) => (part.tokens > most.tokens ? part : most));
  return `The context is full: ${largest.name} take about ${largest.tokens} of ${state.query.limits.contextWindow} tokens.`;
}
