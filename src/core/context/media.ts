/** Replaces media that the API refused by a note, so that no image can brick a session. */
import type { LoopConfig } from '../config.ts';
import type { AssistantBlock, ImageBlock, Message, TextBlock, UserBlock, UserMessage } from '../message.ts';
import { failureIn } from '../recovery.ts';
import type { LoopState } from '../state.ts';
import { imageLimits, imageSize } from '../wire/image-size.ts';
import { conversation, requestMessages } from '../wire/request.ts';

type AnyBlock = AssistantBlock | UserBlock;

const noteBlock: TextBlock = {
  type: 'text',
  text: '[An image or document stood here; the API refused it as too large.]',
};

/**
 * The conversation with the blocks replaced that the error names; when it names none, all media over the stated limits;
 * when none is, those of the newest message that holds any. Null when nothing would change.
 */
export function replaceMedia(state: LoopState, config: LoopConfig): readonly Message[] | null {
  const messages = conversation(state);
  const guesses = [() => namedBlocks(state, config), () => oversized(messages), () => newestMedia(messages)];
  for (const guess of guesses) {
    const picked = guess();
    const result = replaced(messages, (block) => picked.has(block));
    if (result !== null) return result;
  }
  return null;
}

/** Images that are larger than the API takes, alone or among many. */
function oversized(messages: readonly Message[]): ReadonlySet<unknown> {
  const media = messages.filter(({ refused }) => !refused).flatMap(mediaOf);
  const count = media.filter(({ type }) => type === 'image').length;
  return new Set(media.filter((block) => block.type === 'image' && isOversized(block.source, count)));
}

function isOversized(source: ImageBlock['source'], count: number): boolean {
  if (source.type !== 'base64') return false;
  const size = imageSize(source.data);
  const side = size === null ? 0 : Math.max(size.width, size.height);
  return (
    source.data.length > imageLimits.characters ||
    side > (count > imageLimits.many ? imageLimits.sideOfMany : imageLimits.side)
  );
}

function newestMedia(messages: readonly Message[]): ReadonlySet<unknown> {
  const newest = messages.findLast((message) => message.content.some(holdsMedia));
  return new Set<unknown>(newest === undefined ? [] : mediaOf(newest));
}

/** The stored blocks behind the paths of the error: the request holds the same objects as the history. */
function namedBlocks(state: LoopState, config: LoopConfig): ReadonlySet<unknown> {
  const paths = failureIn(state)?.mediaPaths ?? [];
  if (paths.length === 0) return new Set();
  const messages = requestMessages(state, config);
  const blocks = paths.map(([message = -1, block = -1, part]) => {
    const outer = messages[message]?.content[block];
    if (part === undefined || !Array.isArray(outer?.['content'])) return outer;
    return (outer['content'] as readonly unknown[])[part];
  });
  return new Set(blocks.filter((block) => block !== undefined));
}

function isMedia(block: AnyBlock): boolean {
  return block.type === 'image' || block.type === 'document';
}

function holdsMedia(block: AnyBlock): boolean {
  return isMedia(block) || (block.type === 'tool_result' && block.content.some(isMedia));
}

function mediaOf(message: Message): readonly AnyBlock[] {
  const blocks: readonly AnyBlock[] = message.content;
  return blocks.flatMap((block) =>
    block.type === 'tool_result' ? block.content.filter(isMedia) : isMedia(block) ? [block] : [],
  );
}

function replaced(messages: readonly Message[], picks: (block: AnyBlock) => boolean): readonly Message[] | null {
  const result = messages.map((message) => (message.role === 'user' ? withNotes(message, picks) : message));
  return result.some((message, index) => message !== messages[index]) ? result : null;
}

/** The message with a note in the place of each medium that is picked; the same object when none is. */
function withNotes(message: UserMessage, picks: (block: AnyBlock) => boolean): UserMessage {
  const isPicked = (block: AnyBlock): boolean => isMedia(block) && picks(block);
  const content = message.content.map((block): UserBlock => {
    if (block.type !== 'tool_result') return isPicked(block) ? noteBlock : block;
    if (!block.content.some(isPicked)) return block;
    return { ...block, content: block.content.map((part) => (isPicked(part) ? noteBlock : part)) };
  });
  return content.some((block, index) => block !== message.content[index]) ? { ...message, content } : message;
}
