/** A scripted answer as the bytes of an event stream. */
import { type Clock, sleep } from '../clock.ts';
import { estimateText } from '../core/context/tokens.ts';
import type { ScriptedUsage, StreamItem } from './scenario.ts';
import type { AppliedEdit } from './scripted-clearing.ts';

/** The connection breaks in the middle of the stream. */
export class ScriptedReset extends Error {
  constructor() {
    super('The scripted server reset the connection.');
    this.name = 'ScriptedReset';
  }
}

/** What one stream says. */
export interface StreamScript {
  readonly id: string;
  readonly model: string;
  readonly items: readonly StreamItem[];
  readonly usage: ScriptedUsage;
  /** Tokens of the request, for a script that names none. */
  readonly inputTokens: number;
  /** What the server cleared from the request. */
  readonly edits: readonly AppliedEdit[];
}

/** One event in the framing of server-sent events. */
export function frame(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

type Block = Readonly<Record<string, unknown>>;

/** Writes the events of one answer; what is shown grows with every item. */
class Writer {
  readonly #script: StreamScript;
  #messageId: string;
  readonly #nextIndex = new Map<string, number>();
  #open: { readonly index: number; readonly kind: 'text' | 'thinking' } | null = null;
  #outputTokens = 0;

  constructor(script: StreamScript) {
    this.#script = script;
    this.#messageId = script.id;
  }

  /** Blocks of another message of the same stream: some servers interleave two. */
  switchTo(messageId: string | undefined): string {
    if (messageId === undefined || messageId === this.#messageId) return '';
    return this.close() + this.start(messageId);
  }

  start(messageId = this.#messageId): string {
    this.#messageId = messageId;
    const { model, usage, inputTokens } = this.#script;
    const message = {
      id: messageId,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: usage.input ?? inputTokens,
        cache_read_input_tokens: usage.cacheRead ?? 0,
        cache_creation_input_tokens: usage.cacheCreation ?? 0,
        output_tokens: 1,
      },
    };
    return frame('message_start', { type: 'message_start', message });
  }

  text(text: string, isNew: boolean): string {
    const begun = this.#begin('text', { type: 'text', text: '' }, isNew);
    return begun + this.#delta({ type: 'text_delta', text }, text);
  }

  thinking(thinking: string, signature: string): string {
    const begun = this.#begin('thinking', { type: 'thinking', thinking: '', signature: '' }, true);
    const shown = thinking === '' ? '' : this.#delta({ type: 'thinking_delta', thinking }, thinking);
    return begun + shown + this.#delta({ type: 'signature_delta', signature }, '') + this.close();
  }

  tool(block: Block, json: readonly string[], staysOpen: boolean): string {
    const closed = this.close();
    const index = this.#takeIndex();
    const start = frame('content_block_start', { type: 'content_block_start', index, content_block: block });
    const deltas = json.map((partial_json) =>
      this.#deltaAt(index, { type: 'input_json_delta', partial_json }, partial_json),
    );
    return closed + start + deltas.join('') + (staysOpen ? '' : stopFrame(index));
  }

  whole(block: Block): string {
    return this.tool(block, [], false);
  }

  /** The summary of a conversation, as the API sends it: in one delta, with what is opaque beside it. */
  compaction(content: string): string {
    const closed = this.close();
    const index = this.#takeIndex();
    const block = { type: 'compaction', content: null, encrypted_content: null };
    const start = frame('content_block_start', { type: 'content_block_start', index, content_block: block });
    const delta = { type: 'compaction_delta', content, encrypted_content: 'opaque' };
    return closed + start + this.#deltaAt(index, delta, content) + stopFrame(index);
  }

  usage(usage: ScriptedUsage): string {
    const figures = {
      ...(usage.input === undefined ? {} : { input_tokens: usage.input }),
      ...(usage.output === undefined ? {} : { output_tokens: usage.output }),
    };
    return frame('message_delta', { type: 'message_delta', delta: {}, usage: figures });
  }

  stop(reason: string | null): string {
    const closed = this.close();
    const delta = { stop_reason: reason, stop_sequence: null };
    const usage = { output_tokens: this.#script.usage.output ?? this.#outputTokens };
    const { edits } = this.#script;
    const management = edits.length === 0 ? {} : { context_management: { applied_edits: edits } };
    return (
      closed +
      frame('message_delta', { type: 'message_delta', delta, usage, ...management }) +
      frame('message_stop', { type: 'message_stop' })
    );
  }

  /** Ends the block that text or thinking left open. */
  close(): string {
    const open = this.#open;
    this.#open = null;
    return open === null ? '' : stopFrame(open.index);
  }

  #begin(kind: 'text' | 'thinking', block: Block, isNew: boolean): string {
    if (!isNew && this.#open?.kind === kind) return '';
    const closed = this.close();
    const index = this.#takeIndex();
    this.#open = { index, kind };
    return closed + frame('content_block_start', { type: 'content_block_start', index, content_block: block });
  }

  #delta(delta: Block, text: string): string {
    return this.#deltaAt(this.#open?.index ?? 0, delta, text);
  }

  #deltaAt(index: number, delta: Block, text: string): string {
    this.#outputTokens += estimateText(text);
    return frame('content_block_delta', { type: 'content_block_delta', index, delta });
  }

  #takeIndex(): number {
    const index = this.#nextIndex.get(this.#messageId) ?? 0;
    this.#nextIndex.set(this.#messageId, index + 1);
    return index;
  }
}

