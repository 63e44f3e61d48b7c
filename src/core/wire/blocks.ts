/** Single blocks in the form that the API accepts. A block that is fine comes back as the same object. */
import { isWellFormed, wellFormed } from '../json.ts';
import {
  type AssistantBlock,
  type AssistantMessage,
  isBlank,
  isServerResult,
  isThinking,
  isToolUse,
  type ToolResultBlock,
  type UserBlock,
} from '../message.ts';
import type { WireBlock } from './request-type.ts';
import { soundAssistantBlocks, userBlocks } from './sound.ts';

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
  const content = soundAssistantBlocks(message.content);
  if (content.every((block) => isSendable(block, withThinking) && sendableAssistantBlock(block) === block))
    return content;
  return content.filter((block) => isSendable(block, withThinking)).map(sendableAssistantBlock);
}

function isSendable(block: AssistantBlock, withThinking: boolean): boolean {
  switch (block.type) {
    case 'text':
      return !isBlank(block.text);
    case 'tool_use':
    case 'server_tool_use':
      return isToolUseId(block.id);
    case 'thinking':
    case 'redacted_thinking':
      // Thinking is signed and cannot be repaired.
      return withThinking && isWellFormed(block);
    default:
      return true;
  }
}

function sendableAssistantBlock(block: AssistantBlock): AssistantBlock {
  if (!isToolUse(block)) return wellFormed(block);
  const name = normaliseToolName(block.name);
  return wellFormed(name === block.name ? block : { ...block, name });
}

/** Tool uses of one message must have ids of their own: the later ones of the same id go. */
export function withUniqueUses(blocks: readonly AssistantBlock[]): readonly AssistantBlock[] {
  const seen = new Set<string>();
  const isNew = (block: AssistantBlock): boolean => {
    if (!isToolUse(block)) return true;
    const isFirst = !seen.has(block.id);
    seen.add(block.id);
    return isFirst;
  };
  const kept = blocks.filter(isNew);
  return kept.length === blocks.length ? blocks : kept;
}

/**
 * A tool of the API and its result are one unit: without either, the other goes. With `mayBeOpen` a use may wait for its
 * result, as the last answer does that ended in `pause_turn`.
 */
export function withServerPairs(blocks: readonly AssistantBlock[], mayBeOpen: boolean): readonly AssistantBlock[] {
  if (!blocks.some((block) => block.type === 'server_tool_use' || isServerResult(block))) return blocks;
  const open = new Map<string, number>();
  const dropped = new Set<number>();
  for (const [index, block] of blocks.entries()) {
    if (block.type === 'server_tool_use') {
      const earlier = open.get(block.id);
      if (earlier !== undefined) dropped.add(earlier);
      open.set(block.id, index);
    } else if (isServerResult(block) && !open.delete(block.tool_use_id)) dropped.add(index);
  }
  if (!mayBeOpen) for (const index of open.values()) dropped.add(index);
  return dropped.size === 0 ? blocks : blocks.filter((_block, index) => !dropped.has(index));
}

/** Thinking may not be the last block of a message. */
export function withoutTrailingThinking(blocks: readonly AssistantBlock[]): readonly AssistantBlock[] {
  let end = blocks.length;
  while (end > 0 && isThinking(blocks[end - 1]!)) end -= 1;
  return end === blocks.length ? blocks : blocks.slice(0, end);
}

/** A user block in sendable form, or null when nothing of it can be sent. */
export function sendableUserBlock(block: UserBlock): UserBlock | null {
  return block.type === 'text' && isBlank(block.text) ? null : wellFormed(block);
}

/** A result in sendable form. An error holds text only; what else it held stands behind the results: `mediaOfError`. */
export function sendableResult(block: ToolResultBlock): ToolResultBlock {
  const isFine = (part: ToolResultBlock['content'][number]): boolean =>
    part.type === 'text' ? !isBlank(part.text) : !block.is_error;
  if (block.content.length > 0 && block.content.every(isFine)) return wellFormed(block);
  const content = block.content.filter(isFine);
  if (content.length === 0) return wellFormed({ ...block, content: [{ type: 'text', text: emptyResult }] });
  return wellFormed({ ...block, content });
}

/** What an error result held and may stand by itself: images, documents, search results. */
export function mediaOfError(block: ToolResultBlock): readonly UserBlock[] {
  if (!block.is_error) return [];
  return block.content.filter((part) => userBlocks.has(part.type));
}

/** Stored blocks have the shape of the wire; this says so to the compiler. */
export function asWire(blocks: readonly (AssistantBlock | UserBlock)[]): readonly WireBlock[] {
  return blocks as unknown as readonly WireBlock[];
}
