/** Replaces media that the API refuses, or would refuse, by a note, so that no image can brick a session. */
import type { LoopConfig } from '../config.ts';
import type { AssistantBlock, ImageBlock, Message, TextBlock, UserBlock, UserMessage } from '../message.ts';
import { failureIn } from '../recovery.ts';
import type { LoopState } from '../state.ts';
import { base64Of, imageFault, type ImageSize, imageSize } from '../wire/image-size.ts';
import { conversation, requestMessages } from '../wire/request.ts';
import { mapParts } from './parts.ts';

type AnyBlock = AssistantBlock | UserBlock;

const noteBlock: TextBlock = {
  type: 'text',
  text: '[An image or document stood here; the API refused it as too large.]',
};

/**
 * The conversation with the blocks replaced that the error names; when it names none, those of the newest message that
 * holds any: what is over the stated limits was never sent. Null when nothing would change.
 */
export function replaceMedia(state: LoopState, config: LoopConfig): readonly Message[] | null {
  const messages = conversation(state);
  const guesses = [() => namedBlocks(state, config), () => newestMedia(messages)];
  for (const guess of guesses) {
    const picked = guess();
    const result = replaced(messages, (block) => (picked.has(block) ? noteBlock : null));
    if (result !== null) return result;
  }
  return null;
}

/**
 * The conversation with a note in the place of each image over the limits of the API, which are smaller among many
 * images; the same object when none is.
 */
export function withinImageLimits(messages: readonly Message[]): readonly Message[] {
  let images = 0;
  for (const message of messages) if (!message.refused) images += imagesOf(message).length;
  if (images === 0) return messages;
  return replaced(messages, (block) => (block.type === 'image' ? noteOn(block, images) : null)) ?? messages;
}

/** What is wrong with an image, as a note; null for one that the API takes. */
function noteOn(image: ImageBlock, images: number): TextBlock | null {
  const data = base64Of(image);
  const fault = data === null ? null : imageFault(data, knownSize(image, data), images);
  return fault === null ? null : { type: 'text', text: `[An image stood here; it was left out: ${fault}.]` };
}

const sizes = new WeakMap<ImageBlock, ImageSize | null>();

/** Looked at before every request: each image is read once. */
function knownSize(image: ImageBlock, data: string): ImageSize | null {
  const known = sizes.get(image);
  if (known !== undefined) return known;
  const size = imageSize(data);
  sizes.set(image, size);
  return size;
}

const imagesCache = new WeakMap<Message, readonly AnyBlock[]>();

function imagesOf(message: Message): readonly AnyBlock[] {
  const known = imagesCache.get(message);
  if (known !== undefined) return known;
  const images = mediaOf(message).filter(({ type }) => type === 'image');
  imagesCache.set(message, images);
  return images;
}

function newestMedia(messages: readonly Message[]): ReadonlySet<unknown> {
  // What was refused is not sent: without its media the request would be the same.
  const newest = messages.findLast((message) => !message.refused && message.content.some(holdsMedia));
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

/** What stands in the place of a block; null: the block stays. */
type Replacement = (block: AnyBlock) => TextBlock | null;

function replaced(messages: readonly Message[], replace: Replacement): readonly Message[] | null {
  const result = messages.map((message) => (message.role === 'user' ? withNotes(message, replace) : message));
  return result.some((message, index) => message !== messages[index]) ? result : null;
}

/** The message with a note in the place of each medium that is replaced; the same object when none is. */
function withNotes(message: UserMessage, replace: Replacement): UserMessage {
  if (!message.content.some(holdsMedia)) return message;
  return mapParts(message, (part) => (isMedia(part) ? replace(part) : null) ?? part);
}
