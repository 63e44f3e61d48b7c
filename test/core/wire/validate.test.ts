import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodedBytes, imageSize } from '../../../src/core/wire/image-size.ts';
import type { WireBlock, WireMessage, WireRequest } from '../../../src/core/wire/request-type.ts';
import { describeViolations, type RequestLimits, validateRequest } from '../../../src/core/wire/validate.ts';
import { expandBlocks } from '../../../src/testing/scenario-media.ts';

const limits: RequestLimits = { contextWindow: 200_000, maxOutput: 64_000, estimate: 1_000, profile: 'anthropic' };
const text = (value: string): WireBlock => ({ type: 'text', text: value });
const use = (id: string, name = 'read'): WireBlock => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string, content: unknown = 'x'): WireBlock => ({ type: 'tool_result', tool_use_id: id, content });
const serverUse = (id: string): WireBlock => ({ type: 'server_tool_use', id, name: 'web_search', input: {} });
const serverResult = (id: string): WireBlock => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] });
const thinking: WireBlock = { type: 'thinking', thinking: '', signature: 's' };
const redacted: WireBlock = { type: 'redacted_thinking', data: 'x' };
const compaction: WireBlock = { type: 'compaction', content: 'so far' };
const cached = (block: WireBlock): WireBlock => ({ ...block, cache_control: { type: 'ephemeral' } });
const user = (...content: WireBlock[]): WireMessage => ({ role: 'user', content });
const assistant = (...content: WireBlock[]): WireMessage => ({ role: 'assistant', content });
const system = (...content: WireBlock[]): WireMessage => ({ role: 'system', content });
const image = (width: number, height: number): WireBlock =>
  expandBlocks([{ image: { width, height } }])[0] as WireBlock;
const imageOf = (data: string): WireBlock => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
});
const times = (count: number, block: (index: number) => WireBlock): WireBlock[] =>
  Array.from({ length: count }, (_, index) => block(index));

type Change = (messages: WireMessage[]) => WireMessage[];

/** A request of every kind of message that the API takes: two tools, an answer, a search. */
const conversation: readonly WireMessage[] = [
  user(text('go')),
  assistant(text('a'), use('t1'), use('t2')),
  user(result('t1'), result('t2', [text('y')]), text('and')),
  assistant(serverUse('s1'), serverResult('s1'), text('b')),
  user(text('more')),
];
const good: WireRequest = { model: 'm', max_tokens: 8_000, messages: conversation };

/** The good request with its messages changed. */
function changed(change: Change, more: Partial<WireRequest> = {}): WireRequest {
  return { ...good, ...more, messages: change([...conversation]) };
}

/** The good request with the message at `index` replaced. */
function withMessage(index: number, message: WireMessage, more: Partial<WireRequest> = {}): WireRequest {
  return changed((messages) => messages.with(index, message), more);
}

function rules(checked: unknown, more: Partial<RequestLimits> = {}): string[] {
  return [...new Set(validateRequest(checked, { ...limits, ...more }).map(({ rule }) => rule))];
}

interface Case {
  readonly rule: string;
  readonly good: unknown;
  readonly bad: unknown;
  /** Limits of both requests. */
  readonly limits?: Partial<RequestLimits>;
  /** Where the fault is. */
  readonly path: string;
}

const adaptive = { thinking: { type: 'adaptive' } } as const;
const enabled = { thinking: { type: 'enabled', budget_tokens: 1_024 } } as const;
const hourly = (block: WireBlock): WireBlock => ({ ...block, cache_control: { type: 'ephemeral', ttl: '1h' } });
/** A request with a thinking budget that goes on behind answers and what was said to each, in turn. */
const cycle = (...said: readonly WireBlock[][]): WireRequest => ({
  ...good,
  ...enabled,
  messages: [
    user(text('go')),
    ...said.map((blocks, index) => (index % 2 === 0 ? assistant(...blocks) : user(...blocks))),
  ],
});
const plain = { profile: 'plain' } as const;
const thought = withMessage(3, assistant(thinking, redacted, text('b')), adaptive);
const tool = (name: string): NonNullable<WireRequest['tools']>[number] => ({ name, description: '', input_schema: {} });

