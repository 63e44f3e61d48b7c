/** Layer 1: drops the oldest whole turns. Off by default, since what it drops is gone. */
import { note, userMessage } from '../answer.ts';
import type { LoopConfig } from '../config.ts';
import { drawId } from '../ids.ts';
import type { Message } from '../message.ts';
import type { LoopState } from '../state.ts';
import { editHistory, isLayerDue } from './edit.ts';
import { isCutPoint, isSummary, newestUserIndex, tailStart } from './safe-cut.ts';
import { compactThreshold, tailSize } from './thresholds.ts';
import { contextSize, estimateMessages } from './tokens.ts';

const snippedText = note('Earlier turns of this conversation were left out to save room.');

/**
 * Above `layers.snipAbove` of the auto-compact threshold: the oldest turns go until `layers.snipTo` is reached. Summaries,
 * the user's newest words and the protected tail stay, and one marked message says that something is gone.
 */
export function snip(state: LoopState, config: LoopConfig): LoopState {
  if (!config.snip || !isLayerDue(state, config, config.layers.snipAbove)) return state;
  const { messages } = state.carried;
  const size = contextSize(state, config);
  const wanted = size - compactThreshold(state, config) * config.layers.snipTo;
  const { cut, freed } = planSnip(state, config, wanted);
  if (freed < size * config.minimumFreed) return state;
  const newest = newestUserIndex(messages);
  const words = newest < cut ? messages.slice(newest, newest + 1) : [];
  const [query, id] = drawId(state.query);
  const boundary = userMessage(id, 'boundary', [{ type: 'text', text: snippedText }]);
  const left = [...messages.slice(0, cut).filter(isSummary), boundary, ...words, ...messages.slice(cut)];
  return editHistory({ ...state, query }, left, 'snip', config);
}

/** The first cut that frees `wanted` tokens, or the last one before the protected tail. */
function planSnip(
  state: LoopState,
  config: LoopConfig,
  wanted: number,
): { readonly cut: number; readonly freed: number } {
  const { messages } = state.carried;
  const newest = newestUserIndex(messages);
  const stays = (message: Message, index: number): boolean => index === newest || isSummary(message);
  const last = tailStart(messages, tailSize(state, config));
  let best = { cut: 0, freed: 0 };
  let tokens = 0;
  for (let index = 1; index <= last && best.freed < wanted; index += 1) {
    const before = messages[index - 1]!;
    if (!stays(before, index - 1)) tokens += estimateMessages([before]) * state.query.tokenRatio;
    if (isCutPoint(messages, index) && beginsTurn(messages[index])) best = { cut: index, freed: tokens };
  }
  return best;
}

/** A turn begins with an answer or with the user's words; what the loop added belongs to the turn before. */
function beginsTurn(message: Message | undefined): boolean {
  return message === undefined || message.role === 'assistant' || message.origin === 'user';
}
