/** The longest run at given limits, from a graph that holds for all: every state with every value of its counters. */
import { defaultConfig, type LoopConfig } from '../../src/core/config.ts';
import type { AnyLimitGraph } from './any-limit.ts';
import type { CounterName } from './counters.ts';
import { type Cost, Spiral } from './longest.ts';

export interface AtLimits {
  /** The largest cost of any run from a start. */
  readonly cost: number;
  /** States with the values of their counters, and edges between them, that were visited. */
  readonly states: number;
  readonly edges: number;
}

const unseen = -1;
const open = -2;

/** The configuration with the default limits of these counters; its other limits stay. */
export function withDefaults(config: LoopConfig, counters: readonly CounterName[]): LoopConfig {
  const limits = Object.fromEntries(counters.map((name) => [name, defaultConfig.limits[name]]));
  return { ...config, limits: { ...config.limits, ...limits } };
}

/** The longest run of `turns` turns. Throws a `Spiral` when a run comes back to the same state and values inside a turn. */
export function longestAtLimits(
  graph: AnyLimitGraph,
  limits: { readonly [Name in CounterName]: number },
  cost: Cost,
  turns: number,
): AtLimits {
  const { edges, full, starts } = graph;
  const values = new Values(graph.counters.map((name) => limits[name]));
  const places = new Places(full, values);
  const layers = Array.from({ length: turns }, () => new Int16Array(places.size).fill(unseen));
  const flat = flatten(graph, cost, values);
  const stack = {
    layer: new Int32Array(most),
    node: new Int32Array(most),
    code: new Int32Array(most),
    edge: new Int32Array(most),
  };
  const visited = { states: 0, edges: 0 };

  const search = (start: number): number => {
    let depth = 0;
    const push = (layer: number, node: number, code: number): void => {
      stack.layer[depth] = layer;
      stack.node[depth] = node;
      stack.code[depth] = code;
      stack.edge[depth] = edges.from(node);
      layers[layer]![places.of(node, code)] = open;
      depth += 1;
      visited.states += 1;
    };
    const best = new Int32Array(most);
    push(turns - 1, start, 0);
    for (;;) {
      const layer = stack.layer[depth - 1]!;
      const node = stack.node[depth - 1]!;
      const code = stack.code[depth - 1]!;
      const edge = stack.edge[depth - 1]!;
      if (edge === edges.to(node)) {
        const result = best[depth - 1]!;
        layers[layer]![places.of(node, code)] = result;
        best[depth - 1] = 0;
        depth -= 1;
        if (depth === 0) return result;
        continue;
      }
      stack.edge[depth - 1] = edge + 1;
      const next = layer - flat.turns[edge]!;
      if (next < 0) continue;
      const behind = flat.steps[edge]![code]!;
      const target = edges.target(edge);
      // Of the edges of one step, the one whose target is as full as its counters are.
      if (behind < 0 || values.full[behind] !== full[target]) continue;
      const known = layers[next]![places.of(target, behind)]!;
      if (known === open) throw new Spiral([graph.moves[edges.move(edge)] ?? '']);
      if (known === unseen) {
        // Looked at again when its own best is known.
        stack.edge[depth - 1] = edge;
        push(next, target, behind);
        continue;
      }
      visited.edges += 1;
      best[depth - 1] = Math.max(best[depth - 1]!, known + flat.costs[edge]!);
    }
  };
  return { cost: Math.max(...starts.map(search)), ...visited };
}

/** Longer than any run. */
const most = 1 << 16;

/** What the search asks of each edge, in arrays. A restart of a dead process is left out. */
function flatten({ edges }: AnyLimitGraph, cost: Cost, values: Values) {
  const costs = new Uint8Array(edges.count);
  /** Turns that the edge takes; for one that is left out, more than there can be. */
  const turns = new Uint8Array(edges.count);
  const steps: Int32Array[] = [];
  for (let edge = 0; edge < edges.count; edge += 1) {
    const facts = edges.facts(edge);
    costs[edge] = cost(facts);
    turns[edge] = facts.isResume ? 255 : Number(facts.isNextTurn);
    steps.push(values.step(edges.changes(edge)));
  }
  return { costs, turns, steps };
}

/** The values of all counters in one number. */
class Values {
  readonly #limits: readonly number[];
  readonly #strides: readonly number[];
  readonly #steps = new Map<string, Int32Array>();
  /** How many numbers there are. */
  readonly size: number;
  /** By number: one bit for each counter that is full. */
  readonly full: Int32Array;

  constructor(limits: readonly number[]) {
    this.#limits = limits;
    this.#strides = limits.map((_, index) => limits.slice(0, index).reduce((size, limit) => size * (limit + 1), 1));
    this.size = limits.reduce((size, limit) => size * (limit + 1), 1);
    this.full = Int32Array.from({ length: this.size }, (_, code) =>
      limits.reduce((bits, limit, index) => bits | (Number(this.#value(code, index) === limit) << index), 0),
    );
  }

  #value(code: number, index: number): number {
    return Math.floor(code / this.#strides[index]!) % (this.#limits[index]! + 1);
  }

  /** By number: the one behind an edge; -1 where a counter that the edge raises is full. */
  step({ spent, reset }: { readonly spent: number; readonly reset: number }): Int32Array {
    const key = `${spent} ${reset}`;
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    const table = Int32Array.from({ length: this.size }, (_, code) => this.#after(code, spent, reset));
    this.#steps.set(key, table);
    return table;
  }

  #after(code: number, spent: number, reset: number): number {
    let result = code;
    for (const [index, limit] of this.#limits.entries()) {
      const value = this.#value(code, index);
      if ((reset & (1 << index)) !== 0) result -= value * this.#strides[index]!;
      if ((spent & (1 << index)) === 0) continue;
      if (value === limit) return -1;
      result += this.#strides[index]!;
    }
    return result;
  }
}

/** Where in an array the result of each state and values stands; there is no place for values that the state cannot have. */
class Places {
  readonly #offsets: Float64Array;
  readonly #ranks = new Map<number, Int32Array>();
  readonly #rankOf: readonly Int32Array[];
  readonly size: number;

  constructor(full: readonly number[], values: Values) {
    const counts = new Map<number, number>();
    for (const bits of new Set(full)) {
      let count = 0;
      this.#ranks.set(
        bits,
        values.full.map((each) => (each === bits ? count++ : 0)),
      );
      counts.set(bits, count);
    }
    this.#rankOf = full.map((bits) => this.#ranks.get(bits)!);
    this.#offsets = new Float64Array(full.length);
    let size = 0;
    for (const [node, bits] of full.entries()) {
      this.#offsets[node] = size;
      size += counts.get(bits)!;
    }
    this.size = size;
  }

  of(node: number, code: number): number {
    return this.#offsets[node]! + this.#rankOf[node]![code]!;
  }
}