/** Every rule of section 14: a request that keeps it, and the same with one thing changed. */
const cases: readonly Case[] = [
  { rule: 'alternation', good, bad: changed((all) => all.toSpliced(1, 0, user(text('b')))), path: 'messages.1' },
  { rule: 'no_messages', good, bad: { ...good, messages: [] }, path: 'messages' },
  { rule: 'first_role', good, bad: changed((all) => all.slice(3)), path: 'messages.0' },
  {
    rule: 'first_role',
    good: changed((all) => all.with(3, assistant(compaction)).slice(3)),
    bad: changed((all) => all.with(3, assistant(text('so far'))).slice(3)),
    path: 'messages.0',
  },
  {
    rule: 'last_role',
    good,
    bad: changed((all) => all.with(3, assistant(text('b'))).slice(0, -1)),
    path: 'messages.3',
  },
  {
    rule: 'last_role',
    good: changed((all) => all.with(3, assistant(text('b'), serverUse('s1'))).slice(0, -1)),
    bad: changed((all) => all.with(3, assistant(text('b'))).slice(0, -1)),
    path: 'messages.3',
  },
  { rule: 'empty_message', good, bad: withMessage(4, user()), path: 'messages.4' },
  { rule: 'empty_message', good, bad: withMessage(3, assistant()), path: 'messages.3' },
  {
    rule: 'system_role',
    good,
    bad: changed((all) => all.toSpliced(3, 0, system(text('note')))),
    limits: plain,
    path: 'messages.3',
  },
  {
    rule: 'system_between',
    good: changed((all) => all.toSpliced(3, 0, system(text('note')))),
    bad: changed((all) => all.toSpliced(2, 0, system(text('note')))),
    path: 'messages.2',
  },
  {
    rule: 'missing_result',
    good,
    bad: withMessage(2, user(result('t1'), text('and'))),
    path: 'messages.1.content.2',
  },
  { rule: 'missing_result', good, bad: changed((all) => all.slice(0, 2)), path: 'messages.1.content.1' },
  {
    rule: 'duplicate_result',
    good,
    bad: withMessage(2, user(result('t1'), result('t2'), result('t2'))),
    path: 'messages.2.content.2',
  },
  { rule: 'orphan_result', good, bad: withMessage(4, user(result('t9'), text('more'))), path: 'messages.4.content.0' },
  { rule: 'orphan_result', good, bad: withMessage(0, user(result('t9'), text('go'))), path: 'messages.0.content.0' },
  { rule: 'result_order', good, bad: withMessage(2, user(result('t2'), result('t1'))), path: 'messages.2' },
  {
    rule: 'results_first',
    good,
    bad: withMessage(2, user(text('and'), result('t1'), result('t2'))),
    path: 'messages.2.content.0',
  },
  {
    rule: 'duplicate_id',
    good: changed((all) => [...all, assistant(use('t3')), user(result('t3'))]),
    bad: changed((all) => [...all, assistant(use('t1')), user(result('t1'))]),
    path: 'messages.5.content.0',
  },
  {
    rule: 'duplicate_id',
    good,
    bad: withMessage(1, assistant(use('t1'), use('t1'))),
    path: 'messages.1.content.1',
  },
  {
    rule: 'server_pair',
    good,
    bad: withMessage(3, assistant(serverUse('s1'), text('b'))),
    path: 'messages.3.content.0',
  },
  {
    rule: 'server_pair',
    good,
    bad: withMessage(3, assistant(serverResult('s1'), text('b'))),
    path: 'messages.3.content.0',
  },
  {
    rule: 'server_pair',
    good,
    bad: withMessage(3, assistant(serverResult('s1'), serverUse('s1'))),
    path: 'messages.3.content.0',
  },
  { rule: 'misplaced_block', good, bad: withMessage(4, user(text('more'), use('t9'))), path: 'messages.4.content.1' },
  {
    rule: 'misplaced_block',
    good,
    bad: withMessage(3, assistant(text('b'), result('t1'))),
    path: 'messages.3.content.1',
  },
  {
    rule: 'misplaced_block',
    good: thought,
    bad: withMessage(4, user(thinking, text('x')), adaptive),
    path: 'messages.4.content.0',
  },
  { rule: 'blank_text', good, bad: withMessage(4, user(text(''))), path: 'messages.4.content.0' },
  {
    rule: 'blank_text',
    good,
    bad: withMessage(4, { role: 'user', content: ' \n\t' as never }),
    path: 'messages.4.content.0',
  },
  {
    rule: 'blank_text',
    good,
    bad: withMessage(2, user(result('t1'), result('t2', [text(' ')]))),
    path: 'messages.2.content.1.content.0',
  },
  { rule: 'blank_text', good, bad: withMessage(2, user(result('t1', ''), result('t2'))), path: 'messages.2.content.0' },
  {
    rule: 'blank_text',
    good: { ...good, system: [text('be')] },
    bad: { ...good, system: [text(' ')] },
    path: 'system.0',
  },
  {
    rule: 'thinking_off',
    good: thought,
    bad: { ...thought, thinking: { type: 'disabled' } },
    path: 'messages.3.content.0',
  },
  {
    rule: 'thinking_last',
    good: thought,
    bad: withMessage(3, assistant(text('b'), thinking), adaptive),
    path: 'messages.3.content.1',
  },
  {
    rule: 'thinking_last',
    good: thought,
    bad: withMessage(3, assistant(text('b'), redacted), adaptive),
    path: 'messages.3.content.1',
  },
  {
    rule: 'thinking_cycle',
    good: cycle([thinking, use('t1')], [result('t1')]),
    bad: cycle([text('b'), use('t1')], [result('t1')]),
    path: 'messages.1.content.0',
  },
  {
    // What else stands behind the result does not end the cycle; without a result there is none.
    rule: 'thinking_cycle',
    good: { ...good, ...enabled, messages: conversation },
    bad: cycle([use('t1')], [result('t1'), text('and')]),
    path: 'messages.1.content.0',
  },
  {
    // The whole cycle counts: models without interleaved thinking think at its start only.
    rule: 'thinking_cycle',
    good: cycle([redacted, use('t1')], [result('t1')], [use('t2')], [result('t2')]),
    bad: cycle([use('t1')], [result('t1')], [thinking, use('t2')], [result('t2')]),
    path: 'messages.1.content.0',
  },
  {
    // Words of the user begin another one.
    rule: 'thinking_cycle',
    good: cycle([use('t1')], [result('t1'), text('and')], [thinking, use('t2')], [result('t2')]),
    bad: cycle([thinking, use('t1')], [result('t1'), text('and')], [use('t2')], [result('t2')]),
    path: 'messages.3.content.0',
  },
  {
    rule: 'thinking_cycle',
    good: { ...good, ...adaptive, messages: [user(text('go')), assistant(use('t1')), user(result('t1'))] },
    bad: cycle([use('t1')], [result('t1')]),
    path: 'messages.1.content.0',
  },
  {
    rule: 'thinking_cycle',
    good: { ...good, ...enabled, messages: [user(text('go')), assistant(thinking, serverUse('s1'))] },
    bad: { ...good, ...enabled, messages: [user(text('go')), assistant(serverUse('s1'))] },
    path: 'messages.1.content.0',
  },
  {
    rule: 'cache_control',
    good: withMessage(4, user({ ...text('a'), cache_control: { type: 'ephemeral', ttl: '1h' } })),
    bad: withMessage(4, user({ ...text('a'), cache_control: { type: 'lasting' } as never })),
    path: 'messages.4.content.0',
  },
  {
    rule: 'cache_control',
    good: thought,
    bad: withMessage(3, assistant(cached(thinking), text('b')), adaptive),
    path: 'messages.3.content.0',
  },
  {
    rule: 'cache_control',
    good: { ...withMessage(4, user(cached(text('a')))), system: [hourly(text('be'))] },
    bad: { ...withMessage(4, user(hourly(text('a')))), system: [cached(text('be'))] },
    path: 'messages.4.content.0',
  },
  {
    rule: 'media_source',
    good: withMessage(4, user(image(1, 1))),
    bad: withMessage(4, user({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'AAAA' } })),
    path: 'messages.4.content.0',
  },
  {
    rule: 'media_source',
    good,
    bad: withMessage(2, user(result('t1'), result('t2', [{ type: 'document', source: { type: 'url' } }]))),
    path: 'messages.2.content.1.content.0',
  },
  {
    rule: 'result_part',
    good,
    bad: withMessage(2, user(result('t1'), result('t2', [use('t9')]))),
    path: 'messages.2.content.1.content.0',
  },
  {
    rule: 'misplaced_block',
    good,
    bad: withMessage(3, assistant(text('b'), image(1, 1))),
    path: 'messages.3.content.1',
  },
  { rule: 'misplaced_block', good, bad: withMessage(4, user(compaction, text('b'))), path: 'messages.4.content.0' },
  {
    rule: 'tool_use_id',
    good,
    bad: changed((all) => all.with(1, assistant(use('a b'))).with(2, user(result('a b')))),
    path: 'messages.1.content.0',
  },
  {
    rule: 'tool_use_id',
    good,
    bad: changed((all) => all.with(1, assistant(use(''))).with(2, user(result('')))),
    path: 'messages.1.content.0',
  },
  {
    rule: 'tool_use_id',
    good,
    bad: withMessage(3, assistant(serverUse('a.b'), serverResult('a.b'), text('b'))),
    path: 'messages.3.content.0',
  },
  {
    rule: 'tool_name',
    good,
    bad: withMessage(1, assistant(use('t1', 'ls -la /'), use('t2'))),
    path: 'messages.1.content.0',
  },
  {
    rule: 'tool_name',
    good: withMessage(1, assistant(use('t1', 'x'.repeat(64)), use('t2'))),
    bad: withMessage(1, assistant(use('t1', 'x'.repeat(65)), use('t2'))),
    path: 'messages.1.content.0',
  },
  { rule: 'tool_name', good: { ...good, tools: [tool('a')] }, bad: { ...good, tools: [tool('')] }, path: 'tools.0' },
  {
    rule: 'tool_twice',
    good: { ...good, tools: [tool('a'), tool('b')] },
    bad: { ...good, tools: [tool('a'), tool('a')] },
    path: 'tools.1',
  },
  {
    rule: 'tool_input',
    good,
    bad: withMessage(1, assistant({ ...use('t1'), input: [] }, use('t2'))),
    path: 'messages.1.content.0',
  },
  {
    rule: 'tool_input',
    good,
    bad: withMessage(3, assistant({ ...serverUse('s1'), input: 'x' }, serverResult('s1'), text('b'))),
    path: 'messages.3.content.0',
  },
  {
    rule: 'error_result_media',
    good: withMessage(2, user(result('t1', [image(1, 1)]), { ...result('t2', [text('y')]), is_error: true })),
    bad: withMessage(2, user({ ...result('t1', [text('x'), image(1, 1)]), is_error: true }, result('t2'))),
    path: 'messages.2.content.0.content.1',
  },
  {
    rule: 'utf16',
    good: withMessage(4, user(text('\u{1F600}'))),
    bad: withMessage(4, user(text('a\uD83D'))),
    path: 'messages.4',
  },
  {
    rule: 'utf16',
    good,
    bad: withMessage(1, assistant({ ...use('t1'), input: { 'a\uDE00': 1 } }, use('t2'))),
    path: 'messages.1',
  },
  {
    rule: 'utf16',
    good: { ...good, system: [text('be')] },
    bad: { ...good, system: [text('\uD83D')] },
    path: 'system',
  },
  {
    rule: 'utf16',
    good: { ...good, tools: [tool('a')] },
    bad: { ...good, tools: [{ ...tool('a'), description: '\uD83D' }] },
    path: 'tools',
  },
  { rule: 'max_tokens', good: { ...good, max_tokens: 1 }, bad: { ...good, max_tokens: 0 }, path: 'max_tokens' },
  { rule: 'max_tokens', good, bad: { ...good, max_tokens: 1.5 }, path: 'max_tokens' },
  {
    rule: 'max_tokens',
    good: { ...good, max_tokens: 64_000 },
    bad: { ...good, max_tokens: 64_001 },
    path: 'max_tokens',
  },
  {
    rule: 'thinking_budget',
    good: { ...good, thinking: { type: 'enabled', budget_tokens: 7_999 } },
    bad: { ...good, thinking: { type: 'enabled', budget_tokens: 8_000 } },
    path: 'thinking',
  },
  {
    rule: 'thinking_budget',
    good: { ...good, thinking: { type: 'enabled', budget_tokens: 1_024 } },
    bad: { ...good, thinking: { type: 'enabled', budget_tokens: 1_023 } },
    path: 'thinking',
  },
  {
    rule: 'window',
    good: { ...good, max_tokens: 8_000 },
    bad: { ...good, max_tokens: 8_001 },
    limits: { estimate: 192_000 },
    path: 'max_tokens',
  },
  {
    rule: 'breakpoints',
    good: withMessage(0, user(...times(4, (index) => cached(text(`${index}`))))),
    bad: withMessage(0, user(...times(5, (index) => cached(text(`${index}`))))),
    path: 'messages',
  },
  {
    rule: 'breakpoints',
    good: {
      ...withMessage(2, user(result('t1', [cached(text('x'))]), result('t2'))),
      system: [cached(text('be'))],
      tools: [{ ...tool('a'), cache_control: { type: 'ephemeral' } }],
    },
    bad: {
      ...withMessage(
        2,
        user(
          result(
            't1',
            times(3, () => cached(text('x'))),
          ),
          result('t2'),
        ),
      ),
      system: [cached(text('be'))],
      tools: [{ ...tool('a'), cache_control: { type: 'ephemeral' } }],
    },
    path: 'messages',
  },
  { rule: 'plain_profile', good, bad: withMessage(4, user(cached(text('a')))), limits: plain, path: 'messages' },
  { rule: 'plain_profile', good, bad: { ...good, output_config: {} }, limits: plain, path: 'output_config' },
  { rule: 'plain_profile', good, bad: { ...good, ...adaptive }, limits: plain, path: 'thinking' },
  {
    rule: 'image_size',
    good: withMessage(4, user(image(8_000, 1))),
    bad: withMessage(4, user(image(1, 8_001))),
    path: 'messages.4.content.0',
  },
  {
    rule: 'image_size',
    good: withMessage(4, user(...times(20, () => image(2_162, 322)))),
    bad: withMessage(4, user(image(2_162, 322), ...times(20, () => image(1, 1)))),
    path: 'messages.4.content.0',
  },
  {
    rule: 'image_size',
    good: withMessage(2, user(result('t1', [text('x'), image(8_000, 1)]), result('t2'))),
    bad: withMessage(2, user(result('t1', [text('x'), image(8_001, 1)]), result('t2'))),
    path: 'messages.2.content.0.content.1',
  },
  {
    // The base64 text is measured: what it decodes to is under the limit in both.
    rule: 'image_bytes',
    good: withMessage(4, user(imageOf('A'.repeat(5 * 1024 * 1024)))),
    bad: withMessage(4, user(imageOf('A'.repeat(5 * 1024 * 1024 + 4)))),
    path: 'messages.4.content.0',
  },
  { rule: 'shape', good, bad: 'go', path: 'request' },
  { rule: 'shape', good, bad: { ...good, model: undefined }, path: 'model' },
  { rule: 'shape', good, bad: { ...good, max_tokens: '8' }, path: 'max_tokens' },
  { rule: 'shape', good, bad: { ...good, messages: {} }, path: 'messages' },
  { rule: 'shape', good, bad: { ...good, messages: [null] }, path: 'messages.0' },
  { rule: 'shape', good, bad: { ...good, messages: [{ role: 'tool', content: 'x' }] }, path: 'messages.0.role' },
  { rule: 'shape', good, bad: { ...good, messages: [{ role: 'user' }] }, path: 'messages.0.content' },
  { rule: 'shape', good, bad: withMessage(4, user(null as never)), path: 'messages.4.content.0' },
  { rule: 'shape', good, bad: withMessage(4, user({ type: 'text' })), path: 'messages.4.content.0.text' },
  {
    rule: 'shape',
    good,
    bad: withMessage(2, user({ type: 'tool_result', tool_use_id: 't1', content: 7 }, result('t2'))),
    path: 'messages.2.content.0.content',
  },
  {
    rule: 'shape',
    good: thought,
    bad: withMessage(3, assistant({ type: 'thinking', thinking: 'hm' }, text('b')), adaptive),
    path: 'messages.3.content.0.signature',
  },
  {
    rule: 'shape',
    good,
    bad: withMessage(2, user({ ...result('t1'), is_error: 'yes' }, result('t2'))),
    path: 'messages.2.content.0.is_error',
  },
  { rule: 'shape', good, bad: { ...good, tools: [{ description: '' }] }, path: 'tools.0.name' },
  { rule: 'shape', good, bad: { ...good, thinking: { type: 'enabled' } }, path: 'thinking.budget_tokens' },
];

