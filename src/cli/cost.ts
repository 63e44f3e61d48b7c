/** What a query costs when more than one model has answered in it. */
import { noUsage } from '../core/message.ts';
import type { QueryAccount } from '../core/state.ts';
import { costOf } from '../model/prices.ts';
import { UsageMeter } from '../model/usage-meter.ts';

/** Prices every part of the usage of a query, that of its sub-agents included, with the model that it was spent on. */
export class CostMeter {
  readonly #meter: UsageMeter;

  /** `models` is the list that `modelIndex` counts in. */
  constructor(models: readonly string[]) {
    this.#meter = new UsageMeter(models);
  }

  /** Takes note of the account as it is now; called before each event and at the end. */
  see(account: Pick<QueryAccount, 'usage' | 'modelIndex' | 'spentByTools'>): void {
    this.#meter.see(account);
  }

  /** Dollars; null when a price is not known. */
  get total(): number | null {
    const parts = [{ model: this.#meter.model, usage: noUsage }, ...this.#meter.spent];
    const costs = parts.map(({ model, usage }) => costOf(model, usage));
    return costs.every((cost) => cost !== null) ? costs.reduce((sum, cost) => sum + cost, 0) : null;
  }
}
