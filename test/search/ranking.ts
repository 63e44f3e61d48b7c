/** The proof for limits of any size: what the graph may repeat, it repeats only until some counter is full. */
import type { AnyLimitGraph } from './any-limit.ts';
import type { CounterName } from './counters.ts';
import type { Graph } from './graph.ts';
import { isInside, Spiral } from './longest.ts';

/**
 * Takes the graph apart until no cycle is left. Each round looks at the sets of states that reach one another inside a turn,
 * and takes out the edges that raise a counter which nothing in their set sets back: such an edge is taken as often as its
 * limit says and no more. Returns the counters that each round used. Throws a `Spiral` when a set has no such counter.
 */
export function rank(graph: AnyLimitGraph): readonly (readonly CounterName[])[] {
  const { edges, keys, counters } = graph;
  const alive = new Uint8Array(edges.count);
  for (let edge = 0; edge < alive.length; edge += 1) alive[edge] = Number(isInside(edges.facts(edge)));
  const rounds: (readonly CounterName[])[] = [];
  for (;;) {
    const component = components(graph, alive);
    const spent = new Int32Array(keys.length);
    const reset = new Int32Array(keys.length);
    const first = new Int32Array(keys.length).fill(-1);
    forEachAlive(graph, alive, (edge, from) => {
      const set = component[from]!;
      if (component[edges.target(edge)] !== set) {
        alive[edge] = 0;
        return;
      }
      first[set] = edge;
      spent[set]! |= edges.changes(edge).spent;
      reset[set]! |= edges.changes(edge).reset;
    });
    const used = usedBy(graph, first, spent, reset);
    if (used === null) return rounds;
    rounds.push(counters.filter((_, index) => (used & (1 << index)) !== 0));
    forEachAlive(graph, alive, (edge, from) => {
      const set = component[from]!;
      if ((edges.changes(edge).spent & spent[set]! & ~reset[set]!) !== 0) alive[edge] = 0;
    });
  }
}

/** Counters that only rise in some set that still holds edges; null when no edge is left. `first`: an edge of each set. */
function usedBy({ edges, moves }: Graph, first: Int32Array, spent: Int32Array, reset: Int32Array): number | null {
  let used: number | null = null;
  for (let set = 0; set < first.length; set += 1) {
    if (first[set]! < 0) continue;
    const rising = spent[set]! & ~reset[set]!;
    if (rising === 0) throw new Spiral([moves[edges.move(first[set]!)] ?? '']);
    used = (used ?? 0) | rising;
  }
  return used;
}

function forEachAlive({ edges, keys }: Graph, alive: Uint8Array, look: (edge: number, from: number) => void): void {
  for (let node = 0; node < keys.length; node += 1) {
    for (let edge = edges.from(node); edge < edges.to(node); edge += 1) if (alive[edge] === 1) look(edge, node);
  }
}

/** For each state the number of the set of states that reach one another over living edges (Tarjan's algorithm). */
function components({ edges, keys }: Graph, alive: Uint8Array): Int32Array {
  const component = new Int32Array(keys.length).fill(-1);
  const index = new Int32Array(keys.length).fill(-1);
  const low = new Int32Array(keys.length);
  const position = new Int32Array(keys.length);
  const path: number[] = [];
  const open: number[] = [];
  let entered = 0;
  let count = 0;
  const enter = (node: number): void => {
    index[node] = low[node] = entered;
    entered += 1;
    position[node] = edges.from(node);
    path.push(node);
    open.push(node);
  };
  const leave = (node: number): void => {
    path.pop();
    const parent = path.at(-1);
    if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[node]!);
    if (low[node] !== index[node]) return;
    for (let member = -1; member !== node; ) {
      member = open.pop()!;
      component[member] = count;
    }
    count += 1;
  };
  for (let root = 0; root < keys.length; root += 1) {
    if (index[root]! < 0) enter(root);
    while (path.length > 0) {
      const node = path.at(-1)!;
      const edge = position[node]!;
      if (edge === edges.to(node)) {
        leave(node);
        continue;
      }
      position[node] = edge + 1;
      if (alive[edge] === 0) continue;
      const target = edges.target(edge);
      if (index[target]! < 0) enter(target);
      else if (component[target]! < 0) low[node] = Math.min(low[node]!, index[target]!);
    }
  }
  return component;
}