describe('validateRequest', () => {
  it.each(cases)(
    '$rule at $path: accepts the one, refuses the other',
    ({ rule, good: kept, bad, path, limits: more }) => {
      const facts = { ...limits, ...more };
      expect(describeViolations(validateRequest(kept, facts))).toBe('');
      const violations = validateRequest(bad, facts);
      expect(violations.filter((violation) => violation.rule === rule).map((violation) => violation.path)).toContain(
        path,
      );
      for (const { message } of violations) expect(message).toMatch(/^\S.*\S$/);
    },
  );

  it('leaves the window out when the input is not known', () => {
    expect(rules({ ...good, max_tokens: 64_000 }, { estimate: null, contextWindow: 10 })).toEqual([]);
  });

  it('takes a text as the whole content of a message', () => {
    expect(rules({ ...good, messages: [{ role: 'user', content: 'go' }] })).toEqual([]);
  });

  it('goes by the fact whether the last answer may be sent back, when it is told', () => {
    const paused = changed((all) => all.with(3, assistant(text('b'))).slice(0, -1));
    expect(rules(paused, { mayEndWithAssistant: true })).toEqual([]);
    const searched = changed((all) => all.slice(0, -1));
    expect(rules(searched)).toEqual([]);
    expect(rules(searched, { mayEndWithAssistant: false })).toEqual(['last_role']);
  });

  it('lets messages of the system stand outside of alternation and pairs', () => {
    const noted = changed((all) => [all[0]!, system(text('n')), all[1]!, all[2]!, all[3]!, system(text('n')), all[4]!]);
    expect(rules(noted)).toEqual([]);
  });

  it('reads the strings of a message once, and what replaces it again', () => {
    let reads = 0;
    const input = {
      get counted(): string {
        reads += 1;
        return 'x';
      },
    };
    const asking = assistant({ ...use('t1'), input }, use('t2'));
    for (let index = 0; index < 3; index += 1) expect(rules(withMessage(1, asking))).toEqual([]);
    expect(reads).toBe(1);
    expect(rules(withMessage(1, assistant({ ...use('t1'), input: { x: '\uD83D' } }, use('t2'))))).toEqual(['utf16']);
  });
});

