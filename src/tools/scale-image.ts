/** Makes an image smaller with `sharp`, which is an optional dependency: a binary that not every machine has. */
import type Sharp from 'sharp';

/** An image as a block holds it. */
export interface ScaledImage {
  readonly media_type: string;
  /** Base64. */
  readonly data: string;
}

/** What an image is scaled down to. */
export interface ImageGoal {
  /** Largest side in pixels. */
  readonly side: number;
  /** Largest length of the base64 text. */
  readonly characters: number;
}

/** Gives a smaller copy of an image (base64). Contract: keeps its proportions; rejects when it cannot, with one sentence. */
export type ScaleImage = (data: string, goal: ImageGoal) => Promise<ScaledImage>;

/** Shares of the goal's side that are tried until the copy is short enough. */
const shares = [1, 0.75, 0.5, 0.25] as const;
/** Of JPEG, 1 to 100: text in a screenshot stays readable. */
const quality = 85;

/** Scales with `sharp`, loaded at the first use. PNG, GIF and WebP stay free of loss (as PNG) where that is short enough. */
export const scaleWithSharp: ScaleImage = async (data, { side, characters }) => {
  const sharp = await loadSharp();
  // A photo that is turned by its metadata would lie on its side without them.
  const original = sharp(Buffer.from(data, 'base64')).autoOrient();
  const isPhoto = (await original.metadata()).format === 'jpeg';
  for (const share of shares) {
    const longest = Math.max(1, Math.floor(side * share));
    const small = original.clone().resize({ width: longest, height: longest, fit: 'inside', withoutEnlargement: true });
    if (!isPhoto) {
      const png = (await small.clone().png().toBuffer()).toString('base64');
      if (png.length <= characters) return { media_type: 'image/png', data: png };
    }
    const flat = small.flatten({ background: 'white' }).jpeg({ quality });
    const jpeg = (await flat.toBuffer()).toString('base64');
    if (jpeg.length <= characters) return { media_type: 'image/jpeg', data: jpeg };
  }
  throw new Error('no copy is short enough');
};

async function loadSharp(): Promise<typeof Sharp> {
  try {
    return (await import('sharp')).default;
  } catch (error) {
    throw new Error('the optional package sharp is not installed or cannot run here', { cause: error });
  }
}
