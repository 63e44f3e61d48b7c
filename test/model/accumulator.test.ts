import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Accumulator, type WholeBlock } from '../../src/model/accumulator.ts';
import type { StreamEvent } from '../../src/model/transport.ts';

function start(index: number, content_block: object): StreamEvent {
  return { type: 'content_block_start', index, content_block };
}

function delta(index: number, piece: object): StreamEvent {
  return { type: 'content_block_delta', index, delta: piece };
}

const stop = (index: number): StreamEvent => ({ type: 'content_block_stop', index });
const message = (id: string, usage: object = {}): StreamEvent => ({ type: 'message_start', message: { id, usage } });

function feed(events: readonly StreamEvent[]): { accumulator: Accumulator; whole: WholeBlock[] } {
  const accumulator = new Accumulator();
  const whole = events.flatMap((event) => accumulator.take(event).whole);
  return { accumulator, whole };
}

describe('Accumulator', () => {
  it('joins the pieces of every kind of block', () => {
    const { whole } = feed([
      message('m'),
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'h' }),
      delta(0, { type: 'thinking_delta', thinking: 'm' }),
      delta(0, { type: 'signature_delta', signature: 's1' }),
      stop(0),
      start(1, { type: 'redacted_thinking', data: 'x' }),
      stop(1),
      start(2, { type: 'text', text: '' }),
      delta(2, { type: 'text_delta', text: 'a' }),
      delta(2, { type: 'text_delta', text: 'b' }),
      stop(2),
      start(3, { type: 'tool_use', id: 't', name: 'read', input: {} }),
      delta(3, { type: 'input_json_delta', partial_json: '{"path":' }),
      delta(3, { type: 'input_json_delta', partial_json: '"a"}' }),
      stop(3),
      start(4, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      stop(4),
      start(5, { type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
      stop(5),
    ]);
    expect(whole.map(({ block }) => block)).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 's1' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'ab' },
      { type: 'tool_use', id: 't', name: 'read', input: { path: 'a' } },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    ]);
  });

  it.each(['{"path":"a","content":"xx', '[1]', '"text"', 'null', '{"a":1}}'])(
    'keeps the raw text of the input %s',
    (raw) => {
      const { whole } = feed([
        message('m'),
        start(0, { type: 'tool_use', id: 't', name: 'write', input: {} }),
        delta(0, { type: 'input_json_delta', partial_json: raw }),
        stop(0),
      ]);
      expect(whole[0]).toMatchObject({ rawInput: raw, block: { input: {} } });
    },
  );

  it('keeps blocks of two interleaved messages apart', () => {
    const { whole } = feed([
      message('m1'),
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'one' }),
      { ...start(0, { type: 'text', text: '' }), message_id: 'm2' },
      { ...delta(0, { type: 'text_delta', text: 'two' }), message_id: 'm2' },
      delta(0, { type: 'text_delta', text: '!' }),
      stop(0),
      { ...stop(0), message_id: 'm2' },
    ]);
    expect(whole.map(({ block, index }) => [index, block])).toEqual([
      [0, { type: 'text', text: 'one!' }],
      [1, { type: 'text', text: 'two' }],
    ]);
  });

  it('passes over what fits nowhere', () => {
    const { whole, accumulator } = feed([
      delta(7, { type: 'text_delta', text: 'lost' }),
      stop(3),
      { type: 'some_future_event' },
      message('m'),
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'some_future_delta' }),
      delta(0, { type: 'text_delta', text: 'ok' }),
      stop(0),
      start(1, { type: 'some_future_block' }),
      stop(1),
    ]);
    expect(whole.map(({ block }) => block)).toEqual([{ type: 'text', text: 'ok' }]);
    expect(accumulator.isStopped).toBe(false);
  });

  it('counts usage once, however often it is said', () => {
    const { accumulator } = feed([
      message('m', { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 40 }),
      { type: 'message_delta', delta: {}, usage: { output_tokens: 10 } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 25 } },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 25 } },
      { type: 'message_stop' },
    ]);
    expect(accumulator.usage).toEqual({ input: 100, output: 25, cacheRead: 40, cacheCreation: 0 });
    expect(accumulator.stopReason).toBe('end_turn');
    expect(accumulator.isStopped).toBe(true);
  });

  it.each([
    [start(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'ab' }), { type: 'text', text: 'ab' }],
    [
      start(0, { type: 'tool_use', id: 't', name: 'w' }),
      delta(0, { type: 'input_json_delta', partial_json: '{' }),
      { type: 'tool_use' },
    ],
    [
      start(0, { type: 'thinking', thinking: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'h' }),
      { type: 'thinking' },
    ],
  ])('says what was unfinished', (first, second, expected) => {
    expect(feed([message('m'), first, second]).accumulator.unfinished).toEqual(expected);
  });

  it('makes text well-formed and leaves thinking as it is', () => {
    const { whole } = feed([
      message('m'),
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'a\uD83D' }),
      stop(0),
      start(1, { type: 'thinking', thinking: '' }),
      delta(1, { type: 'thinking_delta', thinking: 'b\uD83D' }),
      stop(1),
    ]);
    expect(whole[0]?.block).toEqual({ type: 'text', text: 'a\uFFFD' });
    expect(whole[1]?.block).toMatchObject({ thinking: 'b\uD83D' });
  });

  it('joins a pair of surrogates that the stream cut', () => {
    const { whole } = feed([
      message('m'),
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: '\uD83D' }),
      delta(0, { type: 'text_delta', text: '\uDE00' }),
      stop(0),
    ]);
    expect(whole[0]?.block).toEqual({ type: 'text', text: '😀' });
  });

  it('reads the same whatever the pieces are', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 2 }), fc.array(fc.nat(40), { maxLength: 20 }), (value, cuts) => {
        const raw = `{"value":${value}}`;
        const places = [...new Set(cuts.map((cut) => cut % raw.length))].toSorted((a, b) => a - b);
        const pieces = [0, ...places].map((from, index) => raw.slice(from, places[index] ?? raw.length));
        const events = pieces.map((partial_json) => delta(0, { type: 'input_json_delta', partial_json }));
        const { whole } = feed([message('m'), start(0, { type: 'tool_use', id: 't', name: 'x' }), ...events, stop(0)]);
        expect(whole[0]?.block).toMatchObject({ input: JSON.parse(raw) as object });
      }),
    );
  });

  it('is linear: a megabyte of input in pieces of 20 characters is joined once', () => {
    const piece = 'x'.repeat(20);
    const count = 50_000;
    const accumulator = new Accumulator();
    accumulator.take(message('m'));
    accumulator.take(start(0, { type: 'tool_use', id: 't', name: 'write' }));
    accumulator.take(delta(0, { type: 'input_json_delta', partial_json: '{"content":"' }));
    let longest = 0;
    for (let index = 0; index < count; index += 1) {
      const { delta: shown } = accumulator.take(delta(0, { type: 'input_json_delta', partial_json: piece }));
      // What one event hands on does not grow with what came before it.
      if (shown?.delta.type === 'tool_input') longest = Math.max(longest, shown.delta.json.length);
    }
    accumulator.take(delta(0, { type: 'input_json_delta', partial_json: '"}' }));
    const [whole] = accumulator.take(stop(0)).whole;
    expect(longest).toBe(20);
    expect(whole?.block).toMatchObject({ input: { content: piece.repeat(count) } });
  });
});
