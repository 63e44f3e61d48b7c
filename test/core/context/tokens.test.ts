import { describe, expect, it } from 'vitest';
import { estimateBlock } from '../../../src/core/context/tokens.ts';
import { expandBlocks } from '../../../src/testing/scenario-media.ts';

describe('the estimate of an image', () => {
  it.each([
    [100, 100, 94],
    [1_024, 1_024, 1_479],
    [1_920, 1_080, 2_845],
    [8_000, 8_000, 4_200],
  ])('comes from its size: %d x %d', (width, height, tokens) => {
    expect(estimateBlock(imageOf(width, height))).toBe(tokens);
  });

  it('is that of a full one when the size is not known', () => {
    expect(estimateBlock({ type: 'image', source: { type: 'url', url: 'http://a/b.png' } })).toBe(1_600);
    expect(estimateBlock({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } })).toBe(
      1_600,
    );
  });
});

function imageOf(width: number, height: number): { readonly type: string } {
  return expandBlocks([{ image: { width, height } }])[0] as { readonly type: string };
}
