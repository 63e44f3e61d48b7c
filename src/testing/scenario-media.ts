/**
 * Short forms of blocks in scenarios: `{"image": {"width": 2162, "height": 322}}` is a tiny PNG that says it is so large,
 * `{"words": 500}` a text of so many words.
 */
import { crc32 } from 'node:zlib';

/** Expands the short forms in a list of blocks, inside tool results too. */
export function expandBlocks(blocks: readonly unknown[]): readonly unknown[] {
  return blocks.map(expandBlock);
}

function expandBlock(block: unknown): unknown {
  if (typeof block !== 'object' || block === null) return block;
  if ('words' in block && !('type' in block) && isCount(block.words))
    return { type: 'text', text: wordsOf(block.words) };
  if ('image' in block && !('type' in block) && isSize(block.image)) return imageBlock(block.image);
  if ('content' in block && Array.isArray(block.content)) return { ...block, content: expandBlocks(block.content) };
  return block;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0;
}

/** A text of so many words. */
export function wordsOf(count: number): string {
  return Array.from({ length: count }, () => 'word').join(' ');
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function isSize(value: unknown): value is Size {
  const isSide = (side: unknown): boolean => Number.isInteger(side) && Number(side) > 0 && Number(side) <= 0x7fffffff;
  return (
    typeof value === 'object' &&
    value !== null &&
    'width' in value &&
    'height' in value &&
    isSide(value.width) &&
    isSide(value.height)
  );
}

function imageBlock(size: Size): unknown {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png(size).toString('base64') } };
}

/** An empty zlib stream: the image has a size and no pixels, so that the largest one is as short as the smallest. */
const noPixels = [0x78, 0x9c, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01];

function png({ width, height }: Size): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', Buffer.from(noPixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Length, name, data and checksum. */
function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
