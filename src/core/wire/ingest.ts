/** Messages in the API's own form, of any age and state of repair, to messages of the loop. */
import { textIn } from '../json.ts';
import { isBlank, type Message, type TextBlock, type ToolResultBlock } from '../message.ts';

/** A message as the API takes it, loosely: stored sessions hold all kinds of it. */
export interface LooseMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly Readonly<Record<string, unknown>>[];
  readonly [key: string]: unknown;
}

/** Reads messages of the API; `model` is who wrote the answers that do not say. Ids are `h0`, `h1`, ... */
export function ingestMessages(messages: readonly LooseMessage[], model: string): readonly Message[] {
  return messages.map((message, index) => ingest(message, `h${index}`, model));
}

function ingest(message: LooseMessage, id: string, model: string): Message {
  const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
  const content = blocks.map(ingestBlock) as never;
  if (message.role === 'assistant') {
    return { role: 'assistant', id, model: textIn(message['model']) || model, content, refused: false };
  }
  const onlyResults = blocks.length > 0 && blocks.every((block) => block['type'] === 'tool_result');
  return { role: 'user', id, origin: onlyResults ? 'tool_results' : 'user', content, refused: false };
}

function ingestBlock(block: Readonly<Record<string, unknown>>): unknown {
  if (block['type'] === 'tool_result') return ingestResult(block);
  if (block['type'] === 'text') return { ...block, text: textIn(block['text']).toWellFormed() };
  return block;
}

function ingestResult(block: Readonly<Record<string, unknown>>): ToolResultBlock {
  const { content } = block;
  const parts = Array.isArray(content) ? (content as ToolResultBlock['content']) : [textOf(content)];
  return {
    type: 'tool_result',
    tool_use_id: textIn(block['tool_use_id']),
    content: parts.filter((part) => part.type !== 'text' || !isBlank(part.text)),
    is_error: block['is_error'] === true,
  };
}

function textOf(content: unknown): TextBlock {
  const text = typeof content === 'string' ? content : content === undefined ? '' : JSON.stringify(content);
  return { type: 'text', text: text.toWellFormed() };
}
