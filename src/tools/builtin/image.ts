/** Images that a model can look at. */
import { imageSize } from 'image-size';
import type { ImageBlock } from '../../core/message.ts';
import { FileProblem } from './file-access.ts';

/** The API's limits for one image: 5 MB of base64, 8,000 pixels a side ("exceeds 5 MB maximum", "max allowed size: 8000 pixels"). */
const imageLimits = { base64Length: 5 * 1024 * 1024, side: 8_000 } as const;

type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** The kind of image that a file begins like, or null. The name of the file says nothing. */
export function imageType(head: Buffer): MediaType | null {
  const text = head.toString('latin1', 0, 16);
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  return text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP' ? 'image/webp' : null;
}

/** Largest file whose base64 form the API takes, in bytes. */
export const largestImage = Math.floor(imageLimits.base64Length / 4) * 3;

/** An image as a block. Throws a `FileProblem` for one that is damaged or that the API would refuse. */
export function imageBlock(content: Buffer, type: MediaType, path: string): ImageBlock {
  const { width, height } = dimensionsOf(content, path);
  if (Math.max(width, height) > imageLimits.side) {
    throw new FileProblem(
      `${path} is an image of ${width} x ${height} pixels; at most ${imageLimits.side} a side can be shown. Scale it down first.`,
    );
  }
  return { type: 'image', source: { type: 'base64', media_type: type, data: content.toString('base64') } };
}

function dimensionsOf(content: Buffer, path: string): { readonly width: number; readonly height: number } {
  try {
    return imageSize(content);
  } catch {
    throw new FileProblem(`${path} begins like an image but is damaged.`);
  }
}