describe('imageSize', () => {
  const base64 = (...parts: readonly (number | string)[]): string =>
    Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from([part]))),
    ).toString('base64');
  const pngOf = (width: number, height: number): string =>
    (image(width, height)['source'] as { readonly data: string }).data;
  const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);

  it.each<[string, string, number, number]>([
    ['PNG', pngOf(2_162, 322), 2_162, 322],
    ['GIF', base64('GIF89a', 0x20, 0x03, 0x58, 0x02), 800, 600],
    [
      'JPEG behind its metadata',
      base64(0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc4, 0, 3, 9, 0xff, 0xc2, 0, 17, 8, 0x02, 0x58, 0x03, 0x20, 3),
      800,
      600,
    ],
    ['WebP, lossy', base64('RIFF', ...zeros(4), 'WEBPVP8 ', ...zeros(10), 0x20, 0x43, 0x58, 0x42), 800, 600],
    [
      'WebP, lossless',
      base64('RIFF', ...zeros(4), 'WEBPVP8L', ...zeros(4), 0x2f, 0x1f, 0xc3, 0x95, 0x00, ...zeros(8)),
      800,
      600,
    ],
    ['WebP, extended', base64('RIFF', ...zeros(4), 'WEBPVP8X', ...zeros(8), 0x1f, 0x03, 0, 0x57, 0x02, 0), 800, 600],
  ])('reads %s', (_name, data, width, height) => {
    expect(imageSize(data)).toEqual({ width, height });
  });

  it.each(['', 'AAAA', '####', base64('GIF89a'), base64(0xff, 0xd8, 0xff, 0xe0, 0, 0), base64('\x89PNG')])(
    'knows nothing of %j',
    (data) => {
      expect(imageSize(data)).toBeNull();
    },
  );

  it('ends on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        for (const head of [[], [0xff, 0xd8], [...Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')]]) {
          imageSize(Buffer.from([...head, ...bytes]).toString('base64'));
        }
      }),
    );
  });

  it('knows how many bytes a text decodes to', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
        expect(decodedBytes(Buffer.from(bytes).toString('base64'))).toBe(bytes.length);
      }),
    );
  });
});

