import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/model/client.ts';
import { findLimits, knownLimits } from '../../src/model/limits.ts';
import { costOf } from '../../src/model/prices.ts';

const usage = { input: 1_000_000, output: 1_000_000, cacheRead: 1_000_000, cacheCreation: 1_000_000 };

/** A client whose server answers every question about a model with `body`. */
function clientOf(body: object, status = 200) {
  const fetch = (): Promise<Response> => Promise.resolve(Response.json(body, { status }));
  return () => createClient({ apiKey: 'k', baseUrl: 'http://x.invalid', fetch });
}

describe('findLimits', () => {
  it.each([
    [
      'what the server says',
      { max_input_tokens: 9, max_tokens: 3 },
      200,
      { contextWindow: 9, maxOutput: 3, onDemandCompaction: false },
    ],
    [
      'what the server says of its own compaction',
      { max_input_tokens: 9, max_tokens: 3, capabilities: { compaction: { summarize: { supported: true } } } },
      200,
      { contextWindow: 9, maxOutput: 3, onDemandCompaction: true },
    ],
    [
      'the table when a figure is absent',
      { max_input_tokens: null, max_tokens: 3 },
      200,
      knownLimits('claude-opus-5-5'),
    ],
    [
      'the table when a figure is nonsense',
      { max_input_tokens: 0, max_tokens: 3 },
      200,
      knownLimits('claude-opus-5-5'),
    ],
    ['the table when the server does not know', { error: {} }, 404, knownLimits('claude-opus-5-5')],
  ])('gives %s', async (_name, body, status, expected) => {
    expect(await findLimits(clientOf(body, status), ['claude-opus-5-5'])).toEqual({ 'claude-opus-5-5': expected });
  });

  it('says nothing of a model that nobody knows, and throws nothing', async () => {
    expect(await findLimits(clientOf({}, 500), ['mystery'])).toEqual({});
    const broken = () => {
      throw new Error('no credentials');
    };
    expect(await findLimits(broken, ['mystery'])).toEqual({});
  });
});

describe('costOf', () => {
  it('counts cached tokens at their own price', () => {
    expect(costOf('claude-sonnet-5-5', usage)).toBeCloseTo(2 + 10 + 0.2 + 2.5);
    expect(costOf('claude-opus-5-5', { ...usage, cacheRead: 0, cacheCreation: 0 })).toBeCloseTo(24);
  });

  it('is higher for a long input where the list says so', () => {
    const short = { input: 90_000, output: 1_000, cacheRead: 10_000, cacheCreation: 0 };
    const cost = costOf('claude-haiku-5-5', short) ?? 0;
    expect(cost).toBeCloseTo(0.009 + 0.0005 + 0.0001);
    expect(costOf('claude-haiku-5-5', { ...short, cacheRead: 10_001 })).toBeCloseTo(5 * cost);
  });

  it('is unknown for a model that is not listed', () => {
    expect(costOf('llama', usage)).toBeNull();
  });
});
