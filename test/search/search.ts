/** Exhaustive search: every state that the rows reach from the starts, whatever the outside does. */
import type { LoopConfig } from '../../src/core/config.ts';
import type { LoopState } from '../../src/core/state.ts';
import { level } from './canonical.ts';
import { type Environment, movesOf } from './environment.ts';
import { blank, type Cuttable, type Features, featuresOf, keyOf } from './features.ts';
import type { Changes } from './counters.ts';
import { Edges, type Graph } from './graph.ts';
import type { Move } from './move.ts';
import { rebuild } from './rebuild.ts';
import { type Engine, realEngine } from './trace.ts';

export interface SearchOptions {
  readonly config: LoopConfig;
  readonly environment: Environment;
  /** Default: the real rows. */
  readonly engine?: Engine;
}

/** Rows that answer the chatter of the outside: they order nothing, so coming back to the same state is no spiral. */
const harmless: ReadonlySet<string> = new Set([
  'late_ignored',
  'message_queued',
  'decision_recorded',
  'summary_shown',
  'clearing_shown',
]);

/** Visits everything. Throws when rows fire without end at one event. */
export function explore(options: SearchOptions): Graph {
  return visit(options, concrete(options));
}

/** The features of every state, for tests of the abstraction. */
export function featuresFrom(options: SearchOptions): readonly Features[] {
  const all: Features[] = [];
  const expand = concrete(options);
  visit(options, (features) => {
    all.push(features);
    return expand(features);
  });
  return all;
}

/** One edge: what the step did, and the features of the state behind it. */
export interface Edge {
  readonly followed: Followed;
  readonly target: Features;
  readonly move: string;
  readonly changes?: Changes;
}

/** All edges from the state with these features. */
export type Expand = (features: Features) => Iterable<Edge>;

/** Each state with the values that its counters have. */
function concrete({ config, environment, engine = realEngine }: SearchOptions): Expand {
  return function* (features) {
    const state = rebuild(features, config);
    for (const move of movesOf(state, config, environment)) {
      const followed = follow(engine, state, move, config);
      const target = followed.state === state ? features : featuresOf(followed.state, config);
      yield { followed, target, move: move.name };
    }
  };
}

/** Visits all states that `expand` reaches from the starts. */
export function visit(
  { config, environment }: SearchOptions,
  expand: Expand,
  from = startsOf(config, environment),
): Graph {
  const numbers = new Map<string, number>();
  const waiting: (Features | null)[] = [];
  const edges = new Edges();
  const rows = new Set<string>();
  const moves: string[] = [];
  const moveNumbers = new Map<string, number>();

  const numberOf = (features: Features): number => {
    const key = keyOf(features);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    waiting.push(features);
    return numbers.size - 1;
  };
  const moveNumber = (name: string): number => {
    const known = moveNumbers.get(name);
    if (known !== undefined) return known;
    moveNumbers.set(name, moves.length);
    return moves.push(name) - 1;
  };

  const starts = from.map(numberOf);
  for (let node = 0; node < waiting.length; node += 1) {
    const features = waiting[node]!;
    // Only the key is needed once a state was looked at.
    waiting[node] = null;
    for (const { followed, target, move, changes } of expand(features)) {
      for (const name of followed.rows) rows.add(name);
      const number = target === features ? node : numberOf(target);
      if (number !== node || !followed.harmless) edges.add(number, followed, moveNumber(move), changes);
    }
    edges.endNode();
  }
  return { keys: [...numbers.keys()], starts, edges, rows, moves };
}

export interface Followed {
  readonly state: LoopState;
  readonly rows: readonly string[];
  readonly calls: number;
  readonly summaries: number;
  /** Continues other than `next_turn`. */
  readonly continues: number;
  readonly isNextTurn: boolean;
  readonly isResume: boolean;
  readonly harmless: boolean;
}

/** Plays a move through the rows. */
export function follow(engine: Engine, before: LoopState, move: Move, config: LoopConfig): Followed {
  let state = before;
  const rows: string[] = [];
  let continues = 0;
  let isNextTurn = false;
  let isHarmless = true;
  for (const event of move.events) {
    const traced = engine(state, event, config);
    state = traced.state;
    for (const row of traced.rows) {
      rows.push(row.name);
      if (row.transition === 'next_turn') isNextTurn = true;
      else if (row.kind === 'continue') continues += 1;
      if (!harmless.has(row.transition)) isHarmless = false;
    }
  }
  return {
    state,
    rows,
    calls: state.query.modelCalls - before.query.modelCalls,
    summaries: state.query.summaryCalls - before.query.summaryCalls,
    continues,
    isNextTurn,
    isResume: move.events[0]?.type === 'query.resumed' && before.phase !== 'ready',
    harmless: isHarmless,
  };
}

/** Every kind of conversation that a query may start with. */
export function startsOf(config: LoopConfig, { wide, levels }: Environment): readonly Features[] {
  const budget = config.tokenBudget === null ? '' : 'unspent';
  const ready: Features = { ...blank, phase: 'ready', budget, cuttable: 2 };
  const booleans = [false, true];
  const thinks = config.thinking !== 'off';
  if (!wide) {
    return [level.low, level.over].map((estimate) => ({
      ...ready,
      estimate,
      media: true,
      thinking: thinks,
      staged: true,
    }));
  }
  return everyOf<Pick<Features, 'estimate' | 'cuttable' | 'media' | 'thinking' | 'staged' | 'byHand'>>({
    estimate: levels,
    cuttable: [0, 1, 2] satisfies Cuttable[],
    media: booleans,
    thinking: thinks ? booleans : [false],
    staged: booleans,
    byHand: booleans,
  })
    .filter(isPossible)
    .map((start) => ({ ...ready, ...start }));
}

/** What fits the tail is small, and where a span is staged there is something to summarise. */
function isPossible({
  estimate,
  cuttable,
  media,
  staged,
}: Pick<Features, 'estimate' | 'cuttable' | 'media' | 'staged'>): boolean {
  if (cuttable === 1) return estimate === level.low && !media && !staged;
  return cuttable === 2 || !staged;
}

/** Every combination of the values. */
function everyOf<Chosen>(values: { readonly [Name in keyof Chosen]: readonly Chosen[Name][] }): readonly Chosen[] {
  const names = Object.keys(values) as unknown as readonly (keyof Chosen)[];
  return names.reduce<readonly Chosen[]>(
    (chosen, name) => chosen.flatMap((one) => values[name].map((value) => ({ ...one, [name]: value }))),
    [{} as Chosen],
  );
}
