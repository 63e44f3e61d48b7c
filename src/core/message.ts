/**
 * The conversation as the loop stores it. Blocks have the shape of the Messages API (so the names are the API's own,
 * in snake_case); messages add what the loop must know about where they came from.
 */
import type { Json, JsonObject } from './json.ts';

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageBlock {
  readonly type: 'image';
  readonly source:
    | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
    | { readonly type: 'url'; readonly url: string };
}

export interface DocumentBlock {
  readonly type: 'document';
  readonly source: JsonObject;
  readonly title?: string;
}

/** `signature` binds the block to the model and to everything before it; the text may be empty and still count. */
export interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature: string;
}

export interface RedactedThinkingBlock {
  readonly type: 'redacted_thinking';
  readonly data: string;
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: readonly (TextBlock | ImageBlock | DocumentBlock)[];
  readonly is_error: boolean;
}

/** A tool that the API itself runs; its result stands in the same assistant message. */
export interface ServerToolUseBlock {
  readonly type: 'server_tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** The result of a server tool, `web_search_tool_result` for one. Kept as it came. */
export interface ServerToolResultBlock {
  readonly type: `${string}_tool_result`;
  readonly tool_use_id: string;
  readonly content: Json;
}

/** The API's own signed summary of what came before; sent back as it came. */
export interface CompactionBlock {
  readonly type: 'compaction';
  readonly content: Json;
  readonly [key: string]: Json;
}

export type AssistantBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ServerToolUseBlock
  | ServerToolResultBlock
  | CompactionBlock;

export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock;

/**
 * Who put a user message into the history. Only `user` is a person's (or the host's) own words; every other message is
 * made by the loop and is marked as such in its text, so that the model never takes it for a request.
 */
export type Origin =
  | 'user'
  | 'tool_results'
  | 'summary'
  | 'continue_request'
  | 'stop_hook'
  | 'output_mismatch'
  | 'budget_nudge'
  | 'interruption'
  | 'attachment'
  | 'boundary'
  | 'advice';

export interface UserMessage {
  readonly role: 'user';
  /** Unique in the session; the uuid that the consumer sees. */
  readonly id: string;
  readonly origin: Origin;
  readonly content: readonly UserBlock[];
  /** Left out of every request: the model refused what this message asks, or a hook did not let it pass. */
  readonly refused: boolean;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly id: string;
  /** The model that wrote it: thinking is only sent back to the model that signed it. */
  readonly model: string;
  readonly content: readonly AssistantBlock[];
  readonly refused: boolean;
}

export type Message = UserMessage | AssistantMessage;

/** Tokens of one answer or a sum of answers. The whole input is `input + cacheRead + cacheCreation`. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheCreation: number;
}

/** What was used of one model. */
export interface ModelUsage {
  readonly model: string;
  readonly usage: Usage;
}

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 };

/** True when nothing was read and nothing written. */
export function isNothing(usage: Usage): boolean {
  return Object.values(usage).every((tokens) => tokens === 0);
}

/** Adds two usages member by member; negative or missing figures of a server count as 0. */
export function addUsage(left: Usage, right: Usage): Usage {
  const plus = (a: number, b: number): number => a + Math.max(0, b);
  return {
    input: plus(left.input, right.input),
    output: plus(left.output, right.output),
    cacheRead: plus(left.cacheRead, right.cacheRead),
    cacheCreation: plus(left.cacheCreation, right.cacheCreation),
  };
}

/** Adds usages model by model; a model that is new stands last. */
export function addSpent(spent: readonly ModelUsage[], more: readonly ModelUsage[]): readonly ModelUsage[] {
  return more.reduce<readonly ModelUsage[]>((sums, { model, usage }) => {
    const known = sums.some((sum) => sum.model === model);
    if (!known) return [...sums, { model, usage: addUsage(noUsage, usage) }];
    return sums.map((sum) => (sum.model === model ? { model, usage: addUsage(sum.usage, usage) } : sum));
  }, spent);
}

/** What a query and its tools have used together. */
export function totalUsage(account: { readonly usage: Usage; readonly spentByTools: readonly ModelUsage[] }): Usage {
  return account.spentByTools.reduce((sum, { usage }) => addUsage(sum, usage), account.usage);
}

/** All tokens that the model has read and written for this answer: the size of the context right after it. */
export function contextTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheCreation + usage.output;
}

export function isToolUse(block: AssistantBlock): block is ToolUseBlock {
  return block.type === 'tool_use';
}

export function isThinking(block: AssistantBlock): block is ThinkingBlock | RedactedThinkingBlock {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

export function isServerResult(block: AssistantBlock): block is ServerToolResultBlock {
  return block.type.endsWith('_tool_result');
}

export function isToolResult(block: UserBlock): block is ToolResultBlock {
  return block.type === 'tool_result';
}

/** True for text that is empty or only white space: the API refuses such a block. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
