import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WireBlock, WireMessage, WireRequest } from '../../../src/core/wire/request-type.ts';
import { describeViolations, type RequestLimits, validateRequest } from '../../../src/core/wire/validate.ts';
import { expandBlocks } from '../../../src/testing/scenario-media.ts';

const limits: RequestLimits = { contextWindow: 200_000, maxOutput: 64_000, estimate: 1_000, profile: 'anthropic' };
const text = (value: string): WireBlock => ({ type: 'text', text: value });
const use = (id: string, name = 'read'): WireBlock => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string, content: unknown = 'x'): WireBlock => ({ type: 'tool_result', tool_use_id: id, content });
const thinking: WireBlock = { type: 'thinking', thinking: 'hm', signature: 's' };
const user = (...content: WireBlock[]): WireMessage => ({ role: 'user', content });
const assistant = (...content: WireBlock[]): WireMessage => ({ role: 'assistant', content });
const image = (width: number, height: number): WireBlock =>
  expandBlocks([{ image: { width, height } }])[0] as WireBlock;

function request(messages: readonly WireMessage[], more: Partial<WireRequest> = {}): WireRequest {
  return { model: 'm', max_tokens: 8_000, messages, ...more };
}

const good = [
  user(text('go')),
  assistant(text('a'), use('t1'), use('t2')),
  user(result('t1'), result('t2'), text('and')),
];
const thinks = { thinking: { type: 'adaptive' } } as const;

function rules(checked: WireRequest, more: Partial<RequestLimits> = {}): string[] {
  return [...new Set(validateRequest(checked, { ...limits, ...more }).map(({ rule }) => rule))];
}

