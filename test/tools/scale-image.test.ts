import { expect, it, vi } from 'vitest';
import { scaleWithSharp } from '../../src/tools/scale-image.ts';

it('says so where sharp is not installed', async () => {
  vi.doMock('sharp', () => {
    throw new Error('Cannot find package');
  });
  await expect(scaleWithSharp('AAAA', { side: 10, characters: 10 })).rejects.toThrow('sharp is not installed');
  vi.doUnmock('sharp');
});
