/** What a search found: states by number, and the edges between them in flat arrays, since there are millions. */

import { type Changes, nothingChanged } from './counters.ts';

/** What an edge costs and what it means. */
export interface EdgeFacts {
  readonly calls: number;
  readonly summaries: number;
  readonly continues: number;
  readonly isNextTurn: boolean;
  readonly isResume: boolean;
}

/** An array of 32-bit numbers that grows. */
class Numbers {
  #values = new Int32Array(1 << 16);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Int32Array(this.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#values[index]!;
  }
}

const mostMoves = 1 << 10;
const mostFacts = 1 << 10;
const mostChanges = 1 << 12;

/** Edges in the order of the states that they leave. */
export class Edges {
  readonly #targets = new Numbers();
  /** Facts and number of the move in one number. */
  readonly #facts = new Numbers();
  /** Number of the changes of each edge; most searches keep none. */
  readonly #changes = new Numbers();
  readonly #knownChanges: Changes[] = [nothingChanged];
  readonly #ends = new Numbers();
  #seen = new Set<number>();

  /** Adds an edge of the state that is being looked at; one that is there already is left out. */
  add(
    target: number,
    { calls, summaries, continues, isNextTurn, isResume }: EdgeFacts,
    move: number,
    changes: Changes = nothingChanged,
  ): void {
    if (calls > 3 || summaries > 3 || continues > 15 || move >= mostMoves) throw new Error('An edge holds too much.');
    const facts = calls | (summaries << 2) | (continues << 4) | (Number(isNextTurn) << 8) | (Number(isResume) << 9);
    const change = this.#changeNumber(changes);
    const identity = (target * mostFacts + facts) * mostChanges + change;
    if (this.#seen.has(identity)) return;
    this.#seen.add(identity);
    this.#targets.push(target);
    this.#facts.push(facts * mostMoves + move);
    this.#changes.push(change);
  }

  #changeNumber({ spent, reset }: Changes): number {
    const known = this.#knownChanges.findIndex((each) => each.spent === spent && each.reset === reset);
    if (known >= 0) return known;
    if (this.#knownChanges.length === mostChanges) throw new Error('Too many kinds of changes.');
    return this.#knownChanges.push({ spent, reset }) - 1;
  }

  /** Closes the list of the state that is being looked at. */
  endNode(): void {
    this.#ends.push(this.#targets.length);
    this.#seen = new Set();
  }

  get count(): number {
    return this.#targets.length;
  }

  from(node: number): number {
    return node === 0 ? 0 : this.#ends.at(node - 1);
  }

  to(node: number): number {
    return this.#ends.at(node);
  }

  target(edge: number): number {
    return this.#targets.at(edge);
  }

  move(edge: number): number {
    return this.#facts.at(edge) % mostMoves;
  }

  /** Counters that the edge raises and sets back, in a search that keeps them apart. */
  changes(edge: number): Changes {
    return this.#knownChanges[this.#changes.at(edge)]!;
  }

  facts(edge: number): EdgeFacts {
    const facts = Math.floor(this.#facts.at(edge) / mostMoves);
    return {
      calls: facts & 3,
      summaries: (facts >> 2) & 3,
      continues: (facts >> 4) & 15,
      isNextTurn: (facts & 256) !== 0,
      isResume: (facts & 512) !== 0,
    };
  }
}

export interface Graph {
  /** Keys by number. */
  readonly keys: readonly string[];
  readonly starts: readonly number[];
  readonly edges: Edges;
  /** Names of the rows that fired. */
  readonly rows: ReadonlySet<string>;
  readonly moves: readonly string[];
}
