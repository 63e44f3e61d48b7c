import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
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

  it('hands blocks out in the order in which they began', () => {
    const { accumulator, whole } = feed([
      message('m'),
      start(0, { type: 'thinking', thinking: '' }),
      start(1, { type: 'tool_use', id: 't', name: 'x', input: {} }),
      stop(1),
      delta(0, { type: 'signature_delta', signature: 's' }),
    ]);
    expect(whole).toEqual([]);
    expect(accumulator.unfinished).toEqual({ type: 'thinking' });
    expect(accumulator.take(stop(0)).whole.map(({ block }) => block.type)).toEqual(['thinking', 'tool_use']);
    expect(accumulator.unfinished).toBeNull();
  });

  it('gives up what it held back when the stream broke', () => {
    const { accumulator } = feed([
      message('m'),
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'cut' }),
      start(1, { type: 'tool_use', id: 't', name: 'x', input: {} }),
      stop(1),
    ]);
    expect(accumulator.takeHeld().map(({ block }) => block.type)).toEqual(['tool_use']);
    expect(accumulator.takeHeld()).toEqual([]);
    expect(accumulator.unfinished).toEqual({ type: 'text', text: 'cut' });
  });

  it('ends the text that the server did not end, and no other block', () => {
    const { whole } = feed([
      message('m'),
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'one' }),
      start(0, { type: 'text', text: 'two' }),
      start(1, { type: 'tool_use', id: 't', name: 'x', input: { looks: 'whole' } }),
      start(2, { type: 'thinking', thinking: 'hm' }),
      { type: 'message_stop' },
    ]);
    expect(whole.map(({ block }) => block)).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]);
  });

  it('shows text that came with the start of a block', () => {
    const accumulator = new Accumulator();
    expect(accumulator.take(start(0, { type: 'text', text: 'a' })).delta).toEqual({
      index: 0,
      delta: { type: 'text', text: 'a' },
    });
  });

  it('keeps citations, and what is opaque in a compaction', () => {
    const { whole } = feed([
      message('m'),
      start(0, { type: 'text', text: '', citations: [] }),
      delta(0, { type: 'text_delta', text: 'a' }),
      delta(0, { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'b' } }),
      stop(0),
      start(1, { type: 'compaction', content: null, encrypted_content: null, signature: 's' }),
      delta(1, { type: 'compaction_delta', content: 'short', encrypted_content: 'opaque' }),
      stop(1),
    ]);
    expect(whole.map(({ block }) => block)).toEqual([
      { type: 'text', text: 'a', citations: [{ type: 'char_location', cited_text: 'b' }] },
      { type: 'compaction', content: 'short', encrypted_content: 'opaque', signature: 's' },
    ]);
  });

  it.each([
    ['', {}],
    ['{}', {}],
    [String.raw`{"a\ud83d":["\ud83d","\ud83d\ude00"],"n":1}`, { 'a\uFFFD': ['\uFFFD', '😀'], n: 1 }],
  ])('reads the input %j', (raw, input) => {
    const { whole } = feed([
      message('m'),
      start(0, { type: 'tool_use', id: 't', name: 'x', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: raw }),
      stop(0),
    ]);
    expect(whole[0]).toMatchObject({ rawInput: null, block: { input } });
  });

  it.each([[[]], ['text'], [null]])('takes the input %j at the start of a block for none', (input) => {
    const { whole } = feed([message('m'), start(0, { type: 'tool_use', id: 't', name: 'x', input }), stop(0)]);
    expect(whole[0]).toMatchObject({ block: { input: {} } });
  });

  it('throws at nothing that a server may send', () => {
    const odd = fc.record({
      type: fc.constantFrom(
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ),
      index: fc.oneof(fc.nat(2), fc.jsonValue()),
      message: fc.jsonValue(),
      content_block: fc.oneof(
        fc.jsonValue(),
        fc.record({ type: fc.constantFrom('text', 'tool_use'), text: fc.jsonValue() }),
      ),
      delta: fc.oneof(
        fc.jsonValue(),
        fc.record({
          type: fc.constantFrom('text_delta', 'input_json_delta', 'signature_delta', 'citations_delta'),
          text: fc.jsonValue(),
          partial_json: fc.jsonValue(),
          citation: fc.jsonValue(),
        }),
      ),
      usage: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(odd), (events) => {
        const { accumulator, whole } = feed(events);
        // What it makes of them survives a journal.
        expect(JSON.parse(JSON.stringify(whole))).toEqual(whole);
        expect(Object.values(accumulator.usage).every((figure) => figure >= 0)).toBe(true);
      }),
    );
  });

  it('is linear: the characters of an input are joined once, however many pieces they come in', () => {
    const quarter = joinedCharacters(12_500);
    expect(quarter).toBeLessThan(2 * 12_500 * 20);
    expect(joinedCharacters(50_000) / quarter).toBeCloseTo(4, 1);
  });
});

/** How many characters `join` puts together for a tool input in so many pieces of 20 characters. */
function joinedCharacters(count: number): number {
  const join = vi.spyOn(Array.prototype, 'join');
  try {
    const piece = 'x'.repeat(20);
    const accumulator = new Accumulator();
    accumulator.take(message('m'));
    accumulator.take(start(0, { type: 'tool_use', id: 't', name: 'write' }));
    accumulator.take(delta(0, { type: 'input_json_delta', partial_json: '{"content":"' }));
    for (let index = 0; index < count; index += 1) {
      const { delta: shown } = accumulator.take(delta(0, { type: 'input_json_delta', partial_json: piece }));
      // What one event hands on does not grow with what came before it.
      if (shown?.delta.type !== 'tool_input' || shown.delta.json !== piece) throw new Error('another delta');
    }
    accumulator.take(delta(0, { type: 'input_json_delta', partial_json: '"}' }));
    const [whole] = accumulator.take(stop(0)).whole;
    const joined = join.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
    if (JSON.stringify(whole?.block).length < count * 20) throw new Error('something is missing');
    return joined;
  } finally {
    join.mockRestore();
  }
}
