/** Single blocks: where they may stand, text, thinking, names and ids, Unicode. */
import { isObject, isWellFormed, textIn } from '../json.ts';
import { isBlank } from '../message.ts';
import { isToolUseId, normaliseToolName } from './blocks.ts';
import { unthinkingStart } from './cycle.ts';
import { isMediaSource } from './members.ts';
import type { WireBlock, WireMessage, WireRequest } from './request-type.ts';
import { assistantBlocks, isServerResultType, resultParts, userBlocks } from './sound.ts';
import type { Report } from './validate.ts';

/** Checks every block by itself: of the messages, the system prompt and the tool list. */
export function checkBlocks(request: WireRequest, messages: readonly WireMessage[], report: Report): void {
  const thinks = request.thinking !== undefined && request.thinking.type !== 'disabled';
  for (const [index, message] of messages.entries()) checkMessage(message, `messages.${index}`, thinks, report);
  if (request.thinking?.type === 'enabled') checkCycle(messages, report);
  const system = request.system ?? [];
  for (const [place, block] of (Array.isArray(system) ? (system as readonly WireBlock[]) : []).entries()) {
    checkBlock(block, `system.${place}`, report);
  }
  checkUnicode(system, 'system', report);
  checkUnicode(request.tools ?? [], 'tools', report);
}

/** A fixed thinking budget holds for the whole of a tool cycle, or not at all. */
function checkCycle(messages: readonly WireMessage[], report: Report): void {
  const start = unthinkingStart(messages);
  if (start === null) return;
  const why = 'Thinking is enabled, and the answer that began the tool cycle does not start with thinking.';
  report('thinking_cycle', `messages.${start}.content.0`, why);
}

function checkMessage(message: WireMessage, path: string, thinks: boolean, report: Report): void {
  const last = message.content.length - 1;
  if (last < 0) report('empty_message', path, 'The message has no content.');
  for (const [place, block] of message.content.entries()) {
    const at = `${path}.content.${place}`;
    checkHome(block, message.role, at, report);
    checkBlock(block, at, report);
    if (isThinking(block)) checkThinking(thinks, place === last, at, report);
  }
  checkUnicode(message, path, report);
}

/** The only role that may say blocks of this kind; null where each may. */
function homeOf(type: string): WireMessage['role'] | null {
  if (type === 'tool_result' || userBlocks.has(type)) return 'user';
  return assistantBlocks.has(type) || isServerResultType(type) ? 'assistant' : null;
}

function checkHome(block: WireBlock, role: WireMessage['role'], path: string, report: Report): void {
  const home = homeOf(block.type);
  if (home !== null && home !== role) {
    report('misplaced_block', path, `A ${block.type} block stands in a message of the role ${role}.`);
  }
}

function isThinking(block: WireBlock): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

function checkThinking(thinks: boolean, isLast: boolean, path: string, report: Report): void {
  if (!thinks) report('thinking_off', path, 'Thinking stands in a request that does not ask for thinking.');
  if (isLast) report('thinking_last', path, 'Thinking is the last block of its message.');
}

function checkBlock(block: WireBlock, path: string, report: Report): void {
  switch (block.type) {
    case 'text':
      if (isBlank(textIn(block['text']))) report('blank_text', path, 'The text is empty or only white space.');
      return;
    case 'tool_use':
      checkId(block, path, report);
      checkUse(block, path, report);
      return;
    case 'server_tool_use':
      checkId(block, path, report);
      checkInput(block, path, report);
      return;
    case 'image':
    case 'document':
      if (!isMediaSource(block.type, block['source'])) {
        report('media_source', path, `The source of the ${block.type} lacks what makes it up.`);
      }
      return;
    case 'tool_result':
      checkResult(block, path, report);
      return;
    default:
      return;
  }
}

function checkId(block: WireBlock, path: string, report: Report): void {
  const id = textIn(block['id']);
  if (isToolUseId(id)) return;
  report('tool_use_id', path, `The tool-use id ${shortened(id)} is none: 1 to 128 of a-z A-Z 0-9 _ -.`);
}

function checkUse(block: WireBlock, path: string, report: Report): void {
  const name = textIn(block['name']);
  if (normaliseToolName(name) !== name) {
    report('tool_name', path, `The tool name ${shortened(name)} is none: 1 to 64 of a-z A-Z 0-9 _ -.`);
  }
  checkInput(block, path, report);
}

function checkInput({ input }: WireBlock, path: string, report: Report): void {
  if (!isObject(input)) report('tool_input', path, 'The input of the tool use is no object.');
}

/** Models make up names of any length, and a violation is a sentence. */
function shortened(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function checkResult(block: WireBlock, path: string, report: Report): void {
  const { content } = block;
  if (typeof content === 'string') {
    if (isBlank(content)) report('blank_text', path, 'The result is an empty text.');
    return;
  }
  const parts = Array.isArray(content) ? (content as readonly WireBlock[]) : [];
  for (const [place, part] of parts.entries()) {
    checkBlock(part, `${path}.content.${place}`, report);
    if (!resultParts.has(part.type)) {
      report(
        'result_part',
        `${path}.content.${place}`,
        `A result cannot hold a block of the type ${shortened(part.type)}.`,
      );
    }
    if (block['is_error'] === true && part.type !== 'text') {
      report('error_result_media', `${path}.content.${place}`, 'An error result holds other than text.');
    }
  }
}

function checkUnicode(value: unknown, path: string, report: Report): void {
  if (!isKnownWellFormed(value)) report('utf16', path, 'A string holds half of a surrogate pair.');
}

const wellFormed = new WeakMap<object, boolean>();

/** Each message, system prompt and tool list is read once: they never change. */
function isKnownWellFormed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isWellFormed(value);
  const known = wellFormed.get(value);
  if (known !== undefined) return known;
  const answer = isWellFormed(value);
  wellFormed.set(value, answer);
  return answer;
}
