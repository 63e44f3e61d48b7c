/** What user messages are made of: their blocks, and the parts of the tool results among them. */
import type { ToolResultBlock, UserBlock, UserMessage } from '../message.ts';

export type Part = Exclude<UserBlock, ToolResultBlock>;

/** The message with `change` done to every part of it; the same object when no part changed. */
export function mapParts(message: UserMessage, change: (part: Part) => Part): UserMessage {
  const content = message.content.map((block): UserBlock => {
    if (block.type !== 'tool_result') return change(block);
    const parts = block.content.map(change);
    return parts.some((part, index) => part !== block.content[index]) ? { ...block, content: parts } : block;
  });
  return content.some((block, index) => block !== message.content[index]) ? { ...message, content } : message;
}
