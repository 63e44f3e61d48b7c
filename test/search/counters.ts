/**
 * Counters of which every guard asks one thing: is the limit reached? So two values stand for all: some are left, or none.
 * A search over these two holds for limits of any size from 1 up.
 */
import type { RecoveryLimits } from '../../src/core/config.ts';
import { decode, encode, type Features, queryCounters, turnCounters } from './features.ts';

export type CounterName = Extract<
  keyof RecoveryLimits,
  | 'retries'
  | 'outputRecoveries'
  | 'malformedAnswers'
  | 'pauseTurns'
  | 'thinkingOnly'
  | 'stopHookBlocks'
  | 'outputMismatches'
  | 'compactionFailures'
  | 'compactionShrinks'
  | 'refills'
  | 'spanFailures'
>;

interface Counter {
  readonly of: (features: Features) => number;
  readonly with: (features: Features, value: number) => Features;
}

const ofTurn = (name: (typeof turnCounters)[number]): Counter => ({
  of: ({ turn }) => decode(turnCounters, turn)[name],
  with: (features, value) => ({
    ...features,
    turn: encode(turnCounters, { ...decode(turnCounters, features.turn), [name]: value }),
  }),
});

const ofQuery = (name: (typeof queryCounters)[number]): Counter => ({
  of: ({ query }) => decode(queryCounters, query)[name],
  with: (features, value) => ({
    ...features,
    query: encode(queryCounters, { ...decode(queryCounters, features.query), [name]: value }),
  }),
});

/** By the limit that each obeys. Not here: `budgetContinuations` and overloads, of which a guard asks more than that. */
const counters: { readonly [Name in CounterName]: Counter } = {
  retries: { of: ({ retries }) => retries, with: (features, retries) => ({ ...features, retries }) },
  outputRecoveries: {
    of: ({ recoveries }) => recoveries,
    with: (features, recoveries) => ({ ...features, recoveries }),
  },
  malformedAnswers: ofTurn('malformedAnswers'),
  pauseTurns: ofTurn('pauseTurns'),
  thinkingOnly: ofTurn('thinkingOnly'),
  stopHookBlocks: ofQuery('stopHookBlocks'),
  outputMismatches: ofQuery('outputMismatches'),
  // An open breaker is the count that is full; nothing closes it.
  compactionFailures: {
    of: ({ failures, breakerOpen }) => (breakerOpen ? searchedLimit : failures),
    with: (features, failures) => (features.breakerOpen ? features : { ...features, failures }),
  },
  compactionShrinks: { of: ({ shrinks }) => shrinks, with: (features, shrinks) => ({ ...features, shrinks }) },
  refills: { of: ({ refills }) => refills, with: (features, refills) => ({ ...features, refills }) },
  spanFailures: {
    of: ({ spanFailures }) => spanFailures,
    with: (features, spanFailures) => ({ ...features, spanFailures }),
  },
};

/** The limit that stands for all: 3 is reached from `last` in one step, and from `early` it is not. */
export const searchedLimit = 3;
const last = 2;
const early = 1;

/** True when nothing is left of the counter. */
export function isFull(features: Features, name: CounterName, limit: number = searchedLimit): boolean {
  return features.breakerOpen && name === 'compactionFailures' ? true : counters[name].of(features) >= limit;
}

/** The features that stand for all with the same counters full, from those under `limitOf`. */
export function folded(
  features: Features,
  names: readonly CounterName[],
  limitOf: (name: CounterName) => number = () => searchedLimit,
): Features {
  return names.reduce(
    (result, name) => counters[name].with(result, isFull(result, name, limitOf(name)) ? searchedLimit : last),
    features,
  );
}

/** The same with these counters one step further from their limit. */
export function withRoom(features: Features, names: readonly CounterName[]): Features {
  return names.reduce((result, name) => counters[name].with(result, early), features);
}

/** Which counters a step raised and set back, as one bit each in the order of `names`. Throws when one moved otherwise. */
export function changes(before: Features, after: Features, names: readonly CounterName[]): Changes {
  let spent = 0;
  let reset = 0;
  for (const [index, name] of names.entries()) {
    const from = counters[name].of(before);
    const to = counters[name].of(after);
    if (to === from) continue;
    if (to === from + 1) spent |= 1 << index;
    else if (to === 0) reset |= 1 << index;
    else throw new Error(`${name} went from ${from} to ${to}: no counter that is only compared with its limit.`);
  }
  return { spent, reset };
}

/** One bit for each counter. */
export interface Changes {
  readonly spent: number;
  readonly reset: number;
}

export const nothingChanged: Changes = { spent: 0, reset: 0 };
