/** A block of the answer while it is streamed, and what becomes of it when it ends. */
import { type Json, type JsonObject, textIn, wellFormed } from '../core/json.ts';
import type { AssistantBlock, TextBlock } from '../core/message.ts';
import type { Unfinished } from '../core/state.ts';

/** A block that ended. */
export interface WholeBlock {
  readonly block: AssistantBlock;
  /** Its place among the blocks of the answer, in the order in which they began. */
  readonly index: number;
  /** For a tool use whose input is no JSON object: what came instead. */
  readonly rawInput: string | null;
}

/** A text with the sources that it quotes. They are sent back with it: the API may check that nothing was changed. */
interface CitedText extends TextBlock {
  readonly citations: readonly Json[];
}

/** What came of a block so far. Fragments are collected and joined once, at the end. */
export interface OpenBlock {
  readonly index: number;
  readonly start: Readonly<Record<string, unknown>>;
  readonly parts: string[];
  readonly signature: string[];
  readonly citations: Json[];
  /** Members that a delta brought whole, `encrypted_content` of a compaction for one. */
  readonly members: (readonly [string, Json])[];
}

export function openBlock(index: number, start: Readonly<Record<string, unknown>>): OpenBlock {
  const citations = Array.isArray(start['citations']) ? [...(start['citations'] as readonly Json[])] : [];
  return { index, start, parts: [], signature: [], citations, members: [] };
}

/** The value when it is an object and no array, else an empty object. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** The finished block; null for a kind that no request may hold. */
export function wholeBlock(open: OpenBlock): WholeBlock | null {
  const { start, index } = open;
  const plain = (block: AssistantBlock): WholeBlock => ({ block, index, rawInput: null });
  switch (start['type']) {
    case 'text':
      return plain(textBlock(open));
    case 'thinking':
      // Thinking is signed: not a byte of it may change.
      return plain({ type: 'thinking', thinking: open.parts.join(''), signature: signatureOf(open) });
    case 'redacted_thinking':
      return plain({ type: 'redacted_thinking', data: textIn(start['data']) });
    case 'tool_use':
    case 'server_tool_use':
      return toolBlock(open, start['type']);
    case 'compaction':
      return plain(compactionBlock(open));
    default:
      return isServerResult(start['type']) ? plain(start as never) : null;
  }
}

/** What a block that will not end leaves for the record. */
export function unfinishedOf(open: OpenBlock): Unfinished {
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

function isServerResult(type: unknown): boolean {
  return typeof type === 'string' && type.endsWith('_tool_result');
}

function joinText(open: OpenBlock): string {
  return open.parts.join('').toWellFormed();
}

function textBlock(open: OpenBlock): TextBlock | CitedText {
  const text: TextBlock = { type: 'text', text: joinText(open) };
  return open.citations.length === 0 ? text : { ...text, citations: open.citations };
}

function signatureOf(open: OpenBlock): string {
  return open.signature.length > 0 ? open.signature.join('') : textIn(open.start['signature']);
}

/** Sent back as it came, with everything that the API put into it. */
function compactionBlock({ start, parts, members }: OpenBlock): AssistantBlock {
  const content = parts.join('') || ((start['content'] ?? null) as Json);
  return { ...(start as JsonObject), ...Object.fromEntries(members), type: 'compaction', content };
}

function toolBlock(open: OpenBlock, type: 'tool_use' | 'server_tool_use'): WholeBlock {
  const raw = joinText(open);
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
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
    return (hasSurrogateEscape(raw) ? wellFormed(parsed as JsonObject) : parsed) as JsonObject;
  } catch {
    return null;
  }
}

/** Only an escape can put half a surrogate pair into parsed JSON here; most inputs have none and are not walked. */
function hasSurrogateEscape(raw: string): boolean {
  return /\\u[dD][89a-fA-F]/.test(raw);
}
