import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { EffectOf } from '../../src/core/effect.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import {
  type AttachmentProvider,
  type CollectAttachmentsDeps,
  collectAttachments,
} from '../../src/effects/collect-attachments.ts';
import { runInVirtualTime } from '../../src/testing/virtual-clock.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { tool } from '../../src/tools/tool.ts';
import { emptyShared } from '../tools/call-tool.ts';
import { testIo } from './effect-io.ts';

const registry = createRegistry([tool({ name: 'look', description: '', input: z.object({}), run: () => '' })]);
const effect: EffectOf<'collectAttachments'> = {
  type: 'collectAttachments',
  id: 'c-1',
  context: emptyShared,
  tools: registry.specs(),
};

function text(value: string): readonly { readonly type: 'text'; readonly text: string }[] {
  return [{ type: 'text', text: value }];
}

const scaleImage = () => Promise.reject(new Error('no scaler here'));

async function collect(deps: Partial<CollectAttachmentsDeps>, given = effect): Promise<readonly LoopEvent[]> {
  const io = testIo();
  await runInVirtualTime(
    io.clock,
    collectAttachments({ providers: [], registry: () => registry, scaleImage, ...deps })(given, io),
  );
  expect(io.clock.pending).toBe(0);
  return io.events;
}

describe('collectAttachments', () => {
  it('answers with nothing when there is nothing', async () => {
    expect(await collect({})).toEqual([
      { type: 'attachments.collected', effectId: 'c-1', attachments: [], tools: null, notices: [] },
    ]);
  });

  it('keeps the order of the providers, not that of their answers, and leaves out empty messages', async () => {
    const slow: AttachmentProvider = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return [text('a'), text('b'), []];
    };
    const quick: AttachmentProvider = async () => [text('c')];
    expect(await collect({ providers: [slow, quick] })).toMatchObject([
      { attachments: [text('a'), text('b'), text('c')] },
    ]);
  });

  it.each<[string, AttachmentProvider, string]>([
    [
      'fails',
      async () => {
        throw new Error('no disk');
      },
      'no disk',
    ],
    [
      'throws at once',
      () => {
        throw new Error('no');
      },
      'no',
    ],
    ['hangs', () => new Promise(() => undefined), 'nothing came within 30 seconds'],
    ['gives nonsense', async () => 'text' as never, 'no list of messages'],
    ['gives something that is no block', async () => [['text']] as never, 'no list of messages'],
    [
      'gives a tool result',
      async () => [[{ type: 'tool_result', tool_use_id: 't', content: [], is_error: false }]],
      'no list of messages',
    ],
    ['gives what no journal can hold', async () => [[{ type: 'text', text: 1n }]] as never, 'BigInt'],
  ])('leaves out a provider that %s, with a notice', async (_, broken, expected) => {
    const memory: AttachmentProvider = async () => [text('kept')];
    const [event] = await collect({ providers: [broken, memory] });
    expect(event).toMatchObject({ attachments: [text('kept')], notices: [expect.stringContaining(expected)] });
  });

  it('names the provider in the notice', async () => {
    async function memoryFiles(): Promise<never> {
      throw new Error('no');
    }
    expect(await collect({ providers: [memoryFiles] })).toMatchObject([
      { notices: ['Attachments (memoryFiles) could not be collected: no'] },
    ]);
  });

  it('gives the new tool list when it changed, and only then', async () => {
    const same = createRegistry(registry.tools);
    expect(await collect({ registry: () => same })).toMatchObject([{ tools: null }]);
    const more = createRegistry([
      ...registry.tools,
      tool({ name: 'new', description: '', input: z.object({}), run: () => '' }),
    ]);
    expect(await collect({ registry: () => more })).toMatchObject([{ tools: more.specs() }]);
    expect(await collect({ registry: null, scaleImage })).toMatchObject([{ tools: null }]);
    expect(
      await collect({
        registry: () => {
          throw new Error('gone');
        },
      }),
    ).toMatchObject([{ tools: null, notices: [expect.stringContaining('gone')] }]);
  });

  it('posts nothing after a cancel', async () => {
    const io = testIo();
    const running = collectAttachments({ providers: [() => new Promise(() => undefined)], registry: null, scaleImage })(
      effect,
      io,
    );
    io.abort();
    await runInVirtualTime(io.clock, running);
    expect(io.events).toEqual([]);
    expect(io.clock.pending).toBe(0);
  });
});
