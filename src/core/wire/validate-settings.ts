/** What stands beside the messages: limits, tools, cache breakpoints, media. */
import { normaliseToolName } from './blocks.ts';
import { imageLimits, imageSize } from './image-size.ts';
import { mostBreakpoints } from './marks.ts';
import { hasSoundMark, isMarked } from './members.ts';
import type { WireBlock, WireMessage, WireRequest } from './request-type.ts';
import type { Report, RequestLimits } from './validate.ts';

/** The least thinking budget in tokens (its documentation of extended thinking). */
const leastThinkingBudget = 1_024;

/** Checks limits, tools, cache breakpoints, images, and what the profile does not know. */
export function checkSettings(
  request: WireRequest,
  messages: readonly WireMessage[],
  limits: RequestLimits,
  report: Report,
): void {
  checkTokens(request, limits, report);
  checkTools(request, report);
  checkBreakpoints(request, messages, limits, report);
  checkImages(messages, report);
  if (request.compaction !== undefined && request.context_management !== undefined) {
    report('compaction', 'compaction', 'The API takes no compaction together with context_management.');
  }
  if (limits.profile === 'plain') checkPlain(request, report);
}

/** What no other server that speaks the Messages API documents. */
function checkPlain(request: WireRequest, report: Report): void {
  if (request.output_config !== undefined) {
    report('plain_profile', 'output_config', 'The profile plain knows no output_config.');
  }
  for (const name of ['context_management', 'compaction'] as const) {
    if (request[name] !== undefined) report('plain_profile', name, `The profile plain knows no ${name}.`);
  }
  if (request.thinking?.type === 'adaptive') {
    report('plain_profile', 'thinking', 'The profile plain knows no adaptive thinking.');
  }
}

function checkTokens(request: WireRequest, limits: RequestLimits, report: Report): void {
  const { max_tokens: maxTokens, thinking } = request;
  if (!Number.isInteger(maxTokens) || maxTokens < 1)
    report('max_tokens', 'max_tokens', 'max_tokens is no positive integer.');
  if (maxTokens > limits.maxOutput) {
    report('max_tokens', 'max_tokens', `max_tokens is ${maxTokens}, and the model says at most ${limits.maxOutput}.`);
  }
  if (thinking?.type === 'enabled' && thinking.budget_tokens >= maxTokens) {
    report(
      'thinking_budget',
      'thinking',
      `The thinking budget ${thinking.budget_tokens} is not under max_tokens ${maxTokens}.`,
    );
  }
  if (thinking?.type === 'enabled' && thinking.budget_tokens < leastThinkingBudget) {
    report('thinking_budget', 'thinking', `The thinking budget is under ${leastThinkingBudget}.`);
  }
  if (limits.estimate !== null && limits.estimate + maxTokens > limits.contextWindow) {
    const sum = `${limits.estimate} + ${maxTokens} > ${limits.contextWindow}`;
    report('window', 'max_tokens', `The input and max_tokens do not fit the window: ${sum}.`);
  }
}

function checkTools(request: WireRequest, report: Report): void {
  const names = new Set<string>();
  for (const [index, { name }] of (request.tools ?? []).entries()) {
    if (normaliseToolName(name) !== name)
      report('tool_name', `tools.${index}`, `The tool name ${JSON.stringify(name.slice(0, 80))} is none.`);
    if (names.has(name)) report('tool_twice', `tools.${index}`, `Two tools are called ${name}.`);
    names.add(name);
  }
}

function checkBreakpoints(
  request: WireRequest,
  messages: readonly WireMessage[],
  limits: RequestLimits,
  report: Report,
): void {
  const system: unknown = request.system;
  const blocks = Array.isArray(system) ? (system as readonly WireBlock[]) : [];
  // The order in which the API reads a request, and keeps what it has read.
  const all = [
    ...(request.tools ?? []).map((tool, index) => ({ path: `tools.${index}`, block: { type: 'tool', ...tool } })),
    ...blocks.map((block, place) => ({ path: `system.${place}`, block })),
    ...messages.flatMap((message, index) => nested(message, `messages.${index}`)),
  ];
  const marked = all.filter(({ block }) => isMarked(block));
  const count = marked.length;
  for (const { path, block } of marked) {
    if (!hasSoundMark(block))
      report('cache_control', path, 'The cache breakpoint is none, or the block may not have one.');
  }
  checkTimes(marked, report);
  if (count > mostBreakpoints) {
    report(
      'breakpoints',
      'messages',
      `There are ${count} cache breakpoints, and at most ${mostBreakpoints} are allowed.`,
    );
  }
  if (count > 0 && limits.profile === 'plain') {
    report('plain_profile', 'messages', 'The profile plain knows no cache breakpoints.');
  }
}

/** What is to be kept for an hour stands before what is kept for five minutes. */
function checkTimes(marked: readonly PlacedBlock[], report: Report): void {
  const short = marked.findIndex(({ block }) => block.cache_control?.ttl !== '1h');
  const late = short < 0 ? undefined : marked.slice(short).find(({ block }) => block.cache_control?.ttl === '1h');
  if (late !== undefined) {
    report('cache_control', late.path, 'A cache breakpoint for an hour stands behind one for five minutes.');
  }
}

interface PlacedBlock {
  readonly path: string;
  readonly block: WireBlock;
}

/** The blocks of a message in their order, those inside tool results before the result. */
function nested(message: WireMessage, path: string): readonly PlacedBlock[] {
  return message.content.flatMap((block, place) => {
    const at = `${path}.content.${place}`;
    return [
      ...partsOf(block).map((part, inner) => ({ path: `${at}.content.${inner}`, block: part })),
      { path: at, block },
    ];
  });
}

function partsOf(block: WireBlock): readonly WireBlock[] {
  const { content } = block;
  return block.type === 'tool_result' && Array.isArray(content) ? (content as readonly WireBlock[]) : [];
}

interface PlacedImage {
  readonly path: string;
  readonly data: string;
}

function checkImages(messages: readonly WireMessage[], report: Report): void {
  const images = messages.flatMap((message, index) =>
    message.content.flatMap((block, place) => [
      ...imageAt(block, `messages.${index}.content.${place}`),
      ...partsOf(block).flatMap((part, inner) => imageAt(part, `messages.${index}.content.${place}.content.${inner}`)),
    ]),
  );
  const largest = images.length > imageLimits.many ? imageLimits.sideOfMany : imageLimits.side;
  for (const { path, data } of images) checkImage(path, data, largest, report);
}

function imageAt(block: WireBlock, path: string): readonly PlacedImage[] {
  const source = block['source'] as { readonly type?: unknown; readonly data?: unknown } | undefined;
  if (block.type !== 'image' || source?.type !== 'base64' || typeof source.data !== 'string') return [];
  return [{ path, data: source.data }];
}

function checkImage(path: string, data: string, largest: number, report: Report): void {
  const { characters, sideOfMany } = imageLimits;
  if (data.length > characters) {
    report('image_bytes', path, `image exceeds 5 MB maximum: ${data.length} bytes > ${characters} bytes`);
  }
  const size = imageSize(data);
  if (size === null || Math.max(size.width, size.height) <= largest) return;
  const many = largest === sideOfMany ? ' for many-image requests' : '';
  report('image_size', path, `At least one of the image dimensions exceed max allowed size${many}: ${largest} pixels`);
}
