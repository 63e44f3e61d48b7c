/** Facts that one query of a session hands to the next, so that it need not learn them again. */
import type { LoopConfig, ModelLimits } from './config.ts';
import { clampRatio, estimateMessages, estimateTools, systemTokens } from './context/tokens.ts';
import type { Message } from './message.ts';
import type { LoopState, MeasuredContext, ToolSpec } from './state.ts';

/** The API's own figure for a history, and how to know that history again. */
export interface SessionFigure extends MeasuredContext {
  /** Id of the last message that the figure counts. */
  readonly lastId: string;
  /** What those messages were estimated at: an edited history gives another number. */
  readonly estimate: number;
  /** What system prompt and tools were estimated at; null when nobody knows. */
  readonly fixed: number | null;
}

/** What is known of a session between two queries; plain JSON. */
export interface SessionFacts {
  /** The model that they are about; they say nothing of another one. */
  readonly model: string;
  /** Null when the API gave no figure since the last edit of history. */
  readonly measured: SessionFigure | null;
  /** Learnt factor from estimated to reported tokens, 0.7 to 2; 1 when nothing was learnt. */
  readonly tokenRatio: number;
  /** Limits as errors of the API taught them; null when they are those of the configuration. */
  readonly limits: ModelLimits | null;
}

/** What the next query may take over from a finished one; null when no model answered, or not the first of the list. */
export function sessionFacts({ query, carried }: LoopState): SessionFacts | null {
  const newest = carried.messages.findLast((message) => message.role === 'assistant');
  if (newest?.role !== 'assistant' || query.modelIndex > 0) return null;
  const { configured, limits, tokenRatio, measured } = query;
  const isLearnt =
    limits.contextWindow !== configured.limits.contextWindow || limits.maxOutput !== configured.limits.maxOutput;
  const fixed = configured.systemTokens + estimateTools(query.tools);
  return {
    model: newest.model,
    measured: measured === null ? null : figureOf(carried.messages, measured, fixed),
    tokenRatio,
    limits: isLearnt ? limits : null,
  };
}

/** A figure with what makes its history known again; null when it counts messages that are not there. */
export function figureOf(
  messages: readonly Message[],
  { tokens, messages: count }: MeasuredContext,
  fixed: number | null,
): SessionFigure | null {
  const last = messages[count - 1];
  if (last === undefined) return null;
  return { tokens, messages: count, lastId: last.id, estimate: estimateMessages(messages.slice(0, count)), fixed };
}

/** What a new query believes of `facts`: nothing of another model, and no figure of another history, prompt or tool list. */
export function believedFacts(
  facts: SessionFacts | null | undefined,
  messages: readonly Message[],
  tools: readonly ToolSpec[],
  config: LoopConfig,
): Omit<SessionFacts, 'model' | 'measured'> & { readonly measured: MeasuredContext | null } {
  if (facts === null || facts === undefined || facts.model !== config.models[0]) {
    return { measured: null, tokenRatio: 1, limits: null };
  }
  const { measured, tokenRatio, limits } = facts;
  const fixed = systemTokens(config) + estimateTools(tools);
  const holds = measured !== null && isSameHistory(measured, messages) && (measured.fixed ?? fixed) === fixed;
  return {
    measured: holds ? { tokens: measured.tokens, messages: measured.messages } : null,
    tokenRatio: clampRatio(tokenRatio),
    limits,
  };
}

function isSameHistory({ messages: count, lastId, estimate }: SessionFigure, messages: readonly Message[]): boolean {
  return messages[count - 1]?.id === lastId && estimateMessages(messages.slice(0, count)) === estimate;
}
