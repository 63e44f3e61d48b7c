/** What an edit of history that needs no model call means for the token count. */
import type { LoopConfig } from '../config.ts';
import type { Message } from '../message.ts';
import type { LoopState, MeasuredContext } from '../state.ts';
import { conversation } from '../wire/request.ts';
import { contextSize, estimateHistory } from './tokens.ts';

/** The API's figure for the history that an edit left: the older figure less the estimate of what the edit freed. */
export function measuredAfterEdit(
  before: LoopState,
  messages: readonly Message[],
  config: LoopConfig,
): MeasuredContext | null {
  if (before.query.measured === null) return null;
  const freed = estimateHistory(conversation(before), before, config) - estimateHistory(messages, before, config);
  return { tokens: Math.max(0, contextSize(before, config) - freed), messages: messages.length };
}
