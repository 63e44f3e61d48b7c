import { describe, expect, it } from 'vitest';
import sharp from 'sharp';
import { z } from 'zod';
import type { ImageBlock, Message, UserBlock } from '../../src/core/message.ts';
import { imageSize } from '../../src/core/wire/image-size.ts';
import { fitImages, fitStart } from '../../src/tools/fit-images.ts';
import { type ScaleImage, scaleWithSharp } from '../../src/tools/scale-image.ts';
import { tool } from '../../src/tools/tool.ts';
import { callTool } from './call-tool.ts';

const color = { r: 200, g: 30, b: 30 };

/** A real image; `noise` cannot be compressed. */
async function picture(
  width: number,
  height: number,
  format: 'png' | 'jpeg' = 'png',
  noise = false,
): Promise<ImageBlock> {
  const create = { width, height, channels: 3, background: color } as const;
  const made = sharp({ create: noise ? { ...create, noise: { type: 'gaussian', mean: 128, sigma: 60 } } : create });
  const bytes = await made.toFormat(format).toBuffer();
  return { type: 'image', source: { type: 'base64', media_type: `image/${format}`, data: bytes.toString('base64') } };
}

function dataOf(block: UserBlock | undefined): string {
  return block?.type === 'image' && block.source.type === 'base64' ? block.source.data : '';
}

function mediaType(block: UserBlock | undefined): string {
  return block?.type === 'image' && block.source.type === 'base64' ? block.source.media_type : '';
}

const fails: ScaleImage = () => Promise.reject(new Error('no scaler here.'));

describe('images where they come in', () => {
  it('stay the same objects when the API takes them among many', async () => {
    const url: ImageBlock = { type: 'image', source: { type: 'url', url: 'http://a/b.png' } };
    const broken = { type: 'image', source: null } as unknown as ImageBlock;
    const blocks = [{ type: 'text', text: 'hi' } as const, await picture(2_000, 10), url, broken];
    expect(await fitImages(blocks, fails)).toBe(blocks);
  });

  it('are scaled to what the API takes among many, proportions kept', async () => {
    const [wide, tall] = await fitImages([await picture(9_000, 90), await picture(300, 3_000, 'jpeg')], scaleWithSharp);
    expect([imageSize(dataOf(wide)), mediaType(wide)]).toEqual([{ width: 2_000, height: 20 }, 'image/png']);
    expect([imageSize(dataOf(tall)), mediaType(tall)]).toEqual([{ width: 200, height: 2_000 }, 'image/jpeg']);
  });

  it('lose detail, or size, when they have too many bytes', async () => {
    const heavy = await picture(1_900, 1_900, 'png', true);
    expect(dataOf(heavy).length).toBeGreaterThan(5 * 1024 * 1024);
    const [light] = await fitImages([heavy], scaleWithSharp);
    expect(mediaType(light)).toBe('image/jpeg');
    expect(dataOf(light).length).toBeLessThanOrEqual(5 * 1024 * 1024);
    expect(imageSize(dataOf(light))?.width).toBeGreaterThan(400);
  });

  it('are left out with both reasons when they cannot be scaled, unless the API takes them alone', async () => {
    const alone = await picture(2_500, 10);
    const [kept, note] = await fitImages([alone, await picture(9_000, 10)], fails);
    expect(kept).toBe(alone);
    expect(note).toEqual({
      type: 'text',
      text: '[An image was left out: it has 9000 x 10 pixels, and the API takes at most 8000 a side. It could not be scaled down: no scaler here.]',
    });
  });

  it('are left out when they are damaged, of an unknown kind, or the copy is no better', async () => {
    const whole = dataOf(await picture(9_000, 10));
    const image = (data: string): ImageBlock => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data },
    });
    const large = 'A'.repeat(5 * 1024 * 1024 + 4);
    const notes = await fitImages([image(whole.slice(0, 48)), image(large)], scaleWithSharp);
    expect(notes.map(({ type }) => type)).toEqual(['text', 'text']);
    expect(JSON.stringify(notes[1])).toContain('no kind that is known');
    const [copy] = await fitImages([image(whole)], () => Promise.resolve({ media_type: 'image/png', data: whole }));
    expect(JSON.stringify(copy)).toContain('of the copy too');
  });
});

describe('what a query starts from', () => {
  it('has every image fitted: prompt, queued, history, tool results; thinking that is bound to it goes too', async () => {
    const image = await picture(2_500, 10);
    const said: Message = { role: 'user', id: 'a', origin: 'user', refused: false, content: [image] };
    const answer: Message = {
      role: 'assistant',
      id: 'b',
      model: 'claude-opus-5-5',
      refused: false,
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'tool_use', id: 't', name: 'x', input: {} },
      ],
    };
    const result = { type: 'tool_result', tool_use_id: 't', is_error: false, content: [image] } as const;
    const fitted = await fitStart(
      {
        prompt: [image],
        queued: [{ id: 'q', content: [image] }],
        messages: [said, answer, { ...said, content: [result] }],
      },
      scaleWithSharp,
    );
    expect(JSON.stringify(fitted)).not.toContain(dataOf(image));
    expect(JSON.stringify(fitted).match(/base64/g)).toHaveLength(4);
    expect(fitted.messages[1]?.content).toEqual([answer.content[1]]);
    expect((await fitStart({ messages: fitted.messages }, fails)).messages).toEqual(fitted.messages);
    expect(await fitStart({ prompt: 'go' }, fails)).toEqual({ prompt: 'go' });
  });
});

describe('images of a tool', () => {
  it('are scaled in its result, in what stands behind an error, and in its attachments', async () => {
    const image = await picture(9_000, 10);
    const shows = (isError: boolean) =>
      tool({
        name: 'show',
        description: '',
        input: z.object({}),
        run: () => ({ content: [image], isError, attachments: [image] }),
      });
    for (const isError of [false, true]) {
      const { outcome } = await callTool({ tools: [shows(isError)] }, 'show', {});
      const images = [...outcome.content, ...outcome.attachments].filter(({ type }) => type === 'image');
      expect(images.map((block) => imageSize(dataOf(block))?.width)).toEqual([2_000, 2_000]);
    }
  });
});
