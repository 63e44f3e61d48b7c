/** Exhaustive search: every state that the rows reach from the starts, whatever the outside does. */
import type { LoopConfig } from '../../src/core/config.ts';
import type { LoopState } from '../../src/core/state.ts';
import { blank, type Features, featuresOf, keyOf, rebuild } from './abstraction.ts';
import { type Environment, type Move, movesOf } from './environment.ts';
import { Edges, type Graph } from './graph.ts';
import { type Engine, realEngine } from './trace.ts';

export interface SearchOptions {
  readonly config: LoopConfig;
  readonly environment: Environment;
  /** Default: the real rows. */
  readonly engine?: Engine;
}

/** Rows that answer the chatter of the outside: they order nothing, so coming back to the same state is no spiral. */
const harmless: ReadonlySet<string> = new Set(['late_ignored', 'message_queued', 'decision_recorded', 'summary_shown']);

/** Visits everything. Throws when rows fire without end at one event. */
export function explore(options: SearchOptions): Graph {
  return visit(options, () => {});
}

/** The features of every state, for tests of the abstraction. */
export function featuresFrom(options: SearchOptions): readonly Features[] {
  const all: Features[] = [];
  visit(options, (features) => all.push(features));
  return all;
}

function visit({ config, environment, engine = realEngine }: SearchOptions, look: (features: Features) => void): Graph {
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

  const starts = startsOf(config, environment).map(numberOf);
  for (let node = 0; node < waiting.length; node += 1) {
    const features = waiting[node]!;
    // Only the key is needed once a state was looked at.
    waiting[node] = null;
    look(features);
    const state = rebuild(features, config);
    for (const move of movesOf(state, config, environment)) {
      const result = follow(engine, state, move, config);
      for (const name of result.rows) rows.add(name);
      const target = numberOf(featuresOf(result.state, config));
      if (target === node && result.harmless) continue;
      edges.add(target, result, moveNumber(move.name));
    }
    edges.endNode();
  }
  return { keys: [...numbers.keys()], starts, edges, rows, moves };
}

interface Followed {
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

function follow(engine: Engine, before: LoopState, move: Move, config: LoopConfig): Followed {
  let state = move.edit?.(before) ?? before;
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
export function startsOf(config: LoopConfig, { wide }: Environment): readonly Features[] {
  const ready: Features = {
    ...blank,
    phase: 'ready',
    turn: '0.0.0.0.0.0.0',
    budget: config.tokenBudget === null ? '' : 'unspent',
  };
  if (!wide) {
    const thinks = config.thinking !== 'off';
    return [0, 1].map((estimate) => ({
      ...ready,
      estimate,
      cuttable: true,
      media: true,
      thinking: thinks,
      staged: true,
    }));
  }
  const booleans = [false, true];
  const thinking = config.thinking === 'off' ? [false] : booleans;
  const starts: Features[] = [];
  for (const estimate of [0, 1, 2, 3]) {
    for (const cuttable of booleans) {
      for (const media of booleans) {
        for (const thinks of thinking) {
          for (const staged of cuttable ? booleans : [false]) {
            starts.push({ ...ready, estimate, cuttable, media, thinking: thinks, staged });
          }
        }
      }
    }
  }
  return starts;
}
