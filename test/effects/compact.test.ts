/** The two effects that want an answer as a whole: `compact` and `summarizeToolUse`. */
import { describe, expect, it } from 'vitest';
import type { EffectOf } from '../../src/core/effect.ts';
import { compact } from '../../src/effects/compact.ts';
import { summarizeToolUse } from '../../src/effects/summarize-tool-use.ts';
import type { CallModel, StreamEvent } from '../../src/model/transport.ts';
import { messageStart, stopped, textDelta, textStart } from '../model/raw-server.ts';
import { testIo } from './effect-io.ts';

const request = { model: 'm', max_tokens: 9, messages: [] };
const compactEffect: EffectOf<'compact'> = {
  type: 'compact',
  id: 'c1',
  kind: 'auto_compact',
  request,
  instructions: null,
  context: {
    permissionMode: 'default',
    addedRules: [],
    filesRead: {},
    depth: 0,
    queryTracking: { chainId: 's', depth: 0 },
  },
};
const usage = { input: 7, output: 3, cacheRead: 0, cacheCreation: 0 };

interface Seen {
  readonly purposes: string[];
  readonly callModel: CallModel;
}

function streaming(events: readonly StreamEvent[], error?: Error): Seen {
  const purposes: string[] = [];
  const callModel: CallModel = async function* (_request, io) {
    purposes.push(io.purpose);
    await io.ready();
    yield* events;
    if (error !== undefined) throw error;
  };
  return { purposes, callModel };
}

const saying = (text: string, reason: string | null): readonly StreamEvent[] => [
  messageStart,
  textStart,
  textDelta(text),
  ...stopped(reason),
];

describe('compact', () => {
  it('answers with the whole text and how it ended', async () => {
    const io = testIo();
    const model = streaming(saying('short', 'end_turn'));
    await compact(model)(compactEffect, io);
    expect(io.events).toEqual([
      { type: 'compact.answered', effectId: 'c1', text: 'short', block: null, stopReason: 'end_turn', usage },
    ]);
    expect([model.purposes, io.observations]).toEqual([['summary'], []]);
  });

  it.each([
    ['a summary that hit its limit', saying('cut', 'max_tokens'), 'max_tokens'],
    ['a summary without a stop reason', saying('cut', null), null],
    ['a stream that just ended', saying('cut', 'end_turn').slice(0, -1), null],
  ])('leaves it to the rules to judge %s', async (_name, events, stopReason) => {
    const io = testIo();
    await compact(streaming(events))(compactEffect, io);
    expect(io.events).toMatchObject([{ type: 'compact.answered', stopReason }]);
  });

  it('writes while the consumer holds: nobody looks at it', async () => {
    const io = { ...testIo(), ready: () => new Promise<void>(() => {}) };
    await compact(streaming(saying('short', 'end_turn')))(compactEffect, io);
    expect(io.events).toHaveLength(1);
  });

  it('says by class what went wrong', async () => {
    const io = testIo();
    await compact(streaming([messageStart], new TypeError('terminated')))(compactEffect, io);
    expect(io.events).toMatchObject([{ type: 'compact.failed', effectId: 'c1', failure: { class: 'connection' } }]);
  });

  it.each([undefined, new Error('aborted')])('posts nothing after a cancel', async (error) => {
    const io = testIo();
    io.abort();
    await compact(streaming(saying('short', 'end_turn'), error))(compactEffect, io);
    expect(io.events).toEqual([]);
  });
});

describe('summarizeToolUse', () => {
  const effect: EffectOf<'summarizeToolUse'> = {
    type: 'summarizeToolUse',
    id: 's1',
    toolUseIds: ['t1'],
    messages: [
      {
        role: 'user',
        id: 'u1',
        origin: 'user',
        content: [{ type: 'text', text: 'x\uD83D'.repeat(9_000) }],
        refused: false,
      },
    ],
  };
  const textOf = async (seen: Seen, smallModel: string | null = 'small'): Promise<unknown> => {
    const io = testIo();
    await summarizeToolUse({ callModel: seen.callModel, smallModel })(effect, io);
    expect(io.events).toHaveLength(1);
    expect(io.events[0]).toMatchObject({ type: 'toolUse.summarized', effectId: 's1' });
    return io.events[0]?.type === 'toolUse.summarized' ? io.events[0].text : undefined;
  };

  it('gives the first line', async () => {
    const model = streaming(saying('  Read a file\nand more', 'end_turn'));
    expect([await textOf(model), model.purposes]).toEqual(['Read a file', ['small']]);
  });

  it('gives nothing after any failure', async () => {
    expect(await textOf(streaming([], new Error('x')))).toBeNull();
    expect(await textOf(streaming([messageStart]))).toBeNull();
    expect(await textOf(streaming(saying('cut', 'max_tokens')))).toBeNull();
    expect(await textOf(streaming(saying(' ', 'end_turn')))).toBeNull();
    const unasked = streaming(saying('x', 'end_turn'));
    expect([await textOf(unasked, null), unasked.purposes]).toEqual([null, []]);
  });

  it('shows the small model a little, well-formed', async () => {
    let sent = '';
    const callModel: CallModel = async function* (asked) {
      sent = JSON.stringify(asked);
      yield* saying('x', 'end_turn');
    };
    await summarizeToolUse({ callModel, smallModel: 'small' })(effect, testIo());
    expect(sent.length).toBeLessThan(10_000);
    expect(JSON.stringify(JSON.parse(sent)).isWellFormed()).toBe(true);
  });

  it('posts nothing after a cancel', async () => {
    const io = testIo();
    io.abort();
    await summarizeToolUse({ callModel: streaming([]).callModel, smallModel: 'small' })(effect, io);
    expect(io.events).toEqual([]);
  });
});
