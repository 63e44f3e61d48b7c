/** What a query costs when more than one model has answered in it. */
import type { Usage } from '../core/message.ts';
import { noUsage } from '../core/message.ts';
import type { QueryAccount } from '../core/state.ts';
import { costOf } from '../model/prices.ts';

type Account = Pick<QueryAccount, 'usage' | 'modelIndex'>;

/** Follows the account of a query, so that every part of its usage is priced with the model that it was spent on. */
export class CostMeter {
  readonly #models: readonly string[];
  #last: Account = { usage: noUsage, modelIndex: 0 };
  /** Null when something was spent on a model whose price is not known. */
  #total: number | null = 0;

  /** `models` is the list that `modelIndex` counts in. */
  constructor(models: readonly string[]) {
    this.#models = models;
  }

  /** Takes note of the account as it is now; called before each event and at the end. */
  see({ usage, modelIndex }: Account): void {
    const spent = difference(usage, this.#last.usage);
    if (Object.values(spent).some((tokens) => tokens !== 0)) this.#add(spent, this.#last.modelIndex);
    this.#last = { usage, modelIndex };
  }

  /** Dollars; null when a price is not known. */
  get total(): number | null {
    return this.#priceOf(noUsage, this.#last.modelIndex) === null ? null : this.#total;
  }

  #add(spent: Usage, modelIndex: number): void {
    const price = this.#priceOf(spent, modelIndex);
    this.#total = this.#total === null || price === null ? null : this.#total + price;
  }

  #priceOf(usage: Usage, modelIndex: number): number | null {
    return costOf(this.#models[modelIndex] ?? '', usage);
  }
}

function difference(now: Usage, before: Usage): Usage {
  return {
    input: now.input - before.input,
    output: now.output - before.output,
    cacheRead: now.cacheRead - before.cacheRead,
    cacheCreation: now.cacheCreation - before.cacheCreation,
  };
}
