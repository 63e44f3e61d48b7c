/**
 * Blocks of any shape, as stores and callers hand them over, to the shapes that the types promise: the rest of the loop
 * relies on them. A block that has its shape comes back as the same object, and so does a list of such blocks.
 */
import { isObject, textIn } from '../json.ts';
import type { AssistantBlock, UserBlock } from '../message.ts';
import { isMediaSource, withSoundMark } from './members.ts';

type Loose = Readonly<Record<string, unknown>>;

const nothing: readonly Loose[] = [];

/** The blocks that an answer may hold. What only a user may say, and what lacks what makes it up, goes. */
export function soundAssistantBlocks(content: readonly AssistantBlock[]): readonly AssistantBlock[] {
  return sound(content, soundAssistantBlock);
}

/** The blocks that a user message may hold. Media without a source leave a note where they stood. */
export function soundUserBlocks(content: readonly UserBlock[]): readonly UserBlock[] {
  return sound(content, soundUserBlock);
}

function sound<Block>(content: readonly Block[], repair: (block: Loose) => readonly Loose[]): readonly Block[] {
  const repaired = (content as readonly unknown[]).flatMap((block) =>
    isObject(block) && typeof block['type'] === 'string' ? repair(withSoundMark(block)) : nothing,
  );
  const isSame = repaired.length === content.length && repaired.every((block, index) => block === content[index]);
  return isSame ? content : (repaired as unknown as readonly Block[]);
}

/** Kinds that only a user message may hold, apart from results. */
export const userBlocks: ReadonlySet<string> = new Set(['image', 'document', 'search_result']);

/** Kinds that only an answer may hold, apart from results of the API's own tools. */
export const assistantBlocks: ReadonlySet<string> = new Set([
  'tool_use',
  'server_tool_use',
  'thinking',
  'redacted_thinking',
  'compaction',
]);

/** `web_search_tool_result` and its like: results of tools that the API runs itself. */
export function isServerResultType(type: string): boolean {
  return type !== 'tool_result' && type.endsWith('_tool_result');
}

function soundAssistantBlock(block: Loose): readonly Loose[] {
  const type = textIn(block['type']);
  if (type === 'tool_result' || userBlocks.has(type)) return nothing;
  const has = (...members: readonly string[]): readonly Loose[] =>
    members.every((member) => typeof block[member] === 'string') ? [block] : nothing;
  switch (type) {
    case 'text':
      return has('text');
    case 'thinking':
      return has('thinking', 'signature');
    case 'redacted_thinking':
      return has('data');
    case 'tool_use':
      // Without an id or a name it is still a call: the repair of a history gives it both.
      return [soundUse(block)];
    case 'server_tool_use':
      return has('id', 'name').map(soundUse);
    default:
      return isServerResultType(type) ? has('tool_use_id') : [block];
  }
}

function soundUse(block: Loose): Loose {
  const id = textIn(block['id']);
  const name = textIn(block['name']);
  const input = inputIn(block['input']);
  const isSame = id === block['id'] && name === block['name'] && input === block['input'];
  return isSame ? block : { ...block, id, name, input };
}

/** The input of a tool use: an object, or its text, as other APIs store it. Anything else is stored as an empty one. */
function inputIn(input: unknown): Loose {
  if (isObject(input)) return input;
  if (typeof input !== 'string') return {};
  try {
    const parsed: unknown = JSON.parse(input);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function soundUserBlock(block: Loose): readonly Loose[] {
  const type = textIn(block['type']);
  if (assistantBlocks.has(type) || isServerResultType(type)) return nothing;
  if (type === 'text') return typeof block['text'] === 'string' ? [block] : nothing;
  return type === 'tool_result' ? soundResult(block) : [soundMedium(block)];
}

function soundMedium(block: Loose): Loose {
  const type = textIn(block['type']);
  if (type !== 'image' && type !== 'document') return block;
  if (!isMediaSource(type, block['source'])) return textBlock(`[${type}]`);
  const odd = ['title', 'context'].filter((name) => block[name] !== undefined && typeof block[name] !== 'string');
  // The API also takes null for a title that is not there.
  const wrong = odd.filter((name) => block[name] !== null);
  return wrong.length === 0
    ? block
    : Object.fromEntries(Object.entries(block).filter(([name]) => !wrong.includes(name)));
}

/** A result that says what it answers; its content a list of parts, its flag a flag. */
function soundResult(block: Loose): readonly Loose[] {
  const id = textIn(block['tool_use_id']);
  if (id === '') return nothing;
  const content = soundParts(block['content']);
  const isError = block['is_error'] === true;
  if (content === block['content'] && isError === block['is_error']) return [block];
  return [{ ...block, content, is_error: isError }];
}

/** The parts of a result, of whatever its content was. */
function soundParts(content: unknown): readonly Loose[] {
  if (content === undefined || content === null) return nothing;
  if (typeof content === 'string') return [textBlock(content)];
  if (!Array.isArray(content)) return [textBlock(JSON.stringify(content))];
  const parts = content as readonly unknown[];
  const repaired = parts.flatMap(soundPart);
  const isSame = repaired.length === parts.length && repaired.every((part, index) => part === parts[index]);
  return isSame ? (parts as readonly Loose[]) : repaired;
}

/** Kinds of parts that a result may hold. */
export const resultParts: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_reference',
]);

function soundPart(part: unknown): readonly Loose[] {
  if (typeof part === 'string') return [textBlock(part)];
  if (!isObject(part)) return nothing;
  const marked = withSoundMark(part);
  const type = textIn(part['type']);
  switch (type) {
    case 'text':
      return typeof part['text'] === 'string' ? [marked] : nothing;
    case 'tool_result':
      return soundParts(part['content']);
    case 'thinking':
    case 'redacted_thinking':
      return nothing;
    default:
      return resultParts.has(type) ? [soundMedium(marked)] : [textBlock(JSON.stringify(part))];
  }
}

function textBlock(text: string): Loose {
  return { type: 'text', text };
}
