/** Edits of history that need no model call, and what they mean for the token count. */
import { show } from '../answer.ts';
import type { LoopConfig } from '../config.ts';
import type { Message } from '../message.ts';
import type { Output } from '../output.ts';
import type { LoopState, MeasuredContext } from '../state.ts';
import { conversation, currentModel } from '../wire/request.ts';
import { bindsThinking } from './thinking.ts';
import { compactThreshold } from './thresholds.ts';
import { contextSize, estimateHistory } from './tokens.ts';

type BoundaryKind = Extract<Output, { type: 'boundary' }>['kind'];

/** The state with another stored history, and a boundary that says what the edit freed. */
export function editHistory(
  state: LoopState,
  messages: readonly Message[],
  kind: BoundaryKind,
  config: LoopConfig,
): LoopState {
  const edited = withHistory(state, messages, config);
  const tokensBefore = estimateHistory(state.carried.messages, state, config);
  const tokensAfter = estimateHistory(messages, state, config);
  return show(edited, { type: 'boundary', kind, tokensBefore, tokensAfter });
}

/** The state with another stored history, counted anew. */
export function withHistory(state: LoopState, messages: readonly Message[], config: LoopConfig): LoopState {
  const carried = { ...state.carried, messages };
  const measured = measuredAfterEdit(state, [...messages, ...state.scratch.additions], config);
  return { ...state, carried, query: { ...state.query, measured } };
}

/** The state with another conversation of as many messages, split as it was into history and additions. */
export function withConversation(state: LoopState, messages: readonly Message[]): LoopState {
  const count = state.carried.messages.length;
  return {
    ...state,
    carried: { ...state.carried, messages: messages.slice(0, count) },
    scratch: { ...state.scratch, additions: messages.slice(count) },
  };
}

/** The API's figure for the history that an edit left: the older figure less the estimate of what the edit freed. */
function measuredAfterEdit(
  before: LoopState,
  messages: readonly Message[],
  config: LoopConfig,
): MeasuredContext | null {
  if (before.query.measured === null) return null;
  const freed = estimateHistory(conversation(before), before, config) - estimateHistory(messages, before, config);
  return { tokens: Math.max(0, contextSize(before, config) - freed), messages: messages.length };
}

/**
 * True when the context is over `share` of the auto-compact threshold. Where an edit would cost the thinking behind it,
 * since the model binds thinking to its prefix, layers wait until auto-compact would begin, and then run as one edit.
 */
export function isLayerDue(state: LoopState, config: LoopConfig, share: number): boolean {
  const waits = config.thinking !== 'off' && bindsThinking(currentModel(state, config));
  return contextSize(state, config) >= compactThreshold(state, config) * (waits ? 1 : share);
}
