/** A list of answers, given one a request. */
import type { ModelEntry } from './scenario.ts';

/** Largest input that an entry takes, in tokens. */
export function largestInput(entry: ModelEntry): number {
  return 'tooLongOver' in entry && entry.tooLongOver !== undefined ? entry.tooLongOver : Number.POSITIVE_INFINITY;
}

/** Hands out the entries of one list. */
export class Script {
  readonly #entries: readonly ModelEntry[];
  #index = 0;
  #used = 0;

  constructor(entries: readonly ModelEntry[]) {
    this.#entries = entries;
  }

  /** The next answer; null when the list is used up. An entry that refuses an input as too long stays. */
  next(estimate: number): ModelEntry | null {
    const entry = this.#entries[this.#index] ?? null;
    if (entry === null || entry.repeat === true || estimate > largestInput(entry)) return entry;
    this.#used += 1;
    if (this.#used >= (entry.times ?? 1)) {
      this.#index += 1;
      this.#used = 0;
    }
    return entry;
  }
}
