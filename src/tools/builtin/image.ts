/** Images that a model can look at. */
import { imageSize } from 'image-size';
import type { ImageBlock } from '../../core/message.ts';
import { FileProblem } from './file-access.ts';

type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** The kind of image that a file begins like, or null. The name of the file says nothing. */
export function imageType(head: Buffer): MediaType | null {
  const text = head.toString('latin1', 0, 16);
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  return text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP' ? 'image/webp' : null;
}

/** Largest file that is read as an image, in bytes: it is in memory whole while it is scaled down. */
export const largestImage = 20 * 1024 * 1024;

/** An image as a block, whatever its size: what the API would refuse is scaled down behind the tool. Throws a `FileProblem` for one that is damaged. */
export function imageBlock(content: Buffer, type: MediaType, path: string): ImageBlock {
  checkHeader(content, path);
  return { type: 'image', source: { type: 'base64', media_type: type, data: content.toString('base64') } };
}

function checkHeader(content: Buffer, path: string): void {
  try {
    imageSize(content);
  } catch {
    throw new FileProblem(`${path} begins like an image but is damaged.`);
  }
}