function stopFrame(index: number): string {
  return frame('content_block_stop', { type: 'content_block_stop', index });
}

/** The chunks of the stream, one an item; waits run on `clock`, a stall lasts until `signal` aborts. */
export async function* streamChunks(script: StreamScript, clock: Clock, signal: AbortSignal): AsyncGenerator<string> {
  const writer = new Writer(script);
  yield writer.start();
  for (const item of script.items) {
    if ('wait' in item) {
      await sleep(clock, item.wait, signal);
      continue;
    }
    if ('eof' in item) return;
    if ('reset' in item) throw new ScriptedReset();
    if ('stall' in item) return await untilAborted(signal);
    yield chunkOf(writer, item);
    if ('error' in item) return;
  }
}

type EndItem = Extract<
  StreamItem,
  { stop: unknown } | { error: unknown } | { eof: unknown } | { reset: unknown } | { stall: unknown }
>;

/** How a stream ends: the first item that ends it, or null when it just runs out. */
export function endOf(items: readonly StreamItem[]): EndItem | null {
  return items.find((item): item is EndItem => endings.some((name) => name in item)) ?? null;
}

const endings = ['stop', 'error', 'eof', 'reset', 'stall'] as const;

type WritableItem = Exclude<StreamItem, { wait: number } | { eof: true } | { reset: true } | { stall: true }>;

function chunkOf(writer: Writer, item: WritableItem): string {
  if ('text' in item) return writer.switchTo(item.message) + writer.text(item.text, item.block === true);
  if ('thinking' in item) {
    return writer.switchTo(item.message) + writer.thinking(item.thinking, item.signature ?? 'sig');
  }
  if ('redacted' in item) {
    return writer.switchTo(item.message) + writer.whole({ type: 'redacted_thinking', data: item.redacted });
  }
  if ('tool' in item) {
    const block = { type: 'tool_use', id: item.id, name: item.tool, input: {} };
    const json = item.json ?? [JSON.stringify(item.input ?? {})];
    return writer.switchTo(item.message) + writer.tool(block, json, item.open === true);
  }
  if ('serverTool' in item) {
    const block = { type: 'server_tool_use', id: item.id, name: item.serverTool, input: {} };
    return writer.tool(block, [JSON.stringify(item.input ?? {})], false);
  }
  if ('serverResult' in item) {
    return writer.whole({
      type: 'web_search_tool_result',
      tool_use_id: item.serverResult,
      content: item.content ?? [],
    });
  }
  if ('compaction' in item) return writer.compaction(item.compaction);
  if ('usage' in item) return writer.usage(item.usage);
  if ('blockStop' in item) return stopFrame(item.blockStop);
  if ('ping' in item) return frame('ping', { type: 'ping' });
  if ('stop' in item) return writer.stop(item.stop);
  if ('error' in item) return errorFrame(item.error, item.message ?? item.error);
  if ('block' in item) return writer.close();
  return writer.start(item.message);
}

function errorFrame(type: string, message: string): string {
  return frame('error', { type: 'error', error: { type, message } });
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
