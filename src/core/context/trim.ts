/** Messages cut to a size: for a summariser whose input cannot be made shorter by whole turns. */
import { note } from '../answer.ts';
import type { Message, TextBlock } from '../message.ts';
import { cutHead, cutTail } from '../text.ts';
import { mapParts } from './parts.ts';
import { estimateMessage } from './tokens.ts';

/** Texts shorter than this many characters are never cut. */
const shortest = 1_000;
const gap = `\n${note('A part of this text was left out.')}\n`;

/** The messages with their largest texts cut so that all together take about `most` tokens. */
export function trimmed(messages: readonly Message[], most: number): readonly Message[] {
  const sizes = messages.map(estimateMessage);
  const cap = capFor(sizes, most);
  return messages.map((message, index) => (sizes[index]! <= cap ? message : cutTexts(message, cap / sizes[index]!)));
}

/** The largest size that each may have so that the sum is within `most`; what is smaller leaves its share to the rest. */
function capFor(sizes: readonly number[], most: number): number {
  let left = Math.max(0, most);
  const sorted = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of sorted.entries()) {
    const share = left / (sorted.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** True when `trimmed` can make the messages smaller. */
export function isTrimmable(messages: readonly Message[]): boolean {
  return messages.some((message) => cutTexts(message, 0.5) !== message);
}

/** Cuts each long text to `share` of its characters: both ends stay. The same object when there is none. */
function cutTexts(message: Message, share: number): Message {
  if (message.role === 'assistant') {
    const content = message.content.map((block) => (block.type === 'text' ? cutText(block, share) : block));
    return content.some((block, index) => block !== message.content[index]) ? { ...message, content } : message;
  }
  return mapParts(message, (part) => (part.type === 'text' ? cutText(part, share) : part));
}

function cutText(block: TextBlock, share: number): TextBlock {
  const end = Math.floor((block.text.length * share - gap.length) / 2);
  if (block.text.length < shortest || block.text.length <= 2 * end + gap.length) return block;
  const kept = Math.max(end, 200);
  return { ...block, text: `${cutHead(block.text, kept)}${gap}${cutTail(block.text, kept)}` };
}
