import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config.ts';
import { initialState } from '../../../src/core/initial-state.ts';
import type { Message } from '../../../src/core/message.ts';
import { repairHistory } from '../../../src/core/wire/pairs.ts';

const text = (words: string) => ({ type: 'text', text: words });
const use = (id: unknown, name: unknown = 'read', input: unknown = {}) => ({ type: 'tool_use', id, name, input });
const result = (id: string, words = `of ${id}`) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: [text(words)],
  is_error: false,
});
const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };

let made = 0;
const message = (role: 'user' | 'assistant', content: readonly unknown[], more: object = {}): Message => {
  made += 1;
  const who = role === 'user' ? { origin: 'user' } : { model: 'm' };
  return { role, id: `m${made}`, refused: false, content, ...who, ...more } as unknown as Message;
};
const user = (...content: readonly unknown[]): Message => message('user', content);
const assistant = (...content: readonly unknown[]): Message => message('assistant', content);

function repaired(...messages: readonly Message[]): readonly Message[] {
  let drawn = 0;
  return repairHistory(messages, () => `new${(drawn += 1)}`);
}

/** Who says what, a line a message: words, `>id` for a call, `id:words` for a result, `!` for an error. */
function lines(messages: readonly Message[]): readonly string[] {
  return messages.map(({ role, content }) => [role[0], ...content.map(line)].join(' '));
}

function line(block: Message['content'][number]): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'tool_use') return `>${block.id}`;
  if (block.type !== 'tool_result') return `[${block.type}]`;
  const { tool_use_id: id, is_error: isError, content } = block;
  return `${id}:${isError ? '!' : content.map((part) => (part.type === 'text' ? part.text : part.type)).join('+')}`;
}

describe('repairHistory', () => {
  it('gives the same array for a history without damage', () => {
    const whole = [
      user(text('go')),
      assistant(thinking, use('t1'), use('t2')),
      user(result('t2'), result('t1'), text('and')),
      // One message a block, as transcripts of streams are stored.
      assistant(use('t3')),
      assistant(use('t4')),
      user(result('t3'), result('t4')),
      assistant(text('done')),
    ];
    expect(repairHistory(whole, () => 'new')).toBe(whole);
  });

  it('puts a result behind the call that was stored after it', () => {
    expect(lines(repaired(user(text('go')), user(result('t1')), user(text('note')), assistant(use('t1'))))).toEqual([
      'u go',
      'u note',
      'a >t1',
      'u t1:of t1',
    ]);
    // What stands in its place comes first.
    expect(lines(repaired(user(result('t1', 'early')), assistant(use('t1')), user(result('t1', 'late'))))).toEqual([
      'a >t1',
      'u t1:late',
    ]);
  });

  it('makes one up when an answer lies between a result and its call', () => {
    expect(
      lines(repaired(user(result('t1')), assistant(text('well')), user(text('and')), assistant(use('t1')))),
    ).toEqual(['a well', 'u and', 'a >t1', 'u t1:!']);
  });

  it('gathers the results of an answer in the message right behind it, in the order of the calls', () => {
    const asked = assistant(use('t1'), use('t2'));
    expect(lines(repaired(asked, user(text('note')), user(result('t1'), result('t2'))))).toEqual([
      'a >t1 >t2',
      'u t1:of t1 t2:of t2',
      'u note',
    ]);
    expect(lines(repaired(asked, user(result('t2')), user(result('t1'), text('and'))))).toEqual([
      'a >t1 >t2',
      'u t1:of t1 t2:of t2',
      'u and',
    ]);
    expect(lines(repaired(asked, user(text('note')), user(result('t2'), text('and'))))).toEqual([
      'a >t1 >t2',
      'u t1:! t2:of t2',
      'u note',
      'u and',
    ]);
    expect(lines(repaired(asked))).toEqual(['a >t1 >t2', 'u t1:! t2:!']);
  });

  it('keeps the id of a message whose results only move', () => {
    const results = user(result('t1'));
    expect(repaired(assistant(use('t1')), user(text('note')), results)[1]?.id).toBe(results.id);
  });

  it('gives ids that come twice or are none new ones, and the results follow', () => {
    const first = [assistant(use('d'), use('d'), use('')), user(result('d', 'x'), result('d', 'y'))];
    expect(lines(repaired(...first, assistant(use('d')), user(result('d', 'z'))))).toEqual([
      'a >d >new1 >new2',
      'u d:x new1:y new2:!',
      'a >new3',
      'u new3:z',
    ]);
  });

  it('drops results that answer nothing, and a message that held nothing else', () => {
    expect(lines(repaired(user(text('go'), result('t9')), user(result('t8')), assistant(text('yes'))))).toEqual([
      'u go',
      'a yes',
    ]);
  });

  it('gives blocks the shape of their kind', () => {
    const [answer, said] = repaired(
      assistant(use(7, null, '{"a":1}'), { type: 'thinking', thinking: 'hm' }, { type: 'text', text: 5 }, result('t1')),
      user({ type: 'image' }, { type: 'text' }, thinking, { type: 'tomorrow', of: 1 }),
    ).toSpliced(1, 1);
    expect(answer?.content).toEqual([use('new1', 'unknown_tool', { a: 1 })]);
    expect(said?.content).toEqual([text('[image]'), { type: 'tomorrow', of: 1 }]);
  });

  it('gives results the parts that they may hold', () => {
    const odd = {
      type: 'tool_result',
      tool_use_id: 't1',
      content: ['a', null, result('t9', 'b'), thinking, use('t8'), { type: 'image' }],
    };
    const [, said] = repaired(assistant(use('t1')), user(odd));
    expect(said?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [text('a'), text('b'), text(JSON.stringify(use('t8'))), text('[image]')],
        is_error: false,
      },
    ]);
  });
});

describe('a query that begins', () => {
  const start = { seed: '00000000-0000-4000-8000-000000000000' };
  const config = { ...defaultConfig, models: ['claude-opus-5-5'] };

  it('takes the results that its prompt brings', () => {
    const messages = [user(text('go')), assistant(use('t1'))];
    const state = initialState({ ...start, messages, prompt: [result('t1') as never, text('and') as never] }, config);
    expect(lines(state.carried.messages)).toEqual(['u go', 'a >t1', 'u t1:of t1 and']);
  });

  it('drops bound thinking behind what it repaired, and keeps what stands before', () => {
    const bound = { model: 'claude-opus-5-5' };
    const messages = [
      user(text('go')),
      message('assistant', [thinking, text('one')], bound),
      user(text('note')),
      message('assistant', [thinking, use('t1')], bound),
      user(text('between')),
      user(result('t1')),
      message('assistant', [thinking, text('two')], bound),
    ];
    expect(lines(initialState({ ...start, messages }, config).carried.messages).slice(0, -1)).toEqual([
      'u go',
      'a [thinking] one',
      'u note',
      'a [thinking] >t1',
      'u t1:of t1',
      'u between',
      'a two',
    ]);
  });
});
