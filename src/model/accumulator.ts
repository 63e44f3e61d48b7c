/** Raw stream events to whole blocks. Linear in the input: fragments are collected and joined once. */
import { type JsonObject, textIn } from '../core/json.ts';
import type { AssistantBlock, Usage } from '../core/message.ts';
import type { Observation } from '../core/output.ts';
import type { Unfinished } from '../core/state.ts';
import type { StreamEvent } from './transport.ts';

/** A block that ended. */
export interface WholeBlock {
  readonly block: AssistantBlock;
  readonly index: number;
  /** For a tool use whose input is no JSON object: what came instead. */
  readonly rawInput: string | null;
}

type Delta = (Observation & { type: 'delta' })['delta'];

/** What one event brought: a fragment to show, a block that ended, both or neither. */
export interface Accumulated {
  readonly delta: { readonly index: number; readonly delta: Delta } | null;
  readonly whole: WholeBlock | null;
}

interface OpenBlock {
  readonly index: number;
  readonly start: Readonly<Record<string, unknown>>;
  readonly parts: string[];
  readonly signature: string[];
  readonly more: unknown[];
}

const nothing: Accumulated = { delta: null, whole: null };

export class Accumulator {
  /** Open blocks by message id and index: some servers interleave two messages. */
  readonly #open = new Map<string, OpenBlock>();
  readonly #indexes = new Map<string, number>();
  #messageId = '';
  #usage: Record<string, number> = {};
  #stopReason: string | null = null;
  #isStopped = false;

  /** True once `message_stop` was seen. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  get stopReason(): string | null {
    return this.#stopReason;
  }

  /** The newest figure of each kind: streams repeat them, and a sum would count twice. */
  get usage(): Usage {
    const figure = (name: string): number => Math.max(0, this.#usage[name] ?? 0);
    return {
      input: figure('input_tokens'),
      output: figure('output_tokens'),
      cacheRead: figure('cache_read_input_tokens'),
      cacheCreation: figure('cache_creation_input_tokens'),
    };
  }

  /** What was streamed of the newest block that did not end. */
  get unfinished(): Unfinished | null {
    const open = [...this.#open.values()].at(-1);
    if (open === undefined) return null;
    switch (open.start['type']) {
      case 'text':
        return { type: 'text', text: joinText(open) };
      case 'tool_use':
      case 'server_tool_use':
        return { type: 'tool_use' };
      default:
        return { type: 'thinking' };
    }
  }

  /** Takes one event; events and deltas of unknown kinds are passed over. */
  take(event: StreamEvent): Accumulated {
    switch (event.type) {
      case 'message_start':
        return this.#startMessage(asObject(event['message']));
      case 'content_block_start':
        return this.#startBlock(event);
      case 'content_block_delta':
        return this.#addDelta(event);
      case 'content_block_stop':
        return this.#endBlock(event);
      case 'message_delta':
        return this.#endMessage(event);
      case 'message_stop':
        this.#isStopped = true;
        return nothing;
      default:
        return nothing;
    }
  }

  #startMessage(message: Readonly<Record<string, unknown>>): Accumulated {
    this.#messageId = textIn(message['id']);
    this.#addUsage(message['usage']);
    return nothing;
  }

  #startBlock(event: StreamEvent): Accumulated {
    const key = this.#key(event);
    const start = asObject(event['content_block']);
    const index = this.#indexOf(key);
    this.#open.set(key, { index, start, parts: [], signature: [], more: [] });
    const text = textIn(start['text'] ?? start['thinking']);
    if (text !== '') this.#open.get(key)?.parts.push(text);
    if (start['type'] !== 'tool_use') return nothing;
    const delta: Delta = { type: 'tool_use', id: textIn(start['id']), name: textIn(start['name']) };
    return { delta: { index, delta }, whole: null };
  }

