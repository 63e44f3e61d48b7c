/** What models cost, where it is known. */
import { type ModelPrice, priceOf } from '../core/cost.ts';
import type { Usage } from '../core/message.ts';

/** Reading a cached token costs a tenth of an input token, writing one a quarter more (the API's documentation). */
const cacheReadShare = 0.1;
const cacheWriteShare = 1.25;

/** What a caller may leave out of a price. */
export interface LoosePrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly longInput?: ModelPrice['longInput'] | undefined;
}

/** A whole price: the shares of the API for the cache where nothing else is said, and the same price for every length. */
export function wholePrice({ input, output, cacheRead, cacheWrite, longInput }: LoosePrice): ModelPrice {
  return {
    input,
    output,
    cacheRead: cacheRead ?? input * cacheReadShare,
    cacheWrite: cacheWrite ?? input * cacheWriteShare,
    longInput: longInput ?? null,
  };
}

/** List prices of the API's documentation, late 2026, in dollars for a million tokens. */
const prices: readonly (readonly [RegExp, ModelPrice])[] = [
  [/^claude-opus-5-5/, wholePrice({ input: 4, output: 20 })],
  [/^claude-sonnet-5-5/, wholePrice({ input: 2, output: 10 })],
  [/^claude-fable-5-2/, wholePrice({ input: 8, output: 40 })],
  [/^claude-haiku-5-5/, wholePrice({ input: 0.1, output: 0.5, longInput: { above: 100_000, times: 5 } })],
];

/** The price by the table; null for a model that is not in it. */
export function knownPrice(model: string): ModelPrice | null {
  return prices.find(([pattern]) => pattern.test(model))?.[1] ?? null;
}

/** Dollars for the usage of one request; null when the price of the model is not known. */
export function costOf(model: string, usage: Usage): number | null {
  const price = knownPrice(model);
  return price === null ? null : priceOf(price, usage);
}
