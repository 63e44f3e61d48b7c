/** Repairs of stored histories: done once when a session is loaded, and stored. */
import {
  type AssistantMessage,
  isToolResult,
  isToolUse,
  type Message,
  type UserBlock,
  type UserMessage,
} from '../message.ts';
import { isToolUseId, normaliseToolName } from './blocks.ts';
import { missingResult } from './project.ts';

/**
 * Gives every tool use an id that is unique in the history and exactly one result in the message right behind it, drops
 * results that answer nothing, and makes names legal. `newId` is called once per replaced id or added message.
 * A history without damage comes back as the same array.
 */
export function repairHistory(messages: readonly Message[], newId: () => string): readonly Message[] {
  const repair = new Repair(newId);
  for (const message of messages) repair.add(message);
  const repaired = repair.finish();
  const same = repaired.length === messages.length && repaired.every((message, index) => message === messages[index]);
  return same ? messages : repaired;
}

/** One pass over a history. */
class Repair {
  readonly #newId: () => string;
  readonly #out: Message[] = [];
  readonly #usedIds = new Set<string>();
  /** Tool uses that wait for a result: the id they came with, the id they have now. */
  #open: { from: string; to: string }[] = [];

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  add(message: Message): void {
    if (message.role === 'assistant') this.#addAssistant(message);
    else this.#addUser(message);
  }

  finish(): readonly Message[] {
    this.#close();
    return this.#out;
  }

  #addAssistant(message: AssistantMessage): void {
    this.#close();
    let changed = false;
    const content = message.content.map((block) => {
      if (!isToolUse(block)) return block;
      const id = isToolUseId(block.id) && !this.#usedIds.has(block.id) ? block.id : this.#newId();
      const name = normaliseToolName(block.name);
      this.#usedIds.add(id);
      this.#open.push({ from: block.id, to: id });
      if (id === block.id && name === block.name) return block;
      changed = true;
      return { ...block, id, name };
    });
    this.#out.push(changed ? { ...message, content } : message);
  }

  #addUser(message: UserMessage): void {
    let changed = false;
    const content = message.content.flatMap((block): readonly UserBlock[] => {
      if (!isToolResult(block)) return [block];
      const index = this.#open.findIndex((open) => open.from === block.tool_use_id);
      const [open] = index < 0 ? [] : this.#open.splice(index, 1);
      if (open?.to === block.tool_use_id) return [block];
      changed = true;
      return open === undefined ? [] : [{ ...block, tool_use_id: open.to }];
    });
    if (content.length > 0 || !changed) this.#out.push(changed ? { ...message, content } : message);
  }

  /** Makes up the results that never came, right behind the answer that asked. */
  #close(): void {
    if (this.#open.length === 0) return;
    const at = this.#out.findLastIndex((message) => message.role === 'assistant');
    const results: UserMessage = {
      role: 'user',
      id: this.#newId(),
      origin: 'tool_results',
      refused: false,
      content: this.#open.map(({ to }) => ({
        type: 'tool_result',
        tool_use_id: to,
        content: [{ type: 'text', text: missingResult }],
        is_error: true,
      })),
    };
    this.#out.splice(at + 1, 0, results);
    this.#open = [];
  }
}
