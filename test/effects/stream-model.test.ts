import { setImmediate } from 'node:timers/promises';
import { APIError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { EffectOf } from '../../src/core/effect.ts';
import type { ToolVerdict } from '../../src/core/state.ts';
import { type StreamModelDeps, streamModel } from '../../src/effects/stream-model.ts';
import type { CallModel, StreamEvent } from '../../src/model/transport.ts';
import { messageStart, stopped, textDelta, textStart } from '../model/raw-server.ts';
import { type TestIo, testIo } from './effect-io.ts';

const readOnly: ToolVerdict = { concurrencySafe: true, readOnly: true, replaySafe: false };

function effectOf(delayMs = 0): EffectOf<'streamModel'> {
  const request = { model: 'm', max_tokens: 9, messages: [] };
  return { type: 'streamModel', id: 'e1', attempt: 1, messageId: 'a1', delayMs, answerStart: '', request };
}

/** A model that streams `events`, then throws `error` unless it is undefined. */
function streaming(events: readonly StreamEvent[], error?: Error): CallModel {
  return async function* () {
    yield* events;
    if (error !== undefined) throw error;
  };
}

async function run(callModel: CallModel, deps: Partial<StreamModelDeps> = {}): Promise<TestIo> {
  const io = testIo();
  await streamModel({ callModel, verdictOf: () => readOnly, ...deps })(effectOf(), io);
  return io;
}

const tool = (index: number, input: string): readonly StreamEvent[] => [
  { type: 'content_block_start', index, content_block: { type: 'tool_use', id: `t${index}`, name: 'read', input: {} } },
  { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: input } },
  { type: 'content_block_stop', index },
];

const usage = { input: 7, output: 3, cacheRead: 0, cacheCreation: 0 };

describe('streamModel', () => {
  it('shows fragments, reports whole blocks, and ends with the stop reason as it came', async () => {
    const events = [messageStart, textStart, textDelta('a'), textDelta('b'), ...stopped('some_future_reason')];
    const io = await run(streaming(events));
    const shown = { type: 'delta', messageId: 'a1', index: 0 };
    expect(io.observations).toEqual([
      { ...shown, delta: { type: 'text', text: 'a' } },
      { ...shown, delta: { type: 'text', text: 'b' } },
    ]);
    const block = { type: 'text', text: 'ab' };
    expect(io.events).toEqual([
      { type: 'model.blockEnded', effectId: 'e1', block, verdict: null, rawInput: null },
      { type: 'model.answered', effectId: 'e1', stopReason: 'some_future_reason', usage },
    ]);
  });

  it('asks for a verdict on an input that can be read, and on no other', async () => {
    const asked: unknown[] = [];
    const verdictOf = (name: string, input: object): ToolVerdict => {
      asked.push([name, input]);
      return readOnly;
    };
    const events = [messageStart, ...tool(0, '{"path":"a"}'), ...tool(1, '{"path":'), ...stopped('tool_use').slice(1)];
    const io = await run(streaming(events), { verdictOf });
    expect(asked).toEqual([['read', { path: 'a' }]]);
    expect(io.events).toMatchObject([
      { type: 'model.blockEnded', verdict: readOnly, rawInput: null },
      { type: 'model.blockEnded', verdict: null, rawInput: '{"path":', block: { input: {} } },
      { type: 'model.answered', stopReason: 'tool_use' },
    ]);
  });

  it('takes a tool that cannot judge its input for unsafe', async () => {
    const verdictOf = (): never => {
      throw new Error('a bug');
    };
    const io = await run(streaming([messageStart, ...tool(0, '{}'), ...stopped('tool_use').slice(1)]), { verdictOf });
    const verdict = { concurrencySafe: false, readOnly: false, replaySafe: false };
    expect(io.events).toMatchObject([{ type: 'model.blockEnded', verdict }, { type: 'model.answered' }]);
  });

  it.each<[string, readonly StreamEvent[], string]>([
    ['nothing came', [], 'The stream ended before the answer was whole.'],
    [
      'message_stop is missing',
      [messageStart, ...stopped('end_turn').slice(0, 2)],
      'The stream ended before the answer was whole.',
    ],
    ['the stop reason is missing', [messageStart, ...stopped(null)], 'The answer ended without a stop reason.'],
  ])('is incomplete where %s', async (_name, events, message) => {
    const io = await run(streaming(events));
    expect(io.events).toMatchObject([
      { type: 'model.failed', failure: { class: 'incomplete', message }, unfinished: null },
    ]);
  });

  it('says what a broken stream left, whole blocks first', async () => {
    const overloaded = new APIError(
      undefined,
      { error: { type: 'overloaded_error', message: 'Overloaded' } },
      undefined,
      new Headers(),
    );
    const events = [messageStart, textStart, textDelta('cut'), ...tool(1, '{}')];
    const io = await run(streaming(events, overloaded));
    expect(io.events).toMatchObject([
      { type: 'model.blockEnded', block: { type: 'tool_use' } },
      {
        type: 'model.failed',
        failure: { class: 'overloaded', message: 'Overloaded' },
        unfinished: { type: 'text', text: 'cut' },
        usage: { input: 7 },
      },
    ]);
  });

  it.each([new Error('a bug'), new TypeError('terminated')])(
    'answers once whatever the caller throws',
    async (error) => {
      const throws: CallModel = () => {
        throw error;
      };
      expect((await run(throws)).events).toHaveLength(1);
      expect((await run(streaming([messageStart], error))).events).toHaveLength(1);
    },
  );

  it('asks once, whatever comes', async () => {
    let calls = 0;
    const callModel: CallModel = () => {
      calls += 1;
      return streaming([], new TypeError('terminated'))({ model: 'm', max_tokens: 1, messages: [] }, {} as never);
    };
    await run(callModel);
    expect(calls).toBe(1);
  });

  it('waits on the clock of the host before it asks', async () => {
    const io = testIo();
    let asked = 0;
    const callModel: CallModel = (request, callIo) => {
      asked = io.clock.now();
      return streaming([messageStart, ...stopped('end_turn')])(request, callIo);
    };
    const from = io.clock.now();
    const done = streamModel({ callModel, verdictOf: () => readOnly })(effectOf(32_000), io);
    await setImmediate();
    expect(asked).toBe(0);
    io.clock.advanceToNext();
    await done;
    expect(asked - from).toBe(32_000);
  });

  it('posts nothing and leaves no timer when it is cancelled in its wait', async () => {
    const io = testIo();
    const done = streamModel({ callModel: streaming([]), verdictOf: () => readOnly })(effectOf(32_000), io);
    io.abort();
    await done;
    expect([io.events, io.clock.pending]).toEqual([[], 0]);
  });

  it.each([
    ['ends', undefined],
    ['throws', new Error('aborted')],
  ])('posts nothing after a cancel, where the stream then %s', async (_name, error) => {
    const io = testIo();
    const callModel: CallModel = async function* () {
      yield messageStart;
      io.abort();
      yield* [textStart, textDelta('late'), ...stopped('end_turn')];
      if (error !== undefined) throw error;
    };
    await streamModel({ callModel, verdictOf: () => readOnly })(effectOf(), io);
    expect([io.events, io.observations]).toEqual([[], []]);
  });
});
