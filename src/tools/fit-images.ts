/** Images where they come in: one that is larger than the API takes is scaled down, or left out with a note. */
import { withoutBoundThinking } from '../core/context/thinking.ts';
import type { QueryStart } from '../core/initial-state.ts';
import type { ImageBlock, Message, TextBlock, UserBlock } from '../core/message.ts';
import { base64Of, imageFault, imageLimits, imageSize } from '../core/wire/image-size.ts';
import type { ScaledImage, ScaleImage } from './scale-image.ts';
import { oneLine } from './text.ts';
import { describeThrown } from './thrown.ts';

/** Longest reason in a note, in characters. */
const longestReason = 200;

/** The block that stands in the place of an image: itself, a smaller copy, or a note. Never rejects. */
async function fitImage(image: ImageBlock, scale: ScaleImage): Promise<ImageBlock | TextBlock> {
  const data = base64Of(image);
  if (data === null) return image;
  const size = imageSize(data);
  // How many images will stand beside it nobody knows yet: among many the smaller limit holds, so it holds for all.
  if (imageFault(data, size, Number.POSITIVE_INFINITY) === null) return image;
  const scaled = size === null ? 'it is of no kind that is known' : await tryToScale(data, scale);
  if (typeof scaled !== 'string') return { type: 'image', source: { type: 'base64', ...scaled } };
  const fault = imageFault(data, size, 1);
  // Alone it may be sent as it is; among many the loop leaves it out.
  if (fault === null) return image;
  return { type: 'text', text: `[An image was left out: ${fault}. It could not be scaled down: ${scaled}.]` };
}

/** A copy within the limits, or why there is none. */
async function tryToScale(data: string, scale: ScaleImage): Promise<ScaledImage | string> {
  try {
    const scaled = await scale(data, { side: imageLimits.sideOfMany, characters: imageLimits.characters });
    const fault = imageFault(scaled.data, imageSize(scaled.data), Number.POSITIVE_INFINITY);
    return fault === null ? scaled : `of the copy too, ${fault}`;
  } catch (error) {
    return oneLine(describeThrown(error), longestReason).replace(/\.$/, '');
  }
}

/** Blocks with every image fitted, those in tool results too; the same array when none had to be. Never rejects. */
export async function fitImages<Block extends UserBlock>(
  blocks: readonly Block[],
  scale: ScaleImage,
): Promise<readonly (Block | ImageBlock | TextBlock)[]> {
  // One after the other: an image in work takes many times its file in memory.
  const fitted: (Block | ImageBlock | TextBlock)[] = [];
  for (const block of blocks) fitted.push(await fitBlock(block, scale));
  return fitted.some((block, index) => block !== blocks[index]) ? fitted : blocks;
}

async function fitBlock<Block extends UserBlock>(
  block: Block,
  scale: ScaleImage,
): Promise<Block | ImageBlock | TextBlock> {
  if (block.type === 'image') return fitImage(block, scale);
  if (block.type !== 'tool_result') return block;
  const content = await fitImages(block.content, scale);
  return content === block.content ? block : { ...block, content };
}

async function fitMessages(messages: readonly Message[], scale: ScaleImage): Promise<readonly Message[]> {
  const fitted: Message[] = [];
  for (const message of messages) fitted.push(message.role === 'user' ? await fitContent(message, scale) : message);
  return withoutBoundThinking(messages, fitted);
}

/** A message with every image fitted; the same object when none had to be. Never rejects. */
export async function fitContent<Holder extends { readonly content: readonly UserBlock[] }>(
  holder: Holder,
  scale: ScaleImage,
): Promise<Holder> {
  const content = await fitImages(holder.content, scale);
  return content === holder.content ? holder : { ...holder, content };
}

/** What a query starts from with every image fitted. Never rejects. */
export async function fitStart<Start extends Omit<QueryStart, 'seed'>>(
  start: Start,
  scale: ScaleImage,
): Promise<Start> {
  const { prompt, messages, queued } = start;
  return {
    ...start,
    ...(prompt === undefined || typeof prompt === 'string' ? {} : { prompt: await fitImages(prompt, scale) }),
    ...(messages === undefined ? {} : { messages: await fitMessages(messages, scale) }),
    ...(queued === undefined ? {} : { queued: await Promise.all(queued.map((said) => fitContent(said, scale))) }),
  };
}
