/** Thinking and edits of history: what a model signed holds for the history that it was signed in. */
import { isThinking, type Message } from '../message.ts';

/** Models that check that everything before a thinking block is as it was (the API's documentation, late 2026). */
const binding = /^claude-(fable-5-[12]|mythos-5-[12]|(opus|sonnet|haiku)-5-5)/;

/** True for a model that binds thinking to its prefix: an edit of history takes all later thinking with it. */
export function bindsThinking(model: string): boolean {
  return binding.test(model);
}

/** Drops the thinking of every answer that `of` picks; an answer without any comes back as the same object. */
export function stripThinking(messages: readonly Message[], of: (model: string) => boolean): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== 'assistant' || !of(message.model) || !message.content.some(isThinking)) return message;
    return { ...message, content: message.content.filter((block) => !isThinking(block)) };
  });
}

/**
 * An edit that made `after` of `before`. Models that bind thinking to all before it refuse what stands from the first
 * edited message on, so that goes in the same edit.
 */
export function withoutBoundThinking(before: readonly Message[], after: readonly Message[]): readonly Message[] {
  const first = after.findIndex((message, index) => message !== before[index]);
  if (first < 0) return after;
  return [...after.slice(0, first), ...stripThinking(after.slice(first), bindsThinking)];
}
