/** Proofs over a graph: no cycle but through `next_turn`, and how long the longest path is. */
import type { EdgeFacts, Graph } from './graph.ts';

/** A spiral: moves that lead from a state back to itself without a new turn. */
export class Spiral extends Error {
  readonly moves: readonly string[];

  constructor(moves: readonly string[]) {
    super(`A cycle without next_turn: ${moves.join(' > ')}`);
    this.name = 'Spiral';
    this.moves = moves;
  }
}

/** Edges that count as the loop's own going on within a turn; a new turn and the restart of a dead process do not. */
export function isInside({ isNextTurn, isResume }: EdgeFacts): boolean {
  return !isNextTurn && !isResume;
}

const fresh = 0;
const open = 1;
const closed = 2;

/** States so that every edge inside a turn leads to an earlier one. Throws a `Spiral` when there is no such order. */
export function order({ keys, edges, moves }: Graph): Int32Array {
  const colour = new Uint8Array(keys.length);
  const position = new Int32Array(keys.length);
  const result = new Int32Array(keys.length);
  let count = 0;
  const path: number[] = [];
  const taken: number[] = [];
  const enter = (node: number): void => {
    colour[node] = open;
    position[node] = edges.from(node);
    path.push(node);
  };
  // States behind a new turn are not reached by edges inside: each is entered on its own.
  for (let root = 0; root < keys.length; root += 1) {
    if (colour[root] !== fresh) continue;
    enter(root);
    while (path.length > 0) {
      const node = path[path.length - 1]!;
      const edge = position[node]!;
      if (edge === edges.to(node)) {
        colour[node] = closed;
        result[count] = node;
        count += 1;
        path.pop();
        taken.pop();
        continue;
      }
      position[node] = edge + 1;
      if (!isInside(edges.facts(edge))) continue;
      const target = edges.target(edge);
      if (colour[target] === fresh) {
        taken.push(edge);
        enter(target);
      } else if (colour[target] === open) {
        const from = path.indexOf(target);
        const cycle = [...taken.slice(from), edge];
        throw new Spiral(cycle.map((each) => moves[edges.move(each)] ?? ''));
      }
    }
  }
  return result;
}

/** What a path costs, by the kind of cost. */
export type Cost = (facts: EdgeFacts) => number;
export const modelCalls: Cost = ({ calls }) => calls;
export const summaryCalls: Cost = ({ summaries }) => summaries;
/** Continues inside one turn; an iteration more than these is the tool-free row. */
export const continuesInARow: Cost = ({ continues }) => continues;

export interface Longest {
  /** The largest cost of any run from a start, in so many turns. */
  readonly cost: number;
  /** The moves of one such run. */
  readonly moves: readonly string[];
  /** Costs that are left in each state, with all turns still to come. */
  readonly left: Int32Array;
}

/** The longest run of `turns` turns. `sorted` is what `order` gave. */
export function longest(graph: Graph, sorted: Int32Array, cost: Cost, turns: number): Longest {
  const { edges, starts } = graph;
  const layers: Int32Array[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const before = layers.at(-1) ?? null;
    const left = new Int32Array(graph.keys.length);
    for (const node of sorted) {
      let most = 0;
      for (let edge = edges.from(node); edge < edges.to(node); edge += 1) {
        most = Math.max(most, through(graph, edge, cost, left, before));
      }
      left[node] = most;
    }
    layers.push(left);
  }
  const top = layers.at(-1)!;
  const start = starts.reduce((best, node) => (top[node]! > top[best]! ? node : best), starts[0]!);
  return { cost: top[start]!, moves: witness(graph, layers, cost, start), left: top };
}

/** Cost of the best run over an edge; -1 when it may not be taken: no turn is left. */
function through(graph: Graph, edge: number, cost: Cost, left: Int32Array, before: Int32Array | null): number {
  const facts = graph.edges.facts(edge);
  const target = graph.edges.target(edge);
  if (facts.isResume) return -1;
  if (!facts.isNextTurn) return cost(facts) + left[target]!;
  return before === null ? -1 : cost(facts) + before[target]!;
}

function witness(graph: Graph, layers: readonly Int32Array[], cost: Cost, start: number): readonly string[] {
  const { edges, moves } = graph;
  const result: string[] = [];
  let node = start;
  let layer = layers.length - 1;
  for (;;) {
    const left = layers[layer]!;
    const before = layers[layer - 1] ?? null;
    let taken = -1;
    for (let edge = edges.from(node); edge < edges.to(node) && taken < 0; edge += 1) {
      if (through(graph, edge, cost, left, before) === left[node]!) taken = edge;
    }
    if (taken < 0) return result;
    result.push(moves[edges.move(taken)] ?? '');
    if (edges.facts(taken).isNextTurn) layer -= 1;
    node = edges.target(taken);
  }
}
