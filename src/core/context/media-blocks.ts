/** Media in messages, and messages without them. */
import type { Message, UserBlock } from '../message.ts';

export function holdsMedia(message: Message): boolean {
  return message.role === 'user' && message.content.some(isOrHoldsMedia);
}

const mediaCache = new WeakMap<Message, Message>();

/** The message with a word in the place of each image and document; the same object when it holds none. */
export function withoutMedia(message: Message): Message {
  if (message.role === 'assistant') return message;
  const known = mediaCache.get(message);
  if (known !== undefined) return known;
  const stripped = message.content.some(isOrHoldsMedia)
    ? { ...message, content: message.content.map(stripBlock) }
    : message;
  mediaCache.set(message, stripped);
  return stripped;
}

function isOrHoldsMedia(block: UserBlock): boolean {
  if (block.type === 'tool_result') return block.content.some(isOrHoldsMedia);
  return block.type !== 'text';
}

function stripBlock(block: UserBlock): UserBlock {
  if (block.type === 'text') return block;
  if (block.type !== 'tool_result') return { type: 'text', text: `[${block.type}]` };
  return { ...block, content: block.content.map((part) => stripBlock(part) as typeof part) };
}
