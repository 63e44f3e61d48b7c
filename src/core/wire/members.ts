/** Members of blocks that the API checks: what repairs a block and what refuses it go by the same words. */
import { isObject, textIn } from '../json.ts';

type Loose = Readonly<Record<string, unknown>>;

/** What the API takes as an image (its documentation of vision). */
const imageTypes: ReadonlySet<unknown> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** True for a source that an image or a document may have. Kinds of sources that are not known pass: the API adds new ones. */
export function isMediaSource(kind: 'image' | 'document', source: unknown): boolean {
  if (!isObject(source)) return false;
  switch (source['type']) {
    case 'base64':
      return hasType(kind, source['media_type']) && textIn(source['data']) !== '';
    case 'url':
      return textIn(source['url']) !== '';
    case 'file':
      return textIn(source['file_id']) !== '';
    case 'text':
      return kind === 'document' && textIn(source['data']) !== '';
    case 'content':
      return kind === 'document' && (typeof source['content'] === 'string' || Array.isArray(source['content']));
    default:
      return typeof source['type'] === 'string';
  }
}

function hasType(kind: 'image' | 'document', type: unknown): boolean {
  return kind === 'image' ? imageTypes.has(type) : textIn(type) !== '';
}

/** True for a block with a cache breakpoint; null is the API's word for none. */
export function isMarked(block: Loose): boolean {
  return block['cache_control'] !== undefined && block['cache_control'] !== null;
}

/** True when the cache breakpoint of a block is one that the API takes, or when it has none. */
export function hasSoundMark(block: Loose): boolean {
  if (!isMarked(block)) return true;
  const mark = block['cache_control'];
  // Thinking is cached with what stands around it, never by itself.
  if (block['type'] === 'thinking' || block['type'] === 'redacted_thinking' || !isObject(mark)) return false;
  const { type, ttl, ...others } = mark;
  return type === 'ephemeral' && times.has(ttl) && Object.keys(others).length === 0;
}

/** How long a breakpoint may ask to be kept. */
const times: ReadonlySet<unknown> = new Set([undefined, '5m', '1h']);

/** The block without a cache breakpoint that the API would refuse. */
export function withSoundMark<Block extends Loose>(block: Block): Block {
  return hasSoundMark(block) ? block : withoutMark(block);
}

/** The block without its cache breakpoint. */
export function withoutMark<Block extends Loose>(block: Block): Block {
  const { cache_control: _mark, ...rest } = block;
  return rest as unknown as Block;
}
