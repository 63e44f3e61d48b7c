/**
 * How many tokens the context holds: the API's own newest figure plus a deliberately high estimate of what came after.
 */
import type { LoopConfig } from '../config.ts';
import type { ImageBlock, Message, Usage } from '../message.ts';
import type { LoopState, ToolSpec } from '../state.ts';
import { base64Of, imageSize } from '../wire/image-size.ts';
import { estimateText } from './estimate-text.ts';

export { estimateText };

/**
 * Price of one image: the API's own formula (width × height / 750). Public measurements on its newest models found 80 more
 * and no image above 4,100; an older model scales down to 1,600. `unknown`: an image behind a URL.
 */
const imagePrice = { pixelsPerToken: 750, base: 80, most: 4_200, unknown: 1_600 };
/** Rough price of one document page, and characters of base64 that one page takes. */
const pageTokens = 2_000;
const pageCharacters = 60_000;
/** What role and framing of one message cost. */
const messageOverhead = 4;
/** The learnt factor stays within these: older models and other vendors count less, denser languages more. */
const ratioRange = { least: 0.7, most: 2 };
/** A learnt factor that lowers estimates keeps so much on top: what comes next may be denser than what was reported. */
const keptOnTop = 1.05;

const messageCache = new WeakMap<object, number>();

interface AnyBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Estimates one content block in the form of the API. */
export function estimateBlock(block: AnyBlock): number {
  switch (block.type) {
    case 'text':
      return estimateText(String(block['text']));
    case 'thinking':
      return estimateText(String(block['thinking'])) + estimateText(String(block['signature']));
    case 'image':
      return estimateImage(block as unknown as ImageBlock);
    case 'compaction':
      // What else stands in the block is opaque and read by the API alone.
      return estimateText(String(block['content']));
    case 'document':
      return pageTokens * Math.max(1, Math.ceil(JSON.stringify(block['source'] ?? null).length / pageCharacters));
    case 'tool_result':
      return messageOverhead + estimateContent(block['content']);
    case 'tool_use':
      return messageOverhead + estimateText(String(block['name'])) + estimateText(JSON.stringify(block['input']));
    default:
      return estimateText(JSON.stringify(block));
  }
}

function estimateImage(image: ImageBlock): number {
  const data = base64Of(image);
  const size = data === null ? null : imageSize(data);
  if (size === null) return imagePrice.unknown;
  return Math.min(imagePrice.most, imagePrice.base + Math.ceil((size.width * size.height) / imagePrice.pixelsPerToken));
}

function estimateContent(content: unknown): number {
  if (typeof content === 'string') return estimateText(content);
  if (!Array.isArray(content)) return 0;
  return (content as readonly AnyBlock[]).reduce((sum, block) => sum + estimateBlock(block), 0);
}

/** Estimates one message, stored or in wire form; each object is measured once, since messages never change. */
export function estimateMessage(message: { readonly content: readonly unknown[] }): number {
  const known = messageCache.get(message);
  if (known !== undefined) return known;
  const tokens = messageOverhead + estimateContent(message.content);
  messageCache.set(message, tokens);
  return tokens;
}

export function estimateMessages(messages: readonly Message[], from = 0): number {
  let sum = 0;
  for (let index = from; index < messages.length; index += 1) {
    const message = messages[index]!;
    if (!message.refused) sum += estimateMessage(message);
  }
  return sum;
}

const toolsCache = new WeakMap<object, number>();

function estimateTools(tools: readonly ToolSpec[]): number {
  const known = toolsCache.get(tools);
  if (known !== undefined) return known;
  const tokens = tools.length === 0 ? 0 : estimateText(JSON.stringify(tools));
  toolsCache.set(tools, tokens);
  return tokens;
}

/** Tokens of system prompt and tools, which no compaction can free. */
export function fixedTokens(state: LoopState, config: LoopConfig): number {
  return config.systemTokens + estimateText(config.system) + estimateTools(state.query.tools);
}

/** Estimates a history as a whole, with what is fixed: the one measure in which compactions are compared. */
export function estimateHistory(messages: readonly Message[], state: LoopState, config: LoopConfig): number {
  return Math.ceil((fixedTokens(state, config) + estimateMessages(messages)) * state.query.tokenRatio);
}

let newest: { readonly state: LoopState; readonly config: LoopConfig; readonly tokens: number } | null = null;

/** Tokens that the next request will hold: history and what re-asks added to it. */
export function contextSize(state: LoopState, config: LoopConfig): number {
  // Several guards ask for the same state in a row; states never change, so the newest answer holds.
  if (newest !== null && newest.state === state && newest.config === config) return newest.tokens;
  const tokens = sizeOf(state, config);
  newest = { state, config, tokens };
  return tokens;
}

function sizeOf(state: LoopState, config: LoopConfig): number {
  const { measured, tokenRatio } = state.query;
  const { messages } = state.carried;
  const added = estimateMessages(state.scratch.additions);
  if (measured === null) return estimateHistory(messages, state, config) + Math.ceil(added * tokenRatio);
  const beyond = measured.messages - messages.length;
  const appended =
    beyond <= 0
      ? estimateMessages(messages, measured.messages) + added
      : estimateMessages(state.scratch.additions, beyond);
  return measured.tokens + Math.ceil(appended * tokenRatio);
}

/** Whether a figure of a server can be believed: some servers report no usage, or zeros. */
export function isUsable(usage: Usage): boolean {
  return usage.input + usage.cacheRead + usage.cacheCreation > 0;
}

/** The factor after a request whose whole input was estimated at `estimated` and reported as `reported`. */
export function learnRatio(ratio: number, estimated: number, reported: number): number {
  if (estimated < 1 || reported < 1) return ratio;
  const learnt = ratio * (reported / estimated);
  const careful = learnt < 1 ? Math.min(1, learnt * keptOnTop) : learnt;
  return clampRatio(careful);
}

export function clampRatio(ratio: number): number {
  return Math.min(ratioRange.most, Math.max(ratioRange.least, ratio));
}
