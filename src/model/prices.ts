/** What models cost, where it is known. */
import type { Usage } from '../core/message.ts';

/** Dollars for a million tokens. */
interface Price {
  readonly input: number;
  readonly output: number;
}

/** List prices of the API's documentation, late 2026; a model whose price depends on the prompt's size is left out. */
const prices: readonly (readonly [RegExp, Price])[] = [
  [/^claude-opus-5-5/, { input: 4, output: 20 }],
  [/^claude-sonnet-5-5/, { input: 2, output: 10 }],
  [/^claude-fable-5-2/, { input: 8, output: 40 }],
];

/** Reading a cached token costs a tenth of an input token, writing one a quarter more (the API's documentation). */
const cacheReadShare = 0.1;
const cacheWriteShare = 1.25;
const million = 1_000_000;

/** Dollars for a usage; null when the price of the model is not known. */
export function costOf(model: string, usage: Usage): number | null {
  const price = prices.find(([pattern]) => pattern.test(model))?.[1];
  if (price === undefined) return null;
  const input = usage.input + usage.cacheRead * cacheReadShare + usage.cacheCreation * cacheWriteShare;
  return (input * price.input + usage.output * price.output) / million;
}