describe('validateRequest', () => {
  it.each<[string, WireRequest, Partial<RequestLimits>?]>([
    ['a turn with two tools', request(good)],
    ['a text as the whole content', request([{ role: 'user', content: 'go' as never }])],
    ['thinking before a tool', request([good[0]!, assistant(thinking, use('t1')), user(result('t1'))], thinks)],
    ['a compaction block first', request([assistant({ type: 'compaction', content: 'x' }), user(text('go'))])],
    [
      'a paused answer last',
      request([user(text('go')), assistant({ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} })]),
    ],
    [
      'a system message between turns',
      request([user(text('go')), { role: 'system', content: [text('note')] }, assistant(text('a')), user(text('b'))]),
    ],
    [
      'four breakpoints',
      request([user(...[1, 2, 3, 4].map((n) => ({ ...text(`${n}`), cache_control: { type: 'ephemeral' } as const })))]),
    ],
    ['20 large images', request([user(...Array.from({ length: 20 }, () => image(2_162, 322)))])],
    ['an input that just fits', request(good), { estimate: 192_000 }],
  ])('accepts %s', (_name, checked, more) => {
    expect(describeViolations(validateRequest(checked, { ...limits, ...more }))).toBe('');
  });

  it.each<[string, WireRequest, Partial<RequestLimits>?]>([
    ['no_messages', request([])],
    ['alternation', request([user(text('a')), user(text('b'))])],
    ['first_role', request([assistant(text('a')), user(text('b'))])],
    ['last_role', request([user(text('a')), assistant(text('b'))])],
    ['empty_message', request([user(text('a')), assistant(), user(text('b'))])],
    ['system_role', request([user(text('a')), { role: 'system', content: [text('b')] }]), { profile: 'plain' }],
    ['missing_result', request([good[0]!, good[1]!, user(result('t1'))])],
    ['duplicate_result', request([good[0]!, assistant(use('t1')), user(result('t1'), result('t1'))])],
    ['orphan_result', request([user(result('t9'))])],
    ['result_order', request([good[0]!, good[1]!, user(result('t2'), result('t1'))])],
    ['results_first', request([good[0]!, assistant(use('t1')), user(text('x'), result('t1'))])],
    ['duplicate_id', request([...good, assistant(use('t1')), user(result('t1'))])],
    [
      'server_pair',
      request([
        user(text('a')),
        assistant({ type: 'server_tool_use', id: 's', name: 'w', input: {} }),
        user(text('b')),
      ]),
    ],
    [
      'server_pair',
      request([
        user(text('a')),
        assistant({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
        user(text('b')),
      ]),
    ],
    ['blank_text', request([user(text('  '))])],
    ['blank_text', request([good[0]!, assistant(use('t1')), user(result('t1', [text('')]))])],
    ['blank_text', request([good[0]!, assistant(use('t1')), user(result('t1', ''))])],
    ['thinking_off', request([good[0]!, assistant(thinking, text('a')), user(text('b'))])],
    ['thinking_last', request([good[0]!, assistant(text('a'), thinking), user(text('b'))], thinks)],
    ['tool_use_id', request([good[0]!, assistant(use('a b')), user(result('a b'))])],
    ['tool_name', request([good[0]!, assistant(use('t1', 'ls -la /')), user(result('t1'))])],
    ['tool_name', request(good, { tools: [{ name: '', description: '', input_schema: {} }] })],
    ['tool_twice', request(good, { tools: ['a', 'a'].map((name) => ({ name, description: '', input_schema: {} })) })],
    ['tool_input', request([good[0]!, assistant({ ...use('t1'), input: 'x' }), user(result('t1'))])],
    [
      'error_result_media',
      request([good[0]!, assistant(use('t1')), user({ ...result('t1', [image(1, 1)]), is_error: true })]),
    ],
    ['utf16', request([user(text('a\uD83D'))])],
    ['utf16', request([good[0]!, assistant({ ...use('t1'), input: { 'a\uD83D': 1 } }), user(result('t1'))])],
    ['max_tokens', request(good, { max_tokens: 0 })],
    ['max_tokens', request(good, { max_tokens: 64_001 })],
    ['thinking_budget', request(good, { thinking: { type: 'enabled', budget_tokens: 8_000 } })],
    ['thinking_budget', request(good, { thinking: { type: 'enabled', budget_tokens: 1_000 } })],
    ['window', request(good), { estimate: 192_001 }],
    [
      'breakpoints',
      request([
        user(...[1, 2, 3, 4, 5].map((n) => ({ ...text(`${n}`), cache_control: { type: 'ephemeral' } as const }))),
      ]),
    ],
    ['plain_profile', request([user({ ...text('a'), cache_control: { type: 'ephemeral' } })]), { profile: 'plain' }],
    ['plain_profile', request(good, { output_config: {} }), { profile: 'plain' }],
    ['image_size', request([user(...Array.from({ length: 21 }, () => image(2_162, 322)))])],
    ['image_size', request([user(image(8_001, 1))])],
    [
      'image_bytes',
      request([
        user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(7_000_000) } }),
      ]),
    ],
  ])('refuses by the rule %s', (rule, checked, more) => {
    expect(rules(checked, more)).toContain(rule);
  });

  const turn = fc.record({ tools: fc.nat(3), words: fc.string({ minLength: 1 }), thinks: fc.boolean() });

  /** A conversation of the given turns, without fault. */
  function conversation(turns: readonly { tools: number; words: string; thinks: boolean }[]): WireMessage[] {
    const messages = turns.flatMap(({ tools, words, thinks: hasThinking }, index) => {
      const ids = Array.from({ length: tools }, (_, tool) => `t${index}_${tool}`);
      const said = text(`say ${words.toWellFormed()}`);
      const before = hasThinking ? [thinking] : [];
      return [
        assistant(...before, said, ...ids.map((id) => use(id))),
        user(...ids.map((id) => result(id)), text('go on')),
      ];
    });
    return [user(text('go')), ...messages];
  }

  it('accepts every conversation without fault', () => {
    fc.assert(
      fc.property(fc.array(turn), (turns) => {
        expect(describeViolations(validateRequest(request(conversation(turns), thinks), limits))).toBe('');
      }),
    );
  });

  it('sees every message that is lost from the middle', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 2 }), fc.nat(), (turns, at) => {
        const messages = conversation(turns);
        const lost = 1 + (at % (messages.length - 2));
        const damaged = messages.filter((_, index) => index !== lost);
        expect(rules(request(damaged, thinks)).length).toBeGreaterThan(0);
      }),
    );
  });
});
