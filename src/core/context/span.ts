/** Which span of the history the small model summarises next, and what becomes of its summary. */
import { isShrinking, type LoopConfig, type ModelLimits } from '../config.ts';
import { paidSmall } from '../cost.ts';
import type { EventOf } from '../event.ts';
import { drawId } from '../ids.ts';
import { isBlank, type Message } from '../message.ts';
import type { LoopState } from '../state.ts';
import type { WireRequest } from '../wire/request-type.ts';
import { type Span, spanRange } from './collapse.ts';
import { summariseRequest } from './compact-request.ts';
import { withoutMedia } from './media-blocks.ts';
import { isCutPoint, isSummary, newestUserIndex, tailStart } from './safe-cut.ts';
import { compactThreshold, tailSize } from './thresholds.ts';
import { contextSize, estimateMessage, estimateMessages, estimateText } from './tokens.ts';

/** A span needs no longer summary, in tokens. */
const spanTokens = 4_000;
/** Share of the small model's window that a span may fill. */
const mostOfWindow = 0.5;

const askForSpan = [
  'Summarise the part of a conversation above, so that it can be replaced by your summary: what was asked, found,',
  'decided and changed, with paths and names. Write the summary only. Use no tool.',
].join(' ');

/** True when the small model should summarise a span now. One at a time; failures in a row end it. */
export function wantsSpan(state: LoopState, config: LoopConfig): boolean {
  const { pendingSpan, spanFailures } = state.query;
  if (!config.collapse || config.smallModel === null || isShrinking(config) || pendingSpan !== null) return false;
  if (spanFailures >= config.limits.spanFailures) return false;
  if (contextSize(state, config) < compactThreshold(state, config) * config.layers.stageAbove) return false;
  return planSpan(state, config) !== null;
}

export function requestSpan(state: LoopState, _event: unknown, config: LoopConfig): LoopState {
  const span = planSpan(state, config);
  if (span === null) return state;
  const [query, id] = drawId(state.query);
  return { ...state, query: { ...query, pendingSpan: { ...span, effectId: `summarizeSpan-${id}` } } };
}

/**
 * The oldest turns that are no summary and in no staged span, up to `layers.spanSize`; never the user's newest words nor
 * the protected tail. Null when they are not worth a summary.
 */
function planSpan(state: LoopState, config: LoopConfig): Span | null {
  const { messages } = state.carried;
  const from = firstFree(state);
  const to = tailStart(messages, tailSize(state, config));
  const newest = newestUserIndex(messages);
  if (newest < from || newest >= to) return spanWithin(state, config, from, to);
  return spanWithin(state, config, from, newest) ?? spanWithin(state, config, newest + 1, to);
}

/** Behind everything that was summarised or is staged: each span collapses once. */
function firstFree({ carried, query }: LoopState): number {
  const { messages } = carried;
  const staged = query.staged.map(({ lastId }) => messages.findIndex(({ id }) => id === lastId));
  return 1 + Math.max(-1, messages.findLastIndex(isSummary), ...staged);
}

function spanWithin(state: LoopState, config: LoopConfig, from: number, to: number): Span | null {
  const { messages } = state.carried;
  const threshold = compactThreshold(state, config);
  const most = Math.min(threshold * config.layers.spanSize, smallLimits(config).contextWindow * mostOfWindow);
  let end = from;
  let tokens = 0;
  let size = 0;
  for (let index = from; index < to; index += 1) {
    const message = messages[index]!;
    if (!message.refused) size += estimateMessage(message) * state.query.tokenRatio;
    if (size > most && end > from) break;
    if (isCutPoint(messages, index + 1)) {
      end = index + 1;
      tokens = size;
    }
  }
  const first = messages[from];
  const last = messages[end - 1];
  if (end === from || first === undefined || last === undefined) return null;
  const isWorth =
    tokens >= threshold * config.layers.leastFreed && tokens <= smallLimits(config).contextWindow * mostOfWindow;
  return isWorth ? { firstId: first.id, lastId: last.id } : null;
}

function smallLimits(config: LoopConfig): ModelLimits {
  return config.modelLimits[config.smallModel ?? ''] ?? config.fallbackLimits;
}

/** The request to the small model. */
export function buildSpanRequest(state: LoopState, config: LoopConfig, span: Span): WireRequest {
  return summariseRequest(state, config, {
    model: config.smallModel ?? '',
    maxTokens: Math.min(spanTokens, smallLimits(config).maxOutput),
    shown: messagesOf(state, span).map(withoutMedia),
    order: askForSpan,
  });
}

function messagesOf({ carried }: LoopState, span: Span): readonly Message[] {
  const range = spanRange(carried.messages, span);
  return range === null ? [] : carried.messages.slice(range.first, range.last + 1);
}

/** A summary that is there and shorter than its span is staged; anything else is a failure. */
export function stageSpan(state: LoopState, event: EventOf<'span.summarized'>, config: LoopConfig): LoopState {
  const { pendingSpan, spanFailures, staged } = state.query;
  if (pendingSpan === null) return state;
  const { firstId, lastId } = pendingSpan;
  const query = { ...paidSmall(state.query, event, config), pendingSpan: null };
  const summary = event.text ?? '';
  const isUsable = !isBlank(summary) && estimateText(summary) < estimateMessages(messagesOf(state, pendingSpan));
  if (!isUsable) return { ...state, query: { ...query, spanFailures: spanFailures + 1 } };
  return { ...state, query: { ...query, spanFailures: 0, staged: [...staged, { firstId, lastId, summary }] } };
}
