/** Single blocks in the form that the API accepts. A block that is fine comes back as the same object. */
import {
  type AssistantBlock,
  type AssistantMessage,
  isBlank,
  isThinking,
  type ToolResultBlock,
  type UserBlock,
} from '../message.ts';
import type { WireBlock } from './request-type.ts';

/** What stands where a tool said nothing: the API refuses an empty text. */
export const emptyResult = '(no output)';

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
const toolUseId = /^[a-zA-Z0-9_-]{1,128}$/;

/** True for a tool-use id that the API accepts. */
export function isToolUseId(id: string): boolean {
  return toolUseId.test(id);
}

/** A tool name that the API accepts: odd characters become `_`, an empty name `unknown_tool`, 64 characters at most. */
export function normaliseToolName(name: string): string {
  if (toolName.test(name)) return name;
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown_tool';
}

/** The blocks of an answer that a request may hold; `withThinking` is false when thinking must not be sent. */
export function sendableBlocks(message: AssistantMessage, withThinking: boolean): readonly AssistantBlock[] {
  const kept = message.content.filter((block) => isSendable(block, withThinking));
  return kept.length === message.content.length ? message.content : kept;
}

function isSendable(block: AssistantBlock, withThinking: boolean): boolean {
  if (block.type === 'text') return !isBlank(block.text);
  return withThinking || !isThinking(block);
}

/** Thinking may not be the last block of a message. */
export function withoutTrailingThinking(blocks: readonly AssistantBlock[]): readonly AssistantBlock[] {
  let end = blocks.length;
  while (end > 0 && isThinking(blocks[end - 1]!)) end -= 1;
  return end === blocks.length ? blocks : blocks.slice(0, end);
}

/** A user block in sendable form, or null when nothing of it can be sent. */
export function sendableUserBlock(block: UserBlock): UserBlock | null {
  if (block.type === 'text') return isBlank(block.text) ? null : block;
  return block.type === 'tool_result' ? sendableResult(block) : block;
}

function sendableResult(block: ToolResultBlock): ToolResultBlock {
  const content = block.content.filter((part) => part.type !== 'text' || !isBlank(part.text));
  if (content.length === 0) return { ...block, content: [{ type: 'text', text: emptyResult }] };
  return content.length === block.content.length ? block : { ...block, content };
}

/** Stored blocks have the shape of the wire; this says so to the compiler. */
export function asWire(blocks: readonly (AssistantBlock | UserBlock)[]): readonly WireBlock[] {
  return blocks as unknown as readonly WireBlock[];
}
