/**
 * Violations in the words in which the API refuses them, as public reports quote its errors. A client reads these texts
 * (how much too long, which image), so a test is only as good as they are. What nobody quoted gets our own sentence.
 */
import { textIn } from '../core/json.ts';
import type { WireBlock, WireMessage, WireRequest } from '../core/wire/request-type.ts';
import type { Violation } from '../core/wire/validate.ts';

/** The API's text for an input that is larger than the window. */
export function tooLongText(tokens: number, limit: number): string {
  return `prompt is too long: ${tokens} tokens > ${limit} maximum`;
}

/** The API's text for an input that fits the window, but not together with `max_tokens`. */
export function sumTooLongText(input: number, output: number, window: number): string {
  return `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${window}, decrease input length or \`max_tokens\` and try again`;
}

type Words = (violation: Violation, request: WireRequest, maxOutput: number) => string;

const spokenTwice = (role: string): string =>
  `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`;

/** By the rule of the validator. */
const words: Readonly<Record<string, Words>> = {
  alternation: ({ path }, request) => spokenTwice(messageAt(request, path)?.role ?? 'user'),
  no_messages: () => 'messages: at least one message is required',
  first_role: () => 'messages: first message must use the "user" role',
  last_role: () =>
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  empty_message: ({ path }) =>
    `${path}: all messages must have non-empty content except for the optional final assistant message`,
  missing_result: ({ path }, request) =>
    `${messagePath(path)}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${idAt(request, path)}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  orphan_result: ({ path }, request) => unexpectedResult(path, request, '`tool_use` block in the previous message'),
  duplicate_result: ({ path }, request) =>
    `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${idAt(request, path)}`,
  duplicate_id: ({ path }) => `${path}: \`tool_use\` ids must be unique`,
  server_pair: (violation, request) => serverPair(violation, request),
  misplaced_block: ({ path }, request) => misplaced(path, request),
  blank_text: ({ path }, request) => blankText(path, request),
  thinking_last: ({ path }) => `${messagePath(path)}: The final block in an assistant message cannot be \`thinking\`.`,
  thinking_cycle: ({ path }, request) =>
    `${path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${typeAt(request, path)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`,
  tool_use_id: ({ path }, request) => `${path}.${typeAt(request, path)}.id: ${pattern('+')}`,
  tool_name: ({ path }) => `${path}.${path.startsWith('tools') ? 'custom' : 'tool_use'}.name: ${pattern('{1,64}')}`,
  tool_twice: () => 'tools: Tool names must be unique.',
  tool_input: ({ path }) => `${path}.tool_use.input: Input should be a valid dictionary`,
  error_result_media: ({ path }) => `${blockPath(path)}: all content must be type \`text\` if \`is_error\` is true`,
  utf16: () => 'The request body is not valid JSON: no low surrogate in string',
  max_tokens: (_violation, { max_tokens: asked, model }, maxOutput) =>
    asked > maxOutput
      ? `max_tokens: ${asked} > ${maxOutput}, which is the maximum allowed number of output tokens for ${model}`
      : 'max_tokens: Input should be a valid integer, greater than or equal to 1',
  thinking_budget: (_violation, { thinking, max_tokens: maxTokens }) =>
    thinking?.type === 'enabled' && thinking.budget_tokens >= maxTokens
      ? '`max_tokens` must be greater than `thinking.budget_tokens`.'
      : 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
  breakpoints: ({ message }) =>
    `A maximum of 4 blocks with cache_control may be provided. Found ${/\d+/.exec(message)?.[0] ?? 5}.`,
  image_size: ({ path, message }) => `${imagePath(path)}.image.source.base64.data: ${message}`,
  image_bytes: ({ path, message }) => `${imagePath(path)}.image.source.base64: ${message}`,
};

/** The text of the 400 for a violation. */
export function refusalText(violation: Violation, request: WireRequest, maxOutput: number): string {
  return words[violation.rule]?.(violation, request, maxOutput) ?? `${violation.path}: ${violation.message}`;
}

function pattern(length: string): string {
  return `String should match pattern '^[a-zA-Z0-9_-]${length}$'`;
}

/** The indexes in a path: message, block, part of a tool result. */
function indexes(path: string): readonly number[] {
  return (path.match(/\d+/g) ?? []).map(Number);
}

function messageAt(request: WireRequest, path: string): WireMessage | undefined {
  return request.messages[indexes(path)[0] ?? -1];
}

function blockAt(request: WireRequest, path: string): WireBlock | undefined {
  const [first = -1, second = -1, third] = indexes(path);
  const content: unknown = path.startsWith('system') ? request.system : request.messages[first]?.content;
  const block = inside(content, path.startsWith('system') ? first : second);
  return third === undefined ? block : inside(block?.['content'], third);
}

function inside(content: unknown, index: number): WireBlock | undefined {
  return Array.isArray(content) ? (content as readonly WireBlock[])[index] : undefined;
}

function idAt(request: WireRequest, path: string): string {
  const block = blockAt(request, path);
  return textIn(block?.['id'] ?? block?.['tool_use_id']);
}

function typeAt(request: WireRequest, path: string): string {
  return blockAt(request, path)?.type ?? 'text';
}

function messagePath(path: string): string {
  return path.split('.').slice(0, 2).join('.');
}

function blockPath(path: string): string {
  return path.split('.').slice(0, 4).join('.');
}

/** The API puts the kind of a block into a path that goes through it. */
function imagePath(path: string): string {
  return path.replace(/^(messages\.\d+\.content\.\d+)\.content\./, '$1.tool_result.content.');
}

function unexpectedResult(path: string, request: WireRequest, missing: string): string {
  const type = typeAt(request, path);
  return `${path}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${idAt(request, path)}. Each \`${type}\` block must have a corresponding ${missing}.`;
}

function serverPair({ path, message }: Violation, request: WireRequest): string {
  const block = blockAt(request, path);
  if (block?.type !== 'server_tool_use') return unexpectedResult(path, request, '`server_tool_use` block before it');
  const name = textIn(block['name']);
  return name === ''
    ? `${path}: ${message}`
    : `${messagePath(path)}: \`${name}\` tool use with id \`${idAt(request, path)}\` was found without a corresponding \`${name}_tool_result\` block`;
}

function misplaced(path: string, request: WireRequest): string {
  const type = typeAt(request, path);
  const home = messageAt(request, path)?.role === 'user' ? 'assistant' : 'user';
  return `${messagePath(path)}: \`${type}\` blocks can only be in \`${home}\` messages`;
}

function blankText(path: string, request: WireRequest): string {
  const where = path.startsWith('system') ? 'system' : 'messages';
  const isEmpty = (blockAt(request, path)?.['text'] ?? '') === '';
  return `${where}: text content blocks must ${isEmpty ? 'be non-empty' : 'contain non-whitespace text'}`;
}
