/** What one query of a session leaves to the next beside the history, so that it need not learn it again. */
import type { LoopConfig, ModelLimits } from './config.ts';
import { clampRatio, estimateMessages } from './context/tokens.ts';
import { digest } from './ids.ts';
import type { Message } from './message.ts';
import type { LoopState, MeasuredContext, ToolSpec } from './state.ts';

/** The API's own figure for a history, and how to know that history again. */
export interface SessionFigure extends MeasuredContext {
  /** Id of the last message that the figure counts. */
  readonly lastId: string;
  /** What those messages were estimated at, in tokens: an edited history gives another number. */
  readonly estimate: number;
}

/** Plain JSON. */
export interface SessionFacts {
  /** Hash of the system prompt and the tools that the newest request stood on: `prefixHashOf`. Null when nobody knows. */
  readonly prefixHash: string | null;
  /** The model that the rest is about, of which it alone is true; null when no model answered, or not the first of the list. */
  readonly model: string | null;
  /** Null when the API gave no figure since the last edit of history. */
  readonly measured: SessionFigure | null;
  /** Learnt factor from estimated to reported tokens, 0.7 to 2; 1 when nothing was learnt. */
  readonly tokenRatio: number;
  /** Limits as errors of the API taught them; null when they are those of the configuration. */
  readonly limits: ModelLimits | null;
}

/** Give it to the next query as `session`, in any phase. */
export function sessionFacts({ query, carried }: LoopState): SessionFacts {
  const { prefixHash, limits, configuredLimits, tokenRatio, measured } = query;
  const newest = carried.messages.findLast((message) => message.role === 'assistant');
  if (newest?.role !== 'assistant' || query.modelIndex > 0) return { ...nothingLearnt, prefixHash };
  const isLearnt =
    limits.contextWindow !== configuredLimits.contextWindow || limits.maxOutput !== configuredLimits.maxOutput;
  return {
    prefixHash,
    model: newest.model,
    measured: measured === null ? null : figureOf(carried.messages, measured),
    tokenRatio,
    limits: isLearnt ? limits : null,
  };
}

/** What is known of a session of which nothing is. */
export const nothingLearnt: SessionFacts = {
  prefixHash: null,
  model: null,
  measured: null,
  tokenRatio: 1,
  limits: null,
};

/** A figure with what makes its history known again; null when it counts messages that are not there. */
export function figureOf(messages: readonly Message[], figure: MeasuredContext): SessionFigure | null {
  const { tokens, messages: count } = figure;
  const last = messages[count - 1];
  return last === undefined
    ? null
    : { tokens, messages: count, lastId: last.id, estimate: estimateMessages(messages.slice(0, count)) };
}

/** What a new query takes over: nothing of another model, and no figure of another history, system prompt or tool list. */
export function takenOver(
  facts: SessionFacts | undefined,
  { messages, prefixHash }: { readonly messages: readonly Message[]; readonly prefixHash: string },
  config: LoopConfig,
): Pick<SessionFacts, 'tokenRatio' | 'limits'> & { readonly measured: MeasuredContext | null } {
  if (facts === undefined || facts.model !== config.models[0]) return nothingLearnt;
  const { measured, tokenRatio, limits } = facts;
  const holds = measured !== null && isSamePrefix(facts, prefixHash) && isSameHistory(measured, messages);
  return {
    measured: holds ? { tokens: measured.tokens, messages: measured.messages } : null,
    tokenRatio: clampRatio(tokenRatio),
    limits,
  };
}

/** True when nothing says that what stands before all messages has changed. */
export function isSamePrefix(facts: SessionFacts | undefined, prefixHash: string): boolean {
  return facts === undefined || facts.prefixHash === null || facts.prefixHash === prefixHash;
}

function isSameHistory({ messages: count, lastId, estimate }: SessionFigure, messages: readonly Message[]): boolean {
  return messages[count - 1]?.id === lastId && estimateMessages(messages.slice(0, count)) === estimate;
}

/** Says whether what stands before all messages is the same: thinking is bound to it on models that bind thinking. */
export function prefixHashOf(system: string, tools: readonly ToolSpec[]): string {
  return digest(JSON.stringify([system, tools]));
}
