/** The size of an image from the first bytes of its base64 data, without decoding the rest. */
import type { ImageBlock } from '../message.ts';
import { count } from '../text.ts';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** What the API takes (texts of its own errors): the largest side in pixels, also among many images, and characters of base64. */
export const imageLimits = { side: 8_000, sideOfMany: 2_000, many: 20, characters: 5 * 1024 * 1024 };

/** The data of an image that comes with it; null for one behind a URL, and for a stored block that is damaged. */
export function base64Of(image: ImageBlock): string | null {
  const source = image.source as { readonly type?: unknown; readonly data?: unknown } | null | undefined;
  return source?.type === 'base64' && typeof source.data === 'string' ? source.data : null;
}

/** Why the API would refuse an image among so many; null when it would not. Of a size that is not known it takes anything. */
export function imageFault(base64: string, size: ImageSize | null, images: number): string | null {
  const { side, sideOfMany, many, characters } = imageLimits;
  if (base64.length > characters) return `it has ${count(base64.length, 'byte')}, and the API takes at most 5 MB`;
  const longest = size === null ? 0 : Math.max(size.width, size.height);
  const most = images > many ? sideOfMany : side;
  if (size === null || longest <= most) return null;
  const among = images > many ? ` among more than ${many} images` : '';
  return `it has ${size.width} x ${size.height} pixels, and the API takes at most ${most} a side${among}`;
}

/** Bytes that are looked at: the size stands near the start, in JPEG behind its metadata. */
const lookedAt = 64 * 1024;

const digits = new Map(
  Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', (character, value) => [
    character,
    value,
  ]),
);

/** Width and height in pixels of a PNG, GIF, WebP or JPEG; null for anything else. */
export function imageSize(base64: string): ImageSize | null {
  const bytes = decode(base64, lookedAt);
  return pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes);
}

/** Bytes of the decoded data. */
export function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}

function decode(base64: string, most: number): Uint8Array {
  const length = Math.min(most, decodedBytes(base64));
  const bytes = new Uint8Array(Math.max(0, length));
  let buffer = 0;
  let bits = 0;
  let at = 0;
  for (let index = 0; index < base64.length && at < bytes.length; index += 1) {
    buffer = ((buffer << 6) | (digits.get(base64[index]!) ?? 0)) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (buffer >> bits) & 0xff;
    at += 1;
  }
  return bytes;
}

function textAt(bytes: Uint8Array, from: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(from, from + length));
}

function big(bytes: Uint8Array, from: number, length: number): number {
  return bytes.subarray(from, from + length).reduce((value, byte) => value * 256 + byte, 0);
}

function little(bytes: Uint8Array, from: number, length: number): number {
  return bytes.subarray(from, from + length).reduceRight((value, byte) => value * 256 + byte, 0);
}

function pngSize(bytes: Uint8Array): ImageSize | null {
  if (textAt(bytes, 1, 3) !== 'PNG' || bytes.length < 24) return null;
  return { width: big(bytes, 16, 4), height: big(bytes, 20, 4) };
}

function gifSize(bytes: Uint8Array): ImageSize | null {
  if (textAt(bytes, 0, 3) !== 'GIF' || bytes.length < 10) return null;
  return { width: little(bytes, 6, 2), height: little(bytes, 8, 2) };
}

function webpSize(bytes: Uint8Array): ImageSize | null {
  if (textAt(bytes, 8, 4) !== 'WEBP' || bytes.length < 30) return null;
  switch (textAt(bytes, 12, 4)) {
    case 'VP8 ':
      return { width: little(bytes, 26, 2) & 0x3fff, height: little(bytes, 28, 2) & 0x3fff };
    case 'VP8L': {
      const packed = little(bytes, 21, 4);
      return { width: (packed % 0x4000) + 1, height: (Math.floor(packed / 0x4000) % 0x4000) + 1 };
    }
    case 'VP8X':
      return { width: little(bytes, 24, 3) + 1, height: little(bytes, 27, 3) + 1 };
    default:
      return null;
  }
}

function jpegSize(bytes: Uint8Array): ImageSize | null {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1]!;
    // The frame headers, without the tables that share their range.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: big(bytes, at + 7, 2), height: big(bytes, at + 5, 2) };
    at += 2 + big(bytes, at + 2, 2);
  }
  return null;
}
