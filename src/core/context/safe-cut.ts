/** Where a history may be cut: between turns, never between a tool use and its result. */
import { isToolUse, type Message } from '../message.ts';
import { estimateMessage } from './tokens.ts';

/**
 * Index at which the protected tail begins: the largest tail that fits `tailSize`, cut where no tool use is separated
 * from its result. 0 when it is the whole history, or no cut is safe.
 */
export function tailStart(messages: readonly Message[], tail: number): number {
  let cut = messages.length;
  let tokens = 0;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    tokens += estimateMessage(messages[index]!);
    if (tokens > tail) return isCutPoint(messages, cut) ? cut : 0;
    if (isCutPoint(messages, index)) cut = index;
  }
  return 0;
}

/** A cut before `index` separates no pair. */
export function isCutPoint(messages: readonly Message[], index: number): boolean {
  const before = messages[index - 1];
  return before !== undefined && !(before.role === 'assistant' && before.content.some(isToolUse));
}

/** The newest message that a person wrote: it stays as it is, however old. */
export function newestUserIndex(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => message.role === 'user' && message.origin === 'user' && !message.refused);
}

/** True for what stands for messages that are gone: dropping it would lose them twice. */
export function isSummary(message: Message): boolean {
  return message.role === 'user' ? message.origin === 'summary' : message.content[0]?.type === 'compaction';
}
