import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, hashInput } from '../../src/tools/hash.ts';
import { cutHead, cutTail } from '../../src/core/text.ts';
import { oneLine } from '../../src/tools/text.ts';

const anyText = fc.string({ unit: 'binary' });

describe('cutting text', () => {
  it('B68: never splits a character', () => {
    expect(cutHead(`${'x'.repeat(9)}😀`, 10)).toBe('x'.repeat(9));
    expect(cutTail(`😀${'x'.repeat(9)}`, 10)).toBe('x'.repeat(9));
    expect(cutHead('ab', 10)).toBe('ab');
  });

  it('keeps well-formed text well-formed, within the length, for any text', () => {
    fc.assert(
      fc.property(anyText, fc.nat(20), (text, length) => {
        for (const cut of [cutHead(text, length), cutTail(text, length), oneLine(text, length + 1)]) {
          expect(cut.length).toBeLessThanOrEqual(length + 1);
          expect(cut.isWellFormed()).toBe(true);
        }
        expect(text.startsWith(cutHead(text, length))).toBe(true);
        expect(text.endsWith(cutTail(text, length))).toBe(true);
      }),
    );
  });

  it('puts a text on one line', () => {
    expect(oneLine(' a\n\n b\tc ', 10)).toBe('a b c');
    expect(oneLine('abcdef', 4)).toBe('abc…');
    expect(oneLine('a\uD83D', 10)).toBe('a\uFFFD');
  });
});

describe('the hash of an input', () => {
  it('does not depend on the order of keys', () => {
    expect(hashInput({ a: 1, b: { c: [1, 2], d: null } })).toBe(hashInput({ b: { d: null, c: [1, 2] }, a: 1 }));
    expect(hashInput({ a: [1, 2] })).not.toBe(hashInput({ a: [2, 1] }));
    expect(hashInput({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });

  it('is that of JSON with sorted keys, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = JSON.parse(JSON.stringify(value)) as never;
        expect(JSON.parse(canonicalJson(copy))).toEqual(copy);
        expect(canonicalJson(JSON.parse(canonicalJson(copy)) as never)).toBe(canonicalJson(copy));
      }),
    );
  });
});
