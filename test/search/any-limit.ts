/** A search that holds for limits of any size: each counter is full or it is not, and a step that raises it leads to both. */
import type { RecoveryLimits } from '../../src/core/config.ts';
import { changes, type CounterName, folded, isFull, nothingChanged, searchedLimit, withRoom } from './counters.ts';
import { movesOf } from './environment.ts';
import { type Features, featuresOf } from './features.ts';
import type { Graph } from './graph.ts';
import type { Move } from './move.ts';
import { rebuild } from './rebuild.ts';
import { type Edge, type Expand, follow, type SearchOptions, startsOf, visit } from './search.ts';
import { realEngine } from './trace.ts';

export interface AnyLimitOptions extends SearchOptions {
  /** The counters whose limits may have any size; the others keep their limits. */
  readonly counters: readonly CounterName[];
}

/** A graph for all sizes of some limits: its edges keep which counters they raise and set back. */
export interface AnyLimitGraph extends Graph {
  readonly counters: readonly CounterName[];
  /** Which counters are full in each state, one bit for each. */
  readonly full: readonly number[];
}

/** Visits everything that can happen, whatever these limits are, from 1 up. */
export function exploreAnyLimit({ config, counters, ...options }: AnyLimitOptions): AnyLimitGraph {
  const limits: RecoveryLimits = {
    ...config.limits,
    ...Object.fromEntries(counters.map((name) => [name, searchedLimit])),
  };
  const searched = { ...options, counters, config: { ...config, limits } };
  const starts = startsOf(config, options.environment).map((start) => folded(start, counters));
  const full: number[] = [];
  const expand = expandAnyLimit(searched);
  const graph = visit(
    searched,
    (features) => {
      full.push(counters.reduce((bits, name, index) => bits | (Number(isFull(features, name)) << index), 0));
      return expand(features);
    },
    starts,
  );
  return { ...graph, counters, full };
}

function expandAnyLimit({ config, environment, counters, engine = realEngine }: AnyLimitOptions): Expand {
  const play = (before: Features, move: Move): Required<Edge> => {
    const followed = follow(engine, rebuild(before, config), move, config);
    const after = featuresOf(followed.state, config);
    return {
      followed,
      target: folded(after, counters),
      move: move.name,
      changes: after.phase === 'ended' ? nothingChanged : changes(before, after, counters),
    };
  };
  return function* (features) {
    for (const move of movesOf(rebuild(features, config), config, environment)) {
      const edge = play(features, move);
      yield edge;
      const raised = counters.filter((_, index) => (edge.changes.spent & (1 << index)) !== 0);
      for (const some of subsets(raised)) if (some.length > 0) yield play(withRoom(features, some), move);
    }
  };
}

function subsets<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return items.reduce<readonly (readonly Item[])[]>(
    (all, item) => [...all, ...all.map((some) => [...some, item])],
    [[]],
  );
}
