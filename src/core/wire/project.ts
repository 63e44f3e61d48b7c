/**
 * History to the `messages` of a request: a pure projection that is legal whatever the history holds. What is unchanged
 * since the last request comes back as the same objects, so that a transport can reuse what it serialised.
 */
import {
  type AssistantMessage,
  isToolResult,
  isToolUse,
  type Message,
  type ToolResultBlock,
  type UserBlock,
  type UserMessage,
} from '../message.ts';
import { PrefixMemo } from '../prefix.ts';
import {
  asWire,
  mediaOfError,
  sendableBlocks,
  sendableResult,
  sendableUserBlock,
  withoutTrailingThinking,
  withServerPairs,
  withUniqueUses,
} from './blocks.ts';
import type { WireMessage } from './request-type.ts';
import { soundUserBlocks } from './sound.ts';

/** What a projection must know beside the history. */
export interface ProjectionFacts {
  /** Thinking is only sent to the model that made it, and only when the request asks for thinking. */
  readonly thinkingOf: string | null;
  /** The last answer ended in `pause_turn` and is sent back as it is. */
  readonly endsPaused: boolean;
}

interface CacheEntry {
  readonly members: readonly Message[];
  readonly before: WireMessage | null;
  readonly thinkingOf: string | null;
  readonly isPaused: boolean;
  readonly wire: WireMessage | null;
}

/** By the first message of a group. */
const cache = new WeakMap<Message, CacheEntry>();

const missingResult = 'No result: the run ended before this tool answered.';
const startNote = '<loop-note>The beginning of the conversation is not shown.</loop-note>';
/** Stands where a request would end with an answer. */
export const goOnNote = '<loop-note>Go on.</loop-note>';

/** A projection before its ends were closed, and where its last group begins. */
interface Projected {
  readonly messages: readonly Message[];
  readonly thinkingOf: string | null;
  readonly wire: readonly WireMessage[];
  readonly lastFrom: number;
  /** Length of `wire` without the last group; null when that group was merged or vanished, so nothing can go on here. */
  readonly lengthBefore: number | null;
}

const memo = new PrefixMemo<Projected>();

/**
 * Projects `messages`. The result alternates, begins and ends with `user`, and answers every tool use. Ids of tool uses
 * are unique in what the loop stores and what it loaded; a history of another origin goes through `initialState` first.
 */
export function projectHistory(messages: readonly Message[], facts: ProjectionFacts): readonly WireMessage[] {
  const sent = messages.some((message) => message.refused) ? messages.filter((message) => !message.refused) : messages;
  const known = memo.find(sent);
  const goesOn = known !== null && known.thinkingOf === facts.thinkingOf && known.lengthBefore !== null;
  const projected = goesOn
    ? projectFrom(sent, facts, known.wire.slice(0, known.lengthBefore), known.lastFrom)
    : projectFrom(sent, facts, [], 0);
  memo.keep(projected);
  return closeEnds(projected.wire, facts);
}

/** Projects the groups from `from` on behind `wire`, the projection of everything before. */
function projectFrom(
  messages: readonly Message[],
  { thinkingOf, endsPaused }: ProjectionFacts,
  wire: WireMessage[],
  from: number,
): Projected {
  let lastFrom = from;
  let lengthBefore: number | null = wire.length;
  for (let next = from; next < messages.length; ) {
    const to = groupEnd(messages, next);
    lastFrom = next;
    const length = wire.length;
    const facts = { thinkingOf, endsPaused: endsPaused && to === messages.length };
    addGroup(wire, projectGroup(messages, next, to, wire[length - 1] ?? null, facts));
    lengthBefore = wire.length === length + 1 ? length : null;
    next = to;
  }
  return { messages, thinkingOf, wire, lastFrom, lengthBefore };
}

/** Messages of one role in a row are one message on the wire: where the row that begins at `from` ends. */
function groupEnd(messages: readonly Message[], from: number): number {
  const { role } = messages[from]!;
  let to = from + 1;
  while (to < messages.length && messages[to]!.role === role) to += 1;
  return to;
}

function addGroup(wire: WireMessage[], projected: WireMessage | null): void {
  if (projected === null) return;
  const before = wire[wire.length - 1];
  // A group between two of the other role may vanish (only blank text): its neighbours become one message.
  if (before !== undefined && before.role === projected.role) wire[wire.length - 1] = merge(before, projected);
  else wire.push(projected);
}

