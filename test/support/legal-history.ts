/** Conversations without fault, in the form in which the loop sends them. */
import fc from 'fast-check';
import type { LooseMessage } from '../../src/core/wire/ingest.ts';

type Loose = Readonly<Record<string, unknown>>;

const text = (value: string): Loose => ({ type: 'text', text: value });

const turn = fc.record({
  tools: fc.nat(3),
  words: fc.string({ minLength: 1, unit: 'grapheme' }),
  thinks: fc.boolean(),
  redacts: fc.boolean(),
  searches: fc.boolean(),
  shows: fc.boolean(),
  fails: fc.boolean(),
  keeps: fc.boolean(),
  says: fc.boolean(),
});

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

/** Turns with thinking, searches, tools, images, errors, and breakpoints of the caller. */
export const legalHistory: fc.Arbitrary<readonly LooseMessage[]> = fc
  .array(turn, { minLength: 1, maxLength: 6 })
  .map((turns): readonly LooseMessage[] => [
    { role: 'user', content: [text('go')] },
    ...turns.flatMap(({ tools, words, thinks, redacts, searches, shows, fails, keeps, says }, index) => {
      const ids = Array.from({ length: tools }, (_, place) => `t${index}_${place}`);
      const answer: readonly Loose[] = [
        ...(thinks ? [{ type: 'thinking', thinking: '', signature: `s${index}` }] : []),
        ...(searches
          ? [
              { type: 'server_tool_use', id: `s${index}`, name: 'web_search', input: { q: words } },
              { type: 'web_search_tool_result', tool_use_id: `s${index}`, content: [] },
            ]
          : []),
        ...(redacts ? [{ type: 'redacted_thinking', data: 'x' }] : []),
        text(`say ${words}`),
        ...ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: { of: words } })),
      ];
      const results = ids.map((id, place) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: [text(`got ${words}`), ...(shows && !fails ? [image] : [])],
        is_error: fails,
        ...(keeps && place === 0 ? { cache_control: { type: 'ephemeral' } } : {}),
      }));
      const said = says || tools === 0 ? [text('go on'), ...(shows ? [image] : [])] : [];
      return [
        { role: 'assistant' as const, content: answer },
        { role: 'user' as const, content: [...results, ...said] },
      ];
    }),
  ]);
