import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WireMessage, WireRequest } from '../../src/core/wire/request-type.ts';
import { serialiseRequest } from '../../src/model/serialise.ts';

describe('serialiseRequest', () => {
  it('gives the bytes of JSON.stringify', () => {
    const message = fc.record({
      role: fc.constantFrom<'user' | 'assistant'>('user', 'assistant'),
      content: fc.array(fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'grapheme' }) }), {
        minLength: 1,
      }),
    });
    fc.assert(
      fc.property(fc.array(message), fc.option(fc.string()), (messages, system) => {
        const request: WireRequest = {
          model: 'm',
          max_tokens: 8,
          ...(system === null ? {} : { system: [{ type: 'text', text: system }] }),
          tools: [{ name: 'read', description: '"', input_schema: { type: 'object' } }],
          messages,
        };
        expect(serialiseRequest(request)).toBe(JSON.stringify({ ...request, stream: true }));
      }),
    );
  });

  it('leaves out what is undefined, as JSON.stringify does', () => {
    const request = { model: 'm', max_tokens: 8, messages: [], thinking: undefined } as unknown as WireRequest;
    expect(serialiseRequest(request)).toBe(JSON.stringify({ ...request, stream: true }));
  });

  it('stringifies a message once, for as long as it is the same object', () => {
    let count = 0;
    const messages = Array.from(
      { length: 300 },
      (_, index): WireMessage => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: [{ type: 'text', text: { toJSON: () => ((count += 1), `turn ${index}`) } }],
      }),
    );
    for (let turn = 1; turn <= messages.length; turn += 1) {
      serialiseRequest({ model: 'm', max_tokens: 8, messages: messages.slice(0, turn) });
    }
    expect(count).toBe(messages.length);
  });
});
