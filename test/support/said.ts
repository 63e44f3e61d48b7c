/** What models, users and tools say in tests, in a few letters. */
import type { EventOf } from '../../src/core/event.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { AssistantBlock, Message, TextBlock, Usage, UserBlock } from '../../src/core/message.ts';
import type { ToolVerdict } from '../../src/core/state.ts';

/** A block of an answer with what the outside knows of it. */
export type Said = Pick<EventOf<'model.blockEnded'>, 'block' | 'verdict' | 'rawInput'>;

export function text(value: string): Said & { readonly block: TextBlock } {
  return { block: { type: 'text', text: value }, verdict: null, rawInput: null };
}

export function thinking(value = 'hm'): Said {
  return { block: { type: 'thinking', thinking: value, signature: 's' }, verdict: null, rawInput: null };
}

export function block(value: AssistantBlock): Said {
  return { block: value, verdict: null, rawInput: null };
}

interface ToolFacts extends Partial<ToolVerdict> {
  readonly name?: string;
  readonly input?: JsonObject;
  /** What came instead of a JSON object. */
  readonly raw?: string;
}

/** A tool use; safe and read-only unless said otherwise. */
export function tool(id: string, facts: ToolFacts = {}): Said {
  const { name = 'read', input = {}, raw = null, concurrencySafe = true, replaySafe = false } = facts;
  const verdict = { concurrencySafe, readOnly: facts.readOnly ?? concurrencySafe, replaySafe };
  return { block: { type: 'tool_use', id, name, input }, verdict, rawInput: raw };
}

/** A tool use that changes things. */
export function unsafe(id: string, facts: ToolFacts = {}): Said {
  return tool(id, { name: 'bash', concurrencySafe: false, ...facts });
}

export function user(id: string, words: string): Message {
  return { role: 'user', id, origin: 'user', refused: false, content: [{ type: 'text', text: words }] };
}

export function assistant(id: string, ...content: readonly AssistantBlock[]): Message {
  return { role: 'assistant', id, model: 'one', refused: false, content };
}

export function results(id: string, ...toolUseIds: readonly string[]): Message {
  const content = toolUseIds.map(
    (toolUseId): UserBlock => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: [{ type: 'text', text: 'x' }],
      is_error: false,
    }),
  );
  return { role: 'user', id, origin: 'tool_results', refused: false, content };
}

/** So many tokens by the engine's own estimate, roughly. */
export function tokens(count: number): string {
  return 'abc'.repeat(count);
}

export function usage(input: number, output = 0): Usage {
  return { input, output, cacheRead: 0, cacheCreation: 0 };
}

/** Messages as a list that reads well: the origin of each user message, `assistant` for answers. */
export function outline(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => (message.role === 'assistant' ? 'assistant' : message.origin));
}

/** All text of a message, whatever holds it. */
export function textOf(message: Message | undefined): string {
  return JSON.stringify(message?.content ?? '');
}