function projectGroup(
  messages: readonly Message[],
  from: number,
  to: number,
  before: WireMessage | null,
  { thinkingOf, endsPaused: isPaused }: ProjectionFacts,
): WireMessage | null {
  const first = messages[from]!;
  const known = cache.get(first);
  const isKnown = known?.before === before && known.thinkingOf === thinkingOf && known.isPaused === isPaused;
  if (isKnown && isSameGroup(known.members, messages, from, to)) return known.wire;
  const members = messages.slice(from, to);
  const wire =
    first.role === 'assistant'
      ? projectAssistant(members as readonly AssistantMessage[], thinkingOf, isPaused)
      : projectUser(members as readonly UserMessage[], before);
  cache.set(first, { members, before, thinkingOf, isPaused, wire });
  return wire;
}

function isSameGroup(members: readonly Message[], messages: readonly Message[], from: number, to: number): boolean {
  if (members.length !== to - from) return false;
  for (let index = from; index < to; index += 1) if (members[index - from] !== messages[index]) return false;
  return true;
}

function projectAssistant(
  members: readonly AssistantMessage[],
  thinkingOf: string | null,
  isPaused: boolean,
): WireMessage | null {
  const blocks = withUniqueUses(members.flatMap((message) => sendableBlocks(message, message.model === thinkingOf)));
  // Only tools of the API itself pause a turn: one of ours would have to be answered first.
  const mayBeOpen = isPaused && !blocks.some(isToolUse);
  const content = withoutTrailingThinking(withServerPairs(blocks, mayBeOpen));
  return content.length === 0 ? null : { role: 'assistant', content: asWire(content) };
}

/** Results first, in the order of the calls, one for each; then everything else in its order. */
function projectUser(members: readonly UserMessage[], before: WireMessage | null): WireMessage | null {
  const blocks = members.flatMap((message) => soundUserBlocks(message.content));
  const results = toolUseIds(before).map((id) => findResult(blocks, id));
  const others = [...results.flatMap(mediaOfError), ...blocks.filter((block) => !isToolResult(block))];
  const sendable = others.map(sendableUserBlock).filter((block) => block !== null);
  const content = [...results.map(sendableResult), ...sendable];
  return content.length === 0 ? null : { role: 'user', content: asWire(content) };
}

function toolUseIds(message: WireMessage | null): readonly string[] {
  if (message === null || message.role !== 'assistant') return [];
  return message.content.filter((block) => block.type === 'tool_use').map((block) => String(block['id']));
}

function findResult(blocks: readonly UserBlock[], id: string): ToolResultBlock {
  const found = blocks.find((block) => isToolResult(block) && block.tool_use_id === id);
  return found !== undefined && isToolResult(found) ? found : syntheticResult(id);
}

/** What stands where a result never came. */
export function syntheticResult(id: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: missingResult }], is_error: true };
}

function merge(left: WireMessage, right: WireMessage): WireMessage {
  return { role: left.role, content: [...left.content, ...right.content] };
}

function closeEnds(wire: readonly WireMessage[], facts: ProjectionFacts): readonly WireMessage[] {
  const first = wire[0];
  const last = wire[wire.length - 1];
  const opened = first === undefined || needsStart(first) ? [note(startNote), ...wire] : wire;
  if (last === undefined || last.role !== 'assistant') return opened;
  const answers = toolUseIds(last).map(syntheticResult);
  if (facts.endsPaused && answers.length === 0 && holdsServerTool(last)) return opened;
  return [...opened, answers.length > 0 ? { role: 'user', content: asWire(answers) } : note(goOnNote)];
}

/** Only tools of the API itself pause a turn; after anything else an answer at the end would be refused. */
function holdsServerTool(message: WireMessage): boolean {
  return message.content.some((block) => block.type === 'server_tool_use');
}

function needsStart(first: WireMessage): boolean {
  return first.role === 'assistant' && first.content[0]?.type !== 'compaction';
}

const notes = new Map<string, WireMessage>();

/** One object per text, so that it too is serialised once. */
function note(text: string): WireMessage {
  const known = notes.get(text);
  if (known !== undefined) return known;
  const message: WireMessage = { role: 'user', content: [{ type: 'text', text }] };
  notes.set(text, message);
  return message;
}