describe('conversations at random', () => {
  const turn = fc.record({
    tools: fc.nat(3),
    words: fc.string({ minLength: 1, unit: 'grapheme' }),
    thinks: fc.boolean(),
    searches: fc.boolean(),
    notes: fc.boolean(),
  });

  /** A conversation of the given turns, without fault. Messages of the system come behind the results. */
  const generated = fc.array(turn, { minLength: 1, maxLength: 6 }).map((turns): readonly WireMessage[] => [
    user(text('go')),
    ...turns.flatMap(({ tools, words, thinks, searches, notes }, index) => {
      const ids = Array.from({ length: tools }, (_, place) => `t${index}_${place}`);
      const before = [
        ...(thinks ? [thinking] : []),
        ...(searches ? [serverUse(`s${index}`), serverResult(`s${index}`)] : []),
      ];
      const answer = assistant(...before, text(`say ${words}`), ...ids.map((id) => use(id)));
      return [answer, user(...ids.map((id) => result(id)), text('go on')), ...(notes ? [system(text('note'))] : [])];
    }),
  ]);

  const asRequest = (messages: readonly WireMessage[]): WireRequest => ({ ...good, ...adaptive, messages });

  it('have no violation', () => {
    fc.assert(
      fc.property(generated, (messages) => {
        expect(describeViolations(validateRequest(asRequest(messages), limits))).toBe('');
      }),
    );
  });

  /** Changes the block at a place that is drawn; null when the conversation has none of the kind. */
  function atBlock(
    messages: readonly WireMessage[],
    at: number,
    isIt: (block: WireBlock) => boolean,
    change: (block: WireBlock) => readonly WireBlock[],
  ): readonly WireMessage[] | null {
    const places = messages.flatMap((message, index) =>
      message.content.flatMap((block, place) => (isIt(block) ? [{ index, place }] : [])),
    );
    const found = places[at % Math.max(1, places.length)];
    if (found === undefined) return null;
    return messages.map((message, index) =>
      index === found.index
        ? {
            ...message,
            content: message.content.flatMap((block, place) => (place === found.place ? change(block) : [block])),
          }
        : message,
    );
  }

  const isType =
    (type: string) =>
    (block: WireBlock): boolean =>
      block.type === type;

  type Damage = (messages: readonly WireMessage[], at: number) => readonly WireMessage[] | null;

  const spokenAt = (messages: readonly WireMessage[], at: number): number => {
    const places = messages.flatMap((message, index) => (message.role === 'system' ? [] : [index]));
    return places[1 + (at % (places.length - 2))] ?? 1;
  };

  const damages: readonly (readonly [string, Damage])[] = [
    ['a message is lost', (all, at) => all.toSpliced(spokenAt(all, at), 1)],
    ['a message comes twice', (all, at) => all.toSpliced(spokenAt(all, at), 0, all[spokenAt(all, at)]!)],
    ['a message is empty', (all, at) => all.with(at % all.length, { ...all[at % all.length]!, content: [] })],
    [
      'the last message is lost',
      (all) =>
        all.slice(
          0,
          all.findLastIndex(({ role }) => role === 'user'),
        ),
    ],
    ['a result is lost', (all, at) => atBlock(all, at, isType('tool_result'), () => [])],
    ['a result comes twice', (all, at) => atBlock(all, at, isType('tool_result'), (block) => [block, block])],
    ['a use is lost', (all, at) => atBlock(all, at, isType('tool_use'), () => [])],
    ['a use comes twice', (all, at) => atBlock(all, at, isType('tool_use'), (block) => [block, block])],
    ['an id changes', (all, at) => atBlock(all, at, isType('tool_use'), (block) => [{ ...block, id: 'other' }])],
    ['an id is none', (all, at) => atBlock(all, at, isType('tool_use'), (block) => [{ ...block, id: 'a b' }])],
    ['a name is none', (all, at) => atBlock(all, at, isType('tool_use'), (block) => [{ ...block, name: 'ls -la /' }])],
    [
      'text stands before a result',
      (all, at) => atBlock(all, at, isType('tool_result'), (block) => [text('x'), block]),
    ],
    ['a server result is lost', (all, at) => atBlock(all, at, isType('web_search_tool_result'), () => [])],
    ['a server use is lost', (all, at) => atBlock(all, at, isType('server_tool_use'), () => [])],
    ['a text is blank', (all, at) => atBlock(all, at, isType('text'), () => [text(' \n')])],
    ['a text is cut inside a character', (all, at) => atBlock(all, at, isType('text'), () => [text('x\uD83D')])],
    [
      'thinking goes to the end',
      (all, at) => {
        const index = all.findIndex(({ role }, place) => place >= at % all.length && role === 'assistant');
        const answer = all[index];
        return answer === undefined ? null : all.with(index, { ...answer, content: [...answer.content, thinking] });
      },
    ],
    [
      'a use stands in a user message',
      (all, at) => atBlock(all, at, isType('tool_result'), (block) => [block, use('stray')]),
    ],
    [
      'a note stands between use and result',
      (all, at) => {
        const asking = all.flatMap(({ content }, index) => (content.some(isType('tool_use')) ? [index] : []));
        const found = asking[at % Math.max(1, asking.length)];
        return found === undefined ? null : all.toSpliced(found + 1, 0, system(text('note')));
      },
    ],
  ];

  it.each(damages)('are refused when %s', (_name, damage) => {
    fc.assert(
      fc.property(generated, fc.nat(), (messages, at) => {
        const damaged = damage(messages, at);
        fc.pre(damaged !== null);
        expect(rules(asRequest(damaged), { mayEndWithAssistant: false })).not.toEqual([]);
      }),
    );
  });

  it('are refused, and never thrown at, whatever stands in place of a part', () => {
    const part = fc.oneof(fc.constant(null), fc.integer(), fc.string(), fc.constant([]), fc.constant({}));
    const requests = fc.record({
      model: part,
      max_tokens: part,
      messages: part,
      system: part,
      tools: part,
      thinking: part,
    });
    const messages = fc.array(
      fc.oneof(part, fc.record({ role: part, content: fc.array(fc.oneof(part, fc.record({ type: part }))) })),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(requests, messages, (request, inside) => {
        expect(rules(request)).not.toEqual([]);
        expect(rules({ ...good, messages: inside })).not.toEqual([]);
      }),
    );
  });
});
