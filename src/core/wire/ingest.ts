/** Messages in the API's own form, of any age and state of repair, to messages of the loop. */
import { isObject, textIn } from '../json.ts';
import { isBlank, type Message, type Origin, type TextBlock } from '../message.ts';

/** A message as the API takes it, loosely: stored sessions hold all kinds of it. */
export interface LooseMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly Readonly<Record<string, unknown>>[];
  readonly [key: string]: unknown;
}

/**
 * Reads messages of the API; `model` is who wrote the answers that do not say. Ids are `h0`, `h1`, ... What has another
 * shape than the API takes is left as it is, for the repair of the history to find; a message of the system is told like
 * an attachment.
 */
export function ingestMessages(messages: readonly LooseMessage[], model: string): readonly Message[] {
  return messages.map((message, index) => ingest(isObject(message) ? message : {}, `h${index}`, model));
}

function ingest(message: Readonly<Record<string, unknown>>, id: string, model: string): Message {
  const blocks = blocksIn(message['content']);
  const content = blocks.map(ingestBlock) as never;
  if (message['role'] === 'assistant') {
    return { role: 'assistant', id, model: textIn(message['model']) || model, content, refused: false };
  }
  const onlyResults = blocks.length > 0 && blocks.every((block) => block['type'] === 'tool_result');
  return {
    role: 'user',
    id,
    origin: onlyResults ? 'tool_results' : originOf(message['role']),
    content,
    refused: false,
  };
}

function originOf(role: unknown): Origin {
  return role === 'system' ? 'attachment' : 'user';
}

function blocksIn(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block)).filter(isObject);
}

function ingestBlock(block: Readonly<Record<string, unknown>>): unknown {
  if (block['type'] === 'tool_result') return ingestResult(block);
  if (block['type'] === 'text') return { ...block, text: textIn(block['text']).toWellFormed() };
  return block;
}

function ingestResult(block: Readonly<Record<string, unknown>>): unknown {
  const { content } = block;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [textOf(content)];
  return {
    ...block,
    tool_use_id: textIn(block['tool_use_id']),
    content: parts.filter((part) => !isObject(part) || part['type'] !== 'text' || !isBlank(textIn(part['text']))),
    is_error: block['is_error'] === true,
  };
}

function textOf(content: unknown): TextBlock {
  const text =
    typeof content === 'string' ? content : content === undefined || content === null ? '' : JSON.stringify(content);
  return { type: 'text', text: text.toWellFormed() };
}
