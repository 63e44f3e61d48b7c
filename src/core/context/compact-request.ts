/** What the summariser is sent: the head of the conversation without media, as much of it as fits. */
import { note, userMessage } from '../answer.ts';
import type { LoopConfig } from '../config.ts';
import type { Failure } from '../failure.ts';
import type { Message } from '../message.ts';
import type { Compaction, LoopState } from '../state.ts';
import { projectHistory } from '../wire/project.ts';
import { assemble, conversation, currentModel, thinkingFor, withThinking } from '../wire/request.ts';
import type { WireRequest } from '../wire/request-type.ts';
import { withoutMedia } from './media-blocks.ts';
import { isCutPoint } from './safe-cut.ts';
import { outputFloor } from './thresholds.ts';
import { isTrimmable, trimmed } from './trim.ts';
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
  if (compaction.onDemand) return onDemandRequest(state, config, head);
  return summaryRequest(state, config, trimmedHead(state, config, head.map(withoutMedia), compaction.trim));
}

/** As much of the texts as fits; `trim`: the share that the API may still take after it refused more. */
function trimmedHead(state: LoopState, config: LoopConfig, head: readonly Message[], trim: number): readonly Message[] {
  if (trim === 1 && fitsWhole(state, config, head)) return head;
  const room = mostInput(state, config) - fixedInput(state, config);
  return trimmed(head, Math.min(room, estimateMessages(head) * trim));
}

function summaryRequest(state: LoopState, config: LoopConfig, shown: readonly Message[]): WireRequest {
  const model = currentModel(state, config);
  const maxTokens = summaryMaxTokens(state, config, shown);
  return summariseRequest(state, config, { model, maxTokens, shown, order: summaryOrder(state, config) });
}

interface SummaryOrder {
  readonly model: string;
  readonly maxTokens: number;
  /** What is summarised, without media. */
  readonly shown: readonly Message[];
  readonly order: string;
}

/** A request that has a model summarise a part of the conversation: that part, then the order. */
export function summariseRequest(
  state: LoopState,
  config: LoopConfig,
  { model, maxTokens, shown, order }: SummaryOrder,
): WireRequest {
  const ask = userMessage('summary-request', 'continue_request', [{ type: 'text', text: note(order) }]);
  const messages = projectHistory([...shown, ask], { thinkingOf: null, endsPaused: false });
  return assemble(state, config, { model, maxTokens, thinking: null, messages, outputConfig: null });
}

/** The same request as the loop would send, thinking included, or the API would find another conversation. */
function onDemandRequest(state: LoopState, config: LoopConfig, head: readonly Message[]): WireRequest {
  const model = currentModel(state, config);
  const maxTokens = summaryMaxTokens(state, config, head);
  const thinking = thinkingFor(config, maxTokens);
  const said = withThinking(head, { model, thinking, endsPaused: false });
  const request = assemble(state, config, { model, maxTokens, ...said, outputConfig: null });
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
  return contextSize(state, config) / Math.max(1, fixedTokens(state, config) + estimateMessages(conversation(state)));
}

/** What an input may be estimated at so that a summary still has room. */
function mostInput(state: LoopState, config: LoopConfig): number {
  return (state.query.limits.contextWindow - outputFloor(state, config)) / inputScale(state, config);
}

/** True when a request that summarises `head` leaves room for a summary. */
export function fitsWhole(state: LoopState, config: LoopConfig, head: readonly Message[]): boolean {
  return inputSize(state, config, head) <= state.query.limits.contextWindow - outputFloor(state, config);
}

/**
 * How many of the oldest messages the first request for a summary leaves out: as many as it takes to fit the window; where
 * not even the newest turn fits, all before it.
 */
export function firstSkip(state: LoopState, config: LoopConfig, cut: number): number {
  const messages = conversation(state);
  const most = mostInput(state, config);
  let last = 0;
  let tokens = fixedInput(state, config) + estimateMessages(messages.slice(0, cut).map(withoutMedia));
  for (let index = 0; index < cut; index += 1) {
    if (index === 0 || isCutPoint(messages, index)) last = index;
    if (tokens <= most && last === index) return index;
    tokens -= estimateMessages([withoutMedia(messages[index]!)]);
  }
  return last;
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
function nextSkip(state: LoopState, config: LoopConfig, compaction: Compaction, failure: Failure): number | null {
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

/** The compaction with a shorter input: fewer turns, or half of the texts that are left; null when nothing can go. */
export function shorterCompaction(
  state: LoopState,
  config: LoopConfig,
  compaction: Compaction,
  failure: Failure,
): Omit<Compaction, 'effectId'> | null {
  if (compaction.shrinks >= config.limits.compactionShrinks) return null;
  // The API itself summarises all or nothing.
  const next = { ...compaction, shrinks: compaction.shrinks + 1, onDemand: false };
  const skip = nextSkip(state, config, compaction, failure);
  if (skip !== null) return { ...next, skip };
  const head = conversation(state).slice(compaction.skip, compaction.cut);
  return isTrimmable(head) ? { ...next, trim: compaction.trim / 2 } : null;
}

/** Tokens that the refused input was over the window; 0 when the error does not say. */
function overflowOf(state: LoopState, { tokens }: Failure): number {
  if (tokens.input === null) return 0;
  return Math.max(0, tokens.input - (tokens.window ?? state.query.limits.contextWindow));
}
