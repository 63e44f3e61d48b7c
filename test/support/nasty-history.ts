/** Histories as bad as a store may hand them over: everything that the schema of messages lets pass. */
import fc from 'fast-check';
import { legalHistory } from './legal-history.ts';

type Loose = Record<string, unknown>;

const junk = fc.constantFrom<unknown>(5, null, true, '', ' \n', 'x', 'a\uD83D', [], {}, ['x', null, 7], {
  'k\uDE00': 'v',
});
const text = fc.oneof(
  { arbitrary: fc.constantFrom('a', 'go on', '{"a":1}', '\u{1F600}'), weight: 4 },
  { arbitrary: fc.constantFrom('', ' \n\t', 'cut\uD83D', '\uDE00', '\u0000', '\u00a0'), weight: 2 },
  { arbitrary: fc.string({ maxLength: 4, unit: 'binary' }), weight: 1 },
);
/** Few ids, so that they meet: legal ones, and what other stores hold. */
const id = fc.oneof(
  { arbitrary: fc.constantFrom('t1', 't2', 't3', 'call_0'), weight: 6 },
  { arbitrary: fc.constantFrom('', 'a b', 'x'.repeat(129), 'é', 't\uD83D', '__proto__'), weight: 1 },
);
const name = fc.constantFrom('read', 'bash', '', 'ls -la /', 'a.b', 'x'.repeat(457), 'é\uD83D', '__proto__');
const input = fc.constantFrom<unknown>({}, { a: 1 }, { s: '\uD83D' }, 'x', '{"a":1}', '[1]', [], null, 7, {
  cache_control: 1,
});
const mark = fc.constantFrom<unknown>(
  { type: 'ephemeral' },
  { type: 'ephemeral', ttl: '1h' },
  { type: 'ephemeral', ttl: '5m' },
  { type: 'ephemeral', ttl: '2h' },
  { type: 'lasting' },
  null,
  true,
);
const source = fc.constantFrom<unknown>(
  { type: 'base64', media_type: 'image/png', data: 'AAAA' },
  { type: 'base64', media_type: 'image/bmp', data: 'AAAA' },
  { type: 'base64', data: '' },
  { type: 'url', url: 'https://example.com/a' },
  { type: 'url' },
  { type: 'file', file_id: 'f' },
  { type: 'text', media_type: 'text/plain', data: 'words' },
  { type: 'content', content: 'words' },
  { type: 'cloud' },
  {},
  'x',
  null,
);

/** A block of a kind: each member as it should be, junk, or not there; perhaps with a breakpoint or a member nobody knows. */
function block(type: string, members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Loose> {
  const given = Object.entries(members).map(
    ([member, good]) =>
      [
        member,
        fc.option(fc.oneof({ arbitrary: good, weight: 9 }, { arbitrary: junk, weight: 1 }), { freq: 12 }),
      ] as const,
  );
  return fc
    .tuple(fc.record(Object.fromEntries(given)), fc.option(mark, { freq: 3 }), fc.option(junk, { freq: 3 }), fc.nat(5))
    .map(
      ([record, cache, extra, draw]): Loose => ({
        type,
        ...Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null)),
        ...(draw === 0 && cache !== null ? { cache_control: cache } : {}),
        ...(draw === 1 ? { extra } : {}),
      }),
    );
}

const media = [
  block('image', { source }),
  block('document', { source, title: text, context: text }),
  block('search_result', { source: text, title: text, content: junk }),
];
const reference = block('tool_reference', { tool_name: name });
const textBlock = block('text', { text, citations: fc.constant(null) });
const plainResult = block('tool_result', { tool_use_id: id, content: text, is_error: fc.boolean() });
const parts = fc.array(
  fc.oneof(textBlock, ...media, reference, plainResult, block('tool_use', { id, name, input }), junk),
  {
    maxLength: 3,
  },
);
const result = block('tool_result', {
  tool_use_id: id,
  content: fc.oneof(text, parts, junk),
  is_error: fc.oneof(fc.boolean(), junk),
});

const any: fc.Arbitrary<Loose> = fc.oneof(
  { arbitrary: textBlock, weight: 4 },
  { arbitrary: block('tool_use', { id, name, input }), weight: 4 },
  { arbitrary: result, weight: 4 },
  { arbitrary: block('thinking', { thinking: text, signature: text }), weight: 3 },
  { arbitrary: block('redacted_thinking', { data: text }), weight: 1 },
  { arbitrary: block('server_tool_use', { id, name: fc.constant('web_search'), input }), weight: 2 },
  {
    arbitrary: block('web_search_tool_result', { tool_use_id: id, content: fc.oneof(junk, fc.constant([])) }),
    weight: 2,
  },
  { arbitrary: block('compaction', { content: fc.oneof(text, junk) }), weight: 1 },
  ...media.map((arbitrary) => ({ arbitrary, weight: 1 })),
  { arbitrary: block('kind_of_tomorrow', { text, id }), weight: 1 },
  { arbitrary: block('', { text }), weight: 1 },
);

