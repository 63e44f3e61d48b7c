/** Repairs of stored histories: done once when a session is loaded, and stored. */
import {
  type AssistantMessage,
  isToolResult,
  isToolUse,
  type Message,
  type ToolResultBlock,
  type ToolUseBlock,
  type UserBlock,
  type UserMessage,
} from '../message.ts';
import { isToolUseId, normaliseToolName } from './blocks.ts';
import { syntheticResult } from './project.ts';
import { soundAssistantBlocks, soundUserBlocks } from './sound.ts';

/**
 * Gives every block the shape of its kind, every tool use an id that is unique in the history, a legal name and exactly
 * one result in the message right behind it, and drops results that answer nothing. A result that was stored before its
 * tool use, with nothing but user messages between, goes behind it. `newId` is called once per replaced id or added
 * message. A history without damage comes back as the same array.
 */
export function repairHistory(messages: readonly Message[], newId: () => string): readonly Message[] {
  const repair = new Repair(newId);
  for (const message of messages) repair.add(message);
  const repaired = repair.finish();
  const same = repaired.length === messages.length && repaired.every((message, index) => message === messages[index]);
  return same ? messages : repaired;
}

/** A tool use of the newest answer. */
interface Use {
  /** The id that it came with. */
  readonly from: string;
  /** The id that it has now. */
  readonly to: string;
  result: ToolResultBlock | null;
  /** The result stood behind the use, and not before it. */
  isInOrder: boolean;
}

/** One pass over a history. */
class Repair {
  readonly #newId: () => string;
  readonly #out: Message[] = [];
  readonly #usedIds = new Set<string>();
  /** Tool uses of the newest answer, in their order; answers in a row are one. */
  #uses: Use[] = [];
  /** User messages behind the newest answer. */
  #said: UserMessage[] = [];
  /** Results behind the newest answer that answer nothing in it: the next one may turn out to have asked. */
  #early: ToolResultBlock[] = [];
  #isInAnswer = false;

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
    if (!this.#isInAnswer) this.#close();
    this.#isInAnswer = true;
    const blocks = soundAssistantBlocks(message.content);
    const content = blocks.map((block) => (isToolUse(block) ? this.#addUse(block) : block));
    keep(this.#out, message, content);
  }

  #addUse(block: ToolUseBlock): ToolUseBlock {
    const id = isToolUseId(block.id) && !this.#usedIds.has(block.id) ? block.id : this.#newId();
    const name = normaliseToolName(block.name);
    this.#usedIds.add(id);
    const use: Use = { from: block.id, to: id, result: null, isInOrder: false };
    const early = this.#early.findIndex((result) => result.tool_use_id === block.id);
    if (early >= 0) use.result = answering(use, this.#early.splice(early, 1)[0]!);
    this.#uses.push(use);
    return id === block.id && name === block.name ? block : { ...block, id, name };
  }

  #addUser(message: UserMessage): void {
    if (this.#isInAnswer) this.#early = [];
    this.#isInAnswer = false;
    const content = soundUserBlocks(message.content).flatMap((block): readonly UserBlock[] =>
      isToolResult(block) ? this.#addResult(block) : [block],
    );
    keep(this.#said, message, content);
  }

  #addResult(block: ToolResultBlock): readonly ToolResultBlock[] {
    const use = this.#uses.find(({ from, isInOrder }) => from === block.tool_use_id && !isInOrder);
    if (use === undefined) {
      this.#early.push(block);
      return [];
    }
    use.isInOrder = true;
    use.result = answering(use, block);
    return [use.result];
  }

  /** Ends an answer and what was said to it. */
  #close(): void {
    const [first] = this.#said;
    const isAnswered = ({ result, isInOrder }: Use): boolean =>
      isInOrder && result !== null && (first?.content.includes(result) ?? false);
    this.#out.push(...(this.#uses.every(isAnswered) ? this.#said : this.#withResults()));
    this.#uses = [];
    this.#said = [];
  }

  /** What was said, with every result in the first message, those made up that never came. */
  #withResults(): readonly UserMessage[] {
    const results = this.#uses.map(({ to, result }) => result ?? syntheticResult(to));
    const isResult = (block: UserBlock): boolean => results.some((result) => result === block);
    const at = this.#said.findIndex(({ content }) => content.some(isResult));
    const others = this.#said.map((message) =>
      message.content.some(isResult) ? { ...message, content: message.content.filter((b) => !isResult(b)) } : message,
    );
    const rest = others[at]?.content ?? [];
    // The results stay in their message, unless it must move and holds other words, which stay where they are.
    const isMoved = at > 0 && rest.length === 0;
    const home = at === 0 || isMoved ? others[at] : undefined;
    const message: UserMessage = home ?? {
      role: 'user',
      id: this.#newId(),
      origin: 'tool_results',
      refused: false,
      content: [],
    };
    const said = home === undefined ? others : others.toSpliced(at, 1);
    const wasEmptied = (left: UserMessage): boolean => left.content.length === 0 && !this.#said.includes(left);
    return [{ ...message, content: [...results, ...message.content] }, ...said.filter((left) => !wasEmptied(left))];
  }
}

/** Adds a message with its repaired content; the same object when nothing changed, nothing when nothing is left. */
function keep<Kept extends Message>(list: Kept[], message: Kept, content: Kept['content']): void {
  const { content: before } = message;
  const isSame = content.length === before.length && content.every((block, index) => block === before[index]);
  if (isSame) list.push(message);
  else if (content.length > 0) list.push({ ...message, content });
}

function answering({ to }: Use, block: ToolResultBlock): ToolResultBlock {
  return block.tool_use_id === to ? block : { ...block, tool_use_id: to };
}
