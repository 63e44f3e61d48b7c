import { describe, expect, it } from 'vitest';
import { defaultConfig, type LoopConfig } from '../../../src/core/config.ts';
import { initialState } from '../../../src/core/initial-state.ts';
import { ingestMessages, type LooseMessage } from '../../../src/core/wire/ingest.ts';
import { buildRequest } from '../../../src/core/wire/request.ts';
import type { WireRequest } from '../../../src/core/wire/request-type.ts';

const seed = '00000000-0000-4000-8000-000000000000';
const tools = [{ name: 'read', description: '', input_schema: { type: 'object' } }];
const mark = { cache_control: { type: 'ephemeral' } };
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });
const user = (...content: LooseMessage['content'][number][]): LooseMessage => ({
  role: 'user',
  content: content as never,
});
const assistant = (...content: LooseMessage['content'][number][]): LooseMessage => ({
  role: 'assistant',
  content: content as never,
});
const use = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} });
const result = (id: string, more: object = {}) => ({ type: 'tool_result', tool_use_id: id, content: 'x', ...more });
const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index}`);

function request(messages: readonly LooseMessage[], config: Partial<LoopConfig> = {}, withTools = true): WireRequest {
  const all = { ...defaultConfig, models: ['m'], system: 'be', ...config };
  return buildRequest(
    initialState({ seed, messages: ingestMessages(messages, 'm'), ...(withTools ? { tools } : {}) }, all),
    all,
  );
}

/** Where the breakpoints stand: `system`, `tools`, or message and block, with the time where one is asked for. */
function marks({ system, tools: listed, messages }: WireRequest): readonly string[] {
  const at = (name: string, block: { cache_control?: { ttl?: string } | undefined }): readonly string[] =>
    block.cache_control === undefined ? [] : [[name, block.cache_control.ttl].filter(Boolean).join(' ')];
  return [
    ...(listed ?? []).flatMap((tool) => at('tools', tool as never)),
    ...(system ?? []).flatMap((block) => at('system', block as never)),
    ...messages.flatMap(({ content }, index) =>
      content.flatMap((block, place) => [
        ...(Array.isArray(block['content']) ? block['content'] : []).flatMap((part: object, inner: number) =>
          at(`${index}.${place}.${inner}`, part as never),
        ),
        ...at(`${index}.${place}`, block as never),
      ]),
    ),
  ];
}

const short = [
  user(text('one')),
  assistant(text('yes')),
  user(text('two')),
  assistant(text('yes')),
  user(text('three')),
];
/** One long row of turns, each of two blocks. */
const long = Array.from({ length: 41 }, (_, index) => (index % 2 === 0 ? user(text('go')) : assistant(text('yes'))));

describe('cache breakpoints', () => {
  it('stand behind system and tools, and behind the last two user messages', () => {
    expect(marks(request(short))).toEqual(['system', '2.0', '4.0']);
    expect(marks(request(short, { system: '' }))).toEqual(['tools', '2.0', '4.0']);
    expect(marks(request(short, { system: '' }, false))).toEqual(['2.0', '4.0']);
    expect(marks(request([user(text('one'))]))).toEqual(['system', '0.0']);
  });

  it('keep those of the caller, and fill up what is left', () => {
    expect(marks(request(short.with(0, user(text('one', mark)))))).toEqual(['system', '0.0', '2.0', '4.0']);
    const two = short.with(0, user(text('a', mark), text('b', mark)));
    expect(marks(request(two))).toEqual(['system', '0.0', '0.1', '4.0']);
    const three = short.with(0, user(text('a', mark), text('b', mark), text('c', mark)));
    expect(marks(request(three))).toEqual(['0.0', '0.1', '0.2', '4.0']);
    // One that stands where ours would is not counted twice.
    expect(marks(request(short.with(4, user(text('three', mark)))))).toEqual(['system', '2.0', '4.0']);
  });

  it('lose the oldest of more than four', () => {
    const six = user(...'abcdef'.split('').map((words) => text(words, mark)));
    expect(marks(request(short.with(2, six)))).toEqual(['2.2', '2.3', '2.4', '2.5']);
    const inside = user(
      result('t1', { content: [text('x', mark), text('y', mark)], ...mark }),
      text('a', mark),
      text('b', mark),
    );
    expect(marks(request([user(text('go')), assistant(use('t1')), inside]))).toEqual(['2.0.1', '2.0', '2.1', '2.2']);
  });

  it('lose those that the API would refuse', () => {
    const odd = user(text('a', { cache_control: { type: 'lasting' } }), text('b', { cache_control: 5 }));
    expect(marks(request(short.with(0, odd)))).toEqual(['system', '2.0', '4.0']);
    const thought = assistant({ type: 'thinking', thinking: 'hm', signature: 's', ...mark }, text('yes'));
    const { messages } = request(short.with(1, thought), { thinking: 'adaptive' });
    expect(messages[1]?.content[0]).toEqual({ type: 'thinking', thinking: 'hm', signature: 's' });
  });

  it('ask for an hour before one that does: the API wants the longer times first', () => {
    const hourly = short.with(2, user(text('two', hour)));
    expect(marks(request(hourly))).toEqual(['system 1h', '2.0 1h', '4.0']);
  });

  it('place one more where more than twenty blocks have none, at an end that an earlier request has marked', () => {
    expect(marks(request(long))).toEqual(['system', '16.0', '38.0', '40.0']);
    // Twenty are near enough: the API looks that far back.
    expect(marks(request(long.slice(0, 23)))).toEqual(['system', '20.0', '22.0']);
    expect(marks(request(long.slice(0, 25)))).toEqual(['system', '0.0', '22.0', '24.0']);
  });

  it('place it inside one long turn', () => {
    const many = ids(30);
    const turn = [user(text('go')), assistant(...many.map(use)), user(...many.map((id) => result(id)))];
    expect(marks(request(turn))).toEqual(['system', '0.0', '2.9', '2.29']);
  });

  it('are the same objects for what is unchanged', () => {
    const config = { ...defaultConfig, models: ['m'], system: '' };
    const state = initialState({ seed, messages: ingestMessages(short, 'm'), tools }, config);
    const [first, second] = [buildRequest(state, config), buildRequest(state, config)];
    expect(second.tools).toBe(first.tools);
    for (const [index, message] of second.messages.entries()) expect(message).toBe(first.messages[index]);
  });

  it('are none in the profile plain', () => {
    const all = short.with(0, user(text('one', mark), text('b', hour)));
    expect(marks(request(all, { profile: 'plain' }))).toEqual([]);
  });
});
