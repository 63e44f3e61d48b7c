/** Single blocks: text, thinking, names and ids, Unicode. */
import { textIn } from '../json.ts';
import { isBlank } from '../message.ts';
import { isToolUseId, normaliseToolName } from './blocks.ts';
import type { WireBlock, WireMessage } from './request-type.ts';
import type { Report } from './validate.ts';

export function checkBlocks(messages: readonly WireMessage[], thinks: boolean, report: Report): void {
  for (const [index, message] of messages.entries()) {
    const last = message.content.length - 1;
    for (const [place, block] of message.content.entries()) {
      const path = `messages.${index}.content.${place}`;
      checkBlock(block, path, report);
      if (isThinking(block)) checkThinking(thinks, place === last, path, report);
    }
    if (!isWellFormed(message)) report('utf16', `messages.${index}`, 'A string holds half of a surrogate pair.');
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
      checkUse(block, path, report);
      return;
    case 'tool_result':
      checkResult(block, path, report);
      return;
    default:
      return;
  }
}

function checkUse(block: WireBlock, path: string, report: Report): void {
  const [id, name, input] = [String(block['id']), String(block['name']), block['input']];
  if (!isToolUseId(id))
    report('tool_use_id', path, `The tool-use id ${JSON.stringify(id)} holds other than a-z A-Z 0-9 _ -.`);
  if (normaliseToolName(name) !== name) {
    report(
      'tool_name',
      path,
      `The tool name ${JSON.stringify(name.slice(0, 80))} is none: 1 to 64 of a-z A-Z 0-9 _ -.`,
    );
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    report('tool_input', path, 'The input of the tool use is no object.');
  }
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
    if (block['is_error'] === true && part.type !== 'text') {
      report('error_result_media', `${path}.content.${place}`, 'An error result holds other than text.');
    }
  }
}

const wellFormed = new WeakMap<WireMessage, boolean>();

/** Each message object is read once: messages never change. */
function isWellFormed(message: WireMessage): boolean {
  const known = wellFormed.get(message);
  if (known !== undefined) return known;
  const answer = allWellFormed(message.content);
  wellFormed.set(message, answer);
  return answer;
}

function allWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && allWellFormed(member));
}
