/** What the summariser is sent: the head of the conversation without media, as much of it as fits. */
import { note, userMessage } from '../answer.ts';
import type { LoopConfig } from '../config.ts';
import type { Failure } from '../failure.ts';
import type { Message } from '../message.ts';
import type { Compaction, LoopState } from '../state.ts';
import { projectHistory } from '../wire/project.ts';
import { assemble, conversation, currentModel, thinkingFor } from '../wire/request.ts';
import type { WireRequest } from '../wire/request-type.ts';
import { withoutMedia } from './media-blocks.ts';
import { isCutPoint } from './safe-cut.ts';
import { outputFloor } from './thresholds.ts';
import { contextSize, estimateMessages, estimateText, fixedTokens } from './tokens.ts';

/** What a summary request asks for at most, in tokens. */
const summaryTokens = 20_000;

const askForSummary = [
  'Summarise the conversation so far, so that the work can go on from the summary alone.',
  'Say: what the user asked for, in their words where they matter; what was decided and why; which files, commands',
  'and facts matter, with paths and names; what was done; what failed; what is left to do next.',
  'Write the summary only. Use no tool.',
].join(' ');

/** The request to the summariser: the head of the conversation, then the order; or the head for the API to summarise. */
export function buildCompactRequest(state: LoopState, config: LoopConfig, compaction: Compaction): WireRequest {
  const head = conversation(state).slice(compaction.skip, compaction.cut);
  return compaction.onDemand ? onDemandRequest(state, config, head) : summaryRequest(state, config, head);
}

function summaryRequest(state: LoopState, config: LoopConfig, head: readonly Message[]): WireRequest {
  const shown = head.map(withoutMedia);
  const order = note(summaryOrder(state, config));
  const ask = userMessage('summary-request', 'continue_request', [{ type: 'text', text: order }]);
  return assemble(state, config, {
    model: currentModel(state, config),
    maxTokens: summaryMaxTokens(state, config, shown),
    thinking: null,
    messages: projectHistory([...shown, ask], { thinkingOf: null, endsPaused: false }),
    outputConfig: null,
  });
}

/** The same request as the loop would send, thinking included, or the API would find another conversation. */
function onDemandRequest(state: LoopState, config: LoopConfig, head: readonly Message[]): WireRequest {
  const model = currentModel(state, config);
  const maxTokens = summaryMaxTokens(state, config, head);
  const thinking = thinkingFor(config, maxTokens);
  const facts = { thinkingOf: thinking === null ? null : model, endsPaused: false };
  const request = assemble(state, config, {
    model,
    maxTokens,
    thinking,
    messages: projectHistory(head, facts),
    outputConfig: null,
  });
  // Instructions replace the prompt of the API, so they come with one of ours.
  const own = instructionsOf(state, config) === null ? {} : { instructions: summaryOrder(state, config) };
  return { ...request, compaction: { type: 'summarize', ...own } };
}

function summaryMaxTokens(state: LoopState, config: LoopConfig, head: readonly Message[]): number {
  const room = summaryRoom(state, inputSize(state, config, head));
  return Math.min(summaryTokens, state.query.limits.maxOutput, room);
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
  return fixedTokens(state, config) + estimateText(summaryOrder(state, config));
}

/** How far the figure for the context, which the API may have given, is from the estimate of the same. */
function inputScale(state: LoopState, config: LoopConfig): number {
  return contextSize(state, config) / Math.max(1, fixedInput(state, config) + estimateMessages(conversation(state)));
}

/** True when a request that summarises `head` leaves room for a summary. */
export function fitsWhole(state: LoopState, config: LoopConfig, head: readonly Message[]): boolean {
  return inputSize(state, config, head) <= state.query.limits.contextWindow - outputFloor(state, config);
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

function summaryOrder(state: LoopState, config: LoopConfig): string {
  const instructions = instructionsOf(state, config);
  return instructions === null ? askForSummary : `${askForSummary} ${instructions}`;
}

/** What the user wants of a summary that they asked for beats what the host wants of every summary. */
function instructionsOf({ query }: LoopState, config: LoopConfig): string | null {
  return query.manualCompaction?.instructions ?? config.compactInstructions;
}

/**
 * How many of the oldest messages to leave out of the summariser's input after the API called it too long: what it was
 * over by, and a fifth more since estimates err; a third of what is left when the error does not say. Null when no
 * shorter input is left.
 */
export function nextSkip(
  state: LoopState,
  config: LoopConfig,
  compaction: Compaction,
  failure: Failure,
): number | null {
  const messages = conversation(state);
  const { skip, cut } = compaction;
  const over = (overflowOf(state, failure) * 1.2) / inputScale(state, config);
  const least = over > 0 ? skip + 1 : skip + Math.max(1, Math.ceil((cut - skip) / 3));
  let freed = 0;
  for (let index = skip + 1; index < cut; index += 1) {
    freed += estimateMessages([withoutMedia(messages[index - 1]!)]);
    if (index >= least && freed >= over && isCutPoint(messages, index)) return index;
  }
  return null;
}

/** Tokens that the refused input was over the window; 0 when the error does not say. */
function overflowOf(state: LoopState, { tokens }: Failure): number {
  if (tokens.input === null) return 0;
  return Math.max(0, tokens.input - (tokens.window ?? state.query.limits.contextWindow));
}
