/** Follows the account of a query, so that every part of its usage stands under the model that it was spent on. */
import { addSpent, type ModelUsage, noUsage, type Usage } from '../core/message.ts';
import type { QueryAccount } from '../core/state.ts';

type Account = Pick<QueryAccount, 'usage' | 'modelIndex' | 'spentByTools'>;

export class UsageMeter {
  readonly #models: readonly string[];
  #last: Account = { usage: noUsage, modelIndex: 0, spentByTools: [] };
  #own: readonly ModelUsage[] = [];

  /** `models` is the list that `modelIndex` counts in. */
  constructor(models: readonly string[]) {
    this.#models = models;
  }

  /** Takes note of the account as it is now; called before each event and at the end. */
  see({ usage, modelIndex, spentByTools }: Account): void {
    const more = difference(usage, this.#last.usage);
    if (Object.values(more).some((tokens) => tokens !== 0)) {
      this.#own = addSpent(this.#own, [{ model: this.model, usage: more }]);
    }
    this.#last = { usage, modelIndex, spentByTools };
  }

  /** The model that is asked now; empty when the list does not name it. */
  get model(): string {
    return this.#models[this.#last.modelIndex] ?? '';
  }

  /** Everything so far, model by model, what sub-agents used included. */
  get spent(): readonly ModelUsage[] {
    return addSpent(this.#own, this.#last.spentByTools);
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
