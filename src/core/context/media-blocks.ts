/** Media in messages, and messages without them. */
import type { Message } from '../message.ts';
import { mapParts, type Part } from './parts.ts';

export function holdsMedia(message: Message): boolean {
  return withoutMedia(message) !== message;
}

const mediaCache = new WeakMap<Message, Message>();

/** The message with a word in the place of each image and document; the same object when it holds none. */
export function withoutMedia(message: Message): Message {
  if (message.role === 'assistant') return message;
  const known = mediaCache.get(message);
  if (known !== undefined) return known;
  const stripped = mapParts(message, stripPart);
  mediaCache.set(message, stripped);
  return stripped;
}

function stripPart(part: Part): Part {
  return part.type === 'text' ? part : { type: 'text', text: `[${part.type}]` };
}