  #addDelta(event: StreamEvent): Accumulated {
    const open = this.#open.get(this.#key(event));
    if (open === undefined) return nothing;
    const delta = asObject(event['delta']);
    switch (delta['type']) {
      case 'text_delta':
        return shown(open, { type: 'text', text: textIn(delta['text']) }, textIn(delta['text']));
      case 'thinking_delta':
        return shown(open, { type: 'thinking', text: textIn(delta['thinking']) }, textIn(delta['thinking']));
      case 'input_json_delta':
        return shown(open, { type: 'tool_input', json: textIn(delta['partial_json']) }, textIn(delta['partial_json']));
      case 'signature_delta':
        open.signature.push(textIn(delta['signature']));
        return nothing;
      case 'citations_delta':
        open.more.push(delta['citation']);
        return nothing;
      case 'compaction_delta':
        open.parts.push(textIn(delta['content']));
        return nothing;
      default:
        return nothing;
    }
  }

  #endBlock(event: StreamEvent): Accumulated {
    const key = this.#key(event);
    const open = this.#open.get(key);
    if (open === undefined) return nothing;
    this.#open.delete(key);
    const whole = wholeBlock(open);
    return whole === null ? nothing : { delta: null, whole };
  }

  #endMessage(event: StreamEvent): Accumulated {
    const reason = asObject(event['delta'])['stop_reason'];
    if (typeof reason === 'string') this.#stopReason = reason;
    this.#addUsage(event['usage']);
    return nothing;
  }

  #addUsage(usage: unknown): void {
    for (const [name, value] of Object.entries(asObject(usage))) {
      if (typeof value === 'number') this.#usage[name] = value;
    }
  }

  #key(event: StreamEvent): string {
    const message = textIn(event['message_id']) || this.#messageId;
    return `${message} ${String(event['index'])}`;
  }

  /** Blocks are numbered in the order in which they begin, whatever message they belong to. */
  #indexOf(key: string): number {
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = this.#indexes.size;
    this.#indexes.set(key, index);
    return index;
  }
}

function shown(open: OpenBlock, delta: Delta, part: string): Accumulated {
  open.parts.push(part);
  return part === '' ? nothing : { delta: { index: open.index, delta }, whole: null };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function joinText(open: OpenBlock): string {
  return open.parts.join('').toWellFormed();
}

/** The finished block; null for a kind that no request may hold. */
function wholeBlock(open: OpenBlock): WholeBlock | null {
  const { start, index } = open;
  const plain = (block: AssistantBlock): WholeBlock => ({ block, index, rawInput: null });
  switch (start['type']) {
    case 'text':
      return plain({ type: 'text', text: joinText(open) });
    case 'thinking':
      // Thinking is signed: not a byte of it may change.
      return plain({ type: 'thinking', thinking: open.parts.join(''), signature: signatureOf(open) });
    case 'redacted_thinking':
      return plain({ type: 'redacted_thinking', data: textIn(start['data']) });
    case 'tool_use':
    case 'server_tool_use':
      return toolBlock(open, start['type']);
    case 'compaction':
      return plain({
        ...(start as JsonObject),
        type: 'compaction',
        content: open.parts.join('') || ((start['content'] ?? null) as never),
      });
    default:
      return typeof start['type'] === 'string' && start['type'].endsWith('_tool_result') ? plain(start as never) : null;
  }
}

function signatureOf(open: OpenBlock): string {
  return open.signature.length > 0 ? open.signature.join('') : textIn(open.start['signature']);
}

function toolBlock(open: OpenBlock, type: 'tool_use' | 'server_tool_use'): WholeBlock {
  const raw = open.parts.join('').toWellFormed();
  const parsed = parseInput(raw, open.start['input']);
  const { id, name } = open.start;
  const block = { type, id: textIn(id), name: textIn(name), input: parsed ?? {} };
  return { block, index: open.index, rawInput: parsed === null ? raw : null };
}

/** Strict: a cut or broken input must never look like a smaller whole one. Null when it is no JSON object. */
function parseInput(raw: string, started: unknown): JsonObject | null {
  if (raw === '') return asObject(started) as JsonObject;
  try {
    const parsed: unknown = JSON.parse(raw);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as JsonObject) : null;
  } catch {
    return null;
  }
}
