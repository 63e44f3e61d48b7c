import { describe, expect, it } from 'vitest';
import { noUsage } from '../../src/core/message.ts';
import { summarizeToolUse } from '../../src/effects/summarize-tool-use.ts';
import type { CallModel } from '../../src/model/transport.ts';
import { parseScenario } from '../../src/testing/scenario.ts';
import { simulate } from '../../src/testing/simulate.ts';
import { messageStart, stopped, textDelta, textStart } from '../model/raw-server.ts';
import { testIo } from './effect-io.ts';

const effect = { type: 'summarizeToolUse', id: 's1', toolUseIds: ['t1'], messages: [] } as const;

async function summarise(callModel: CallModel, smallModel: string | null = 'small') {
  const io = testIo();
  await summarizeToolUse({ callModel, smallModel })(effect, io);
  return io;
}

describe('summarizeToolUse', () => {
  it('gives the first line and what it cost', async () => {
    const { events } = await summarise(async function* () {
      yield* [messageStart, textStart, textDelta('Read it\nand more'), ...stopped('end_turn')];
    });
    expect(events).toMatchObject([{ type: 'toolUse.summarized', text: 'Read it', usage: { input: 7 } }]);
  });

  it('gives nothing after a failure, without a small model, and for a line that was cut', async () => {
    const failed = await summarise(() => {
      throw new Error('down');
    });
    expect(failed.events).toEqual([{ type: 'toolUse.summarized', effectId: 's1', text: null, usage: noUsage }]);
    const off = await summarise(() => {
      throw new Error('never asked');
    }, null);
    expect(off.events).toEqual([{ type: 'toolUse.summarized', effectId: 's1', text: null }]);
    const cut = await summarise(async function* () {
      yield* [messageStart, textStart, textDelta('Read'), ...stopped('max_tokens')];
    });
    expect(cut.events).toMatchObject([{ text: null }]);
  });
});

describe('a query with a small model', () => {
  const use = (id: string) => ({ stream: [{ tool: 'read', id, input: {} }, { stop: 'tool_use' }] });
  const slowly = (text: string, wait: number) => ({ stream: [{ text }, { wait }, { stop: 'end_turn' }] });
  const price = { input: 10, output: 100 };

  async function play(model: readonly object[], small: readonly object[] | undefined, config: object = {}) {
    const result = await simulate(
      parseScenario({
        name: 'summaries',
        prompt: 'go',
        model,
        ...(small === undefined ? {} : { small }),
        tools: { read: { safe: true, results: [{ text: 'x' }] } },
        config,
      }),
    );
    expect(result.violations).toEqual([]);
    const shown = result.emitted.flatMap((item) => (item.type === 'tool_use_summary' ? [item] : []));
    const asked = result.requests.filter(({ purpose }) => purpose === 'small').length;
    return { ...result, shown, asked };
  }

  it('shows the line while the next answer is streamed, and counts what it cost', async () => {
    const prices = { 'scripted-model': { input: 0, output: 0 }, 'scripted-small': price };
    const small = [{ text: 'Read a file', usage: { input: 1_000, output: 10 } }];
    const { shown, emitted, terminal } = await play([use('t1'), slowly('done', 50)], small, { prices });
    expect(shown).toMatchObject([{ text: 'Read a file', toolUseIds: ['t1'] }]);
    expect(emitted.at(-1)?.type).toBe('assistant');
    expect(terminal?.cost).toBeCloseTo(0.011);
    expect(terminal?.usage.input).toBeGreaterThanOrEqual(1_000);
  });

  it.each<[string, readonly object[], number]>([
    ['the end', [use('t1'), slowly('done', 50)], 1],
    ['the next turn', [use('t1'), use('t2'), slowly('done', 50)], 2],
  ])('cancels a line that comes after %s, and never shows it', async (_what, model, asked) => {
    const small = [{ ...slowly('late', 60_000), repeat: true }];
    const result = await play(model, small);
    expect(result).toMatchObject({ shown: [], asked, terminal: { outcome: 'done' } });
    expect(result.ms).toBeLessThan(5_000);
  });

  it.each<[string, readonly object[] | undefined, object]>([
    ['without a small model', undefined, {}],
    ['in a sub-agent', [], { querySource: 'agent:x' }],
  ])('writes none %s', async (_what, small, config) => {
    expect(await play([use('t1'), slowly('done', 50)], small, config)).toMatchObject({ shown: [], asked: 0 });
  });

  it('goes on when the small model fails', async () => {
    const result = await play([use('t1'), slowly('done', 50)], [{ status: 400 }]);
    expect(result).toMatchObject({ shown: [], asked: 1, terminal: { outcome: 'done' } });
  });
});
