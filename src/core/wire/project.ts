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
import { asWire, sendableBlocks, sendableUserBlock, withoutTrailingThinking } from './blocks.ts';
import type { WireMessage } from './request-type.ts';

/** What a projection must know beside the history. */
export interface ProjectionFacts {
  /** Thinking is only sent to the model that made it, and only when the request asks for thinking. */
  readonly thinkingOf: string | null;
  /** The last answer ended in `pause_turn` and is sent back as it is. */
  readonly endsPaused: boolean;
}

/** Messages of one role in a row: one message on the wire. */
interface Group {
  readonly role: 'user' | 'assistant';
  readonly members: readonly Message[];
}

interface CacheEntry {
  readonly members: readonly Message[];
  readonly before: WireMessage | null;
  readonly thinkingOf: string | null;
  readonly wire: WireMessage | null;
}

const cache = new WeakMap<Message, CacheEntry>();

export const missingResult = 'No result: the run ended before this tool answered.';
const startNote = '<loop-note>The beginning of the conversation is not shown.</loop-note>';
const goOnNote = '<loop-note>Go on.</loop-note>';

/** Projects `messages`. The result alternates, begins and ends with `user`, and answers every tool use. */
export function projectHistory(messages: readonly Message[], facts: ProjectionFacts): readonly WireMessage[] {
  const wire: WireMessage[] = [];
  for (const group of groupByRole(messages)) addGroup(wire, group, facts);
  return closeEnds(wire, facts);
}

function groupByRole(messages: readonly Message[]): readonly Group[] {
  const groups: { role: Group['role']; members: Message[] }[] = [];
  for (const message of messages) {
    if (message.refused) continue;
    const last = groups[groups.length - 1];
    if (last !== undefined && last.role === message.role) last.members.push(message);
    else groups.push({ role: message.role, members: [message] });
  }
  return groups;
}

function addGroup(wire: WireMessage[], group: Group, facts: ProjectionFacts): void {
  const before = wire[wire.length - 1] ?? null;
  const projected = projectCached(group, before, facts);
  if (projected === null) return;
  // A group between two of the other role may vanish (only blank text): its neighbours become one message.
  if (before !== null && before.role === projected.role) wire[wire.length - 1] = merge(before, projected);
  else wire.push(projected);
}

function projectCached(group: Group, before: WireMessage | null, facts: ProjectionFacts): WireMessage | null {
  const first = group.members[0]!;
  const known = cache.get(first);
  const { thinkingOf } = facts;
  if (known?.before === before && known.thinkingOf === thinkingOf && isSameList(known.members, group.members)) {
    return known.wire;
  }
  const wire =
    group.role === 'assistant'
      ? projectAssistant(group.members as readonly AssistantMessage[], thinkingOf)
      : projectUser(group.members as readonly UserMessage[], before);
  cache.set(first, { members: group.members, before, thinkingOf, wire });
  return wire;
}

function isSameList(left: readonly Message[], right: readonly Message[]): boolean {
  return left.length === right.length && left.every((message, index) => message === right[index]);
}

function projectAssistant(members: readonly AssistantMessage[], thinkingOf: string | null): WireMessage | null {
  const blocks = members.flatMap((message) => sendableBlocks(message, message.model === thinkingOf));
  const content = withoutTrailingThinking(blocks);
  return content.length === 0 ? null : { role: 'assistant', content: asWire(content) };
}

/** Results first, in the order of the calls, one for each; then everything else in its order. */
function projectUser(members: readonly UserMessage[], before: WireMessage | null): WireMessage | null {
  const blocks = members.flatMap((message) => message.content);
  const asked = toolUseIds(before);
  const results = asked.map((id) => findResult(blocks, id));
  const rest = blocks.filter((block) => !isToolResult(block));
  const content = [...results, ...rest].map(sendableUserBlock).filter((block) => block !== null);
  return content.length === 0 ? null : { role: 'user', content: asWire(content) };
}

function toolUseIds(message: WireMessage | null): readonly string[] {
  if (message === null || message.role !== 'assistant') return [];
  return message.content.filter((block) => block.type === 'tool_use').map((block) => String(block['id']));
}

function findResult(blocks: readonly UserBlock[], id: string): ToolResultBlock {
  const found = blocks.find((block) => isToolResult(block) && block.tool_use_id === id);
  return found !== undefined && isToolResult(found) ? found : synthetic(id);
}

function synthetic(id: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: missingResult }], is_error: true };
}

function merge(left: WireMessage, right: WireMessage): WireMessage {
  return { role: left.role, content: [...left.content, ...right.content] };
}

function closeEnds(wire: readonly WireMessage[], facts: ProjectionFacts): readonly WireMessage[] {
  const first = wire[0];
  const last = wire[wire.length - 1];
  const opened = first === undefined || needsStart(first) ? [note(startNote), ...wire] : wire;
  if (last === undefined || last.role !== 'assistant' || facts.endsPaused) return opened;
  const answers = toolUseIds(last).map(synthetic);
  return [...opened, answers.length > 0 ? { role: 'user', content: asWire(answers) } : note(goOnNote)];
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

/** True when some message asks for a tool: the API wants the tool list with such a history. */
export function asksForTools(messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === 'assistant' && message.content.some(isToolUse));
}
