/** Layer 2: clears old results of named tools, by the ids of their calls. */
import { note } from '../answer.ts';
import type { LoopConfig } from '../config.ts';
import { isToolResult, isToolUse, type Message, type ToolResultBlock, type UserMessage } from '../message.ts';
import type { LoopState } from '../state.ts';
import { clearsOnServer } from './clear-on-server.ts';
import { editHistory, isLayerDue } from './edit.ts';
import { contextSize, estimateMessages } from './tokens.ts';

const clearedText = note('This old result was cleared to save room. Run the tool again if it is needed.');
const cleared: ToolResultBlock['content'] = [{ type: 'text', text: clearedText }];

/**
 * Above `layers.clearAbove` of the auto-compact threshold: results of the tools `layers.clearTools` are replaced by a
 * note, all but the newest `layers.clearKeep`, if that frees at least `layers.leastFreed` of the context.
 */
export function microcompact(state: LoopState, config: LoopConfig): LoopState {
  const { clearAbove, leastFreed } = config.layers;
  if (config.microcompact === 'off' || clearsOnServer(config) || !isLayerDue(state, config, clearAbove)) return state;
  const { messages } = state.carried;
  const old = new Set(callsOf(messages, config.layers.clearTools).slice(0, -Math.max(1, config.layers.clearKeep)));
  const left = messages.map((message) => (message.role === 'user' ? clearIn(message, old) : message));
  const freed = (estimateMessages(messages) - estimateMessages(left)) * state.query.tokenRatio;
  if (freed <= 0 || freed < contextSize(state, config) * leastFreed) return state;
  return editHistory(state, left, 'microcompact', config);
}

/** Ids of the calls of the named tools, oldest first. */
function callsOf(messages: readonly Message[], names: readonly string[]): readonly string[] {
  return messages
    .flatMap((message) =>
      message.role === 'user' ? [] : message.content.filter(isToolUse).filter(({ name }) => names.includes(name)),
    )
    .map(({ id }) => id);
}

function clearIn(message: UserMessage, ids: ReadonlySet<string>): UserMessage {
  const isOld = (block: UserMessage['content'][number]): block is ToolResultBlock =>
    isToolResult(block) && ids.has(block.tool_use_id) && !isCleared(block);
  if (!message.content.some(isOld)) return message;
  return {
    ...message,
    content: message.content.map((block) => (isOld(block) ? { ...block, content: cleared } : block)),
  };
}

/** A result that is cleared already, or that is shorter than the note that would stand for it. */
function isCleared({ content }: ToolResultBlock): boolean {
  const [only] = content;
  return content.length < 2 && (only === undefined || (only.type === 'text' && only.text.length <= clearedText.length));
}
