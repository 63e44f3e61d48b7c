import { Tokenizer } from 'ai-tokenizer';
import * as claude from 'ai-tokenizer/encoding/claude';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateText, learnRatio } from '../../../src/core/context/tokens.ts';
import { corpus } from '../../bench/corpus.ts';

const tokenizer = new Tokenizer(claude);

describe('the estimate of a text', () => {
  it.each(corpus().map((sample) => [sample.name, sample.text] as const))(
    'is high, and not absurd: %s',
    (_name, text) => {
      const reference = tokenizer.count(text) * 1.3;
      expect(estimateText(text)).toBeGreaterThanOrEqual(reference);
      expect(estimateText(text)).toBeLessThan(reference * 1.4);
    },
  );

  it('is 0 for nothing, and never 0 for something to read', () => {
    expect(estimateText('')).toBe(0);
    for (const text of ['a', '1', '-', '\n', '中', '😀', 'é']) expect(estimateText(text)).toBeGreaterThan(0);
  });

  it('costs little for padding and rulers', () => {
    expect(estimateText(' '.repeat(10_000))).toBeLessThan(500);
    expect(estimateText('='.repeat(10_000))).toBeLessThan(2_000);
    expect(estimateText('─'.repeat(10_000))).toBeLessThan(2_000);
  });

  it('costs an indented line no more than its words and its end', () => {
    expect(estimateText('word\n          word')).toBe(estimateText('word\nword'));
  });

  it('never falls when text is appended, and is at most the sum of its parts and a token', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (left, right) => {
        const whole = estimateText(left + right);
        expect(whole).toBeGreaterThanOrEqual(estimateText(left));
        expect(whole).toBeLessThanOrEqual(estimateText(left) + estimateText(right) + 2);
      }),
    );
  });
});

describe('the learnt ratio', () => {
  it('is what was reported by what was estimated, when estimates are too low', () => {
    expect(learnRatio(1, 1_000, 1_500)).toBe(1.5);
    expect(learnRatio(1.5, 1_500, 1_500)).toBe(1.5);
  });

  it('keeps a twentieth on top when it lowers estimates', () => {
    expect(learnRatio(1, 1_000, 800)).toBeCloseTo(0.84);
    expect(learnRatio(1, 1_000, 990)).toBe(1);
  });

  it('stays in its range, and as it was without figures', () => {
    expect(learnRatio(1, 1_000, 9_000)).toBe(2);
    expect(learnRatio(1, 1_000, 1)).toBe(0.7);
    expect(learnRatio(1.2, 0, 500)).toBe(1.2);
    expect(learnRatio(1.2, 500, 0)).toBe(1.2);
  });
});
