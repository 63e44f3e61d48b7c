/** Short forms of media in scenarios: `{"image": {"width": 2162, "height": 322}}` is a real, tiny PNG of that size. */

/** Expands the short forms in a list of blocks, inside tool results too. */
export function expandBlocks(blocks: readonly unknown[]): readonly unknown[] {
  return blocks.map(expandBlock);
}

function expandBlock(block: unknown): unknown {
  if (typeof block !== 'object' || block === null) return block;
  if ('image' in block && !('type' in block)) return imageBlock(block.image as { width: number; height: number });
  if ('content' in block && Array.isArray(block.content)) return { ...block, content: expandBlocks(block.content) };
  return block;
}

function imageBlock({ width, height }: { width: number; height: number }): unknown {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pngHeader(width, height) } };
}

/** The first bytes of a PNG: all that anybody needs who asks for its size. */
function pngHeader(width: number, height: number): string {
  const bytes = Buffer.alloc(33);
  bytes.write('\x89PNG\r\n\x1a\n', 0, 'latin1');
  bytes.writeUInt32BE(13, 8);
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.set([8, 6, 0, 0, 0], 24);
  return bytes.toString('base64');
}