const blocks = fc.array(any, { maxLength: 5 });
const extras = fc.option(fc.record({ usage: junk, cache_control: mark, parent: junk }), { freq: 4, nil: {} });

/** Messages of the loop as `checkMessages` lets them pass. */
export const storedHistory: fc.Arbitrary<readonly Loose[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom('user', 'user', 'assistant', 'assistant', 'assistant'),
      fc.constantFrom('user', 'tool_results', 'summary', 'attachment', 'advice'),
      fc.constantFrom('m', 'm', 'm', 'other', ''),
      fc.nat(9).map((draw) => draw === 0),
      blocks,
      fc.constantFrom('', 'same', 'i1', 'i2'),
      extras,
    )
    .map(
      ([role, origin, model, refused, content, messageId, more]): Loose => ({
        ...more,
        role,
        id: messageId,
        ...(role === 'user' ? { origin } : { model }),
        content,
        refused,
      }),
    ),
  { maxLength: 8 },
);

/** Messages in the form of the API, or what is left of it. */
export const looseHistory: fc.Arbitrary<readonly Loose[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom<unknown>('user', 'assistant', 'user', 'assistant', 'system', 'tool', null),
      fc.oneof({ arbitrary: blocks, weight: 6 }, { arbitrary: text, weight: 1 }, { arbitrary: junk, weight: 1 }),
      extras,
    )
    .map(([role, content, more]): Loose => ({ ...more, role, content })),
  { maxLength: 8 },
);

/** What goes wrong with a history on its way through stores and processes. */
type Damage = (messages: readonly Loose[], at: number, drawn: Loose) => readonly Loose[];

const blocksOf = (message: Loose): readonly Loose[] => message['content'] as readonly Loose[];

/** Changes the blocks of the message at a place that is drawn. */
function inside(change: (all: readonly Loose[], at: number, drawn: Loose) => readonly Loose[]): Damage {
  return (messages, at, drawn) => {
    const index = at % messages.length;
    const message = messages[index]!;
    const place = Math.floor(at / messages.length) % Math.max(1, blocksOf(message).length);
    return messages.with(index, { ...message, content: change(blocksOf(message), place, drawn) });
  };
}

const damages: readonly Damage[] = [
  (all, at) => all.toSpliced(at % all.length, 1),
  (all, at) => all.toSpliced(at % all.length, 0, all[at % all.length]!),
  // A message was stored before the one it follows.
  (all, at) => {
    const index = at % Math.max(1, all.length - 1);
    return all.length < 2 ? all : all.with(index, all[index + 1]!).with(index + 1, all[index]!);
  },
  (all, at) => all.toSpliced(at % all.length, 0, { role: 'user', content: [{ type: 'text', text: 'by the way' }] }),
  (all, at) => all.toSpliced(at % all.length, 0, { role: 'assistant', content: [{ type: 'text', text: 'well' }] }),
  // One message a block, as transcripts of streams are stored.
  (all, at) => {
    const message = all[at % all.length]!;
    return all.toSpliced(at % all.length, 1, ...blocksOf(message).map((each) => ({ ...message, content: [each] })));
  },
  inside((all, place) => all.toSpliced(place, 1)),
  inside((all, place) => all.toSpliced(place, 0, ...all.slice(place, place + 1))),
  inside((all, place) => [...all.slice(place), ...all.slice(0, place)]),
  inside((all, place, drawn) => all.toSpliced(place, 0, drawn)),
  inside((all, place, drawn) => all.map((each, index) => (index === place ? { ...each, ...drawn } : each))),
  inside((all, place) =>
    all.map((each, index) => (index === place ? { ...each, cache_control: { type: 'ephemeral' } } : each)),
  ),
];

/** A conversation without fault, and up to six things that went wrong with it. */
export const damagedHistory: fc.Arbitrary<readonly Loose[]> = fc
  .tuple(legalHistory, fc.array(fc.tuple(fc.nat(damages.length - 1), fc.nat(10_000), any), { maxLength: 6 }))
  .map(([messages, faults]) =>
    faults.reduce<readonly Loose[]>(
      (left, [which, at, drawn]) => (left.length === 0 ? left : damages[which]!(left, at, drawn)),
      messages,
    ),
  );
