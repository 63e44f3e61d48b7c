/** A clock whose time moves only when nothing else can: simulations and tests take no wall time. */
import { setImmediate } from 'node:timers';
import type { Clock } from '../clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Rounds of the event loop without activity after which everything that runs must be waiting for time. */
const quietRounds = 3;

/** Where virtual time begins: 2026-01-01T00:00:00Z, in milliseconds. */
const virtualEpoch = Date.UTC(2026, 0, 1);

/** Begins at a fixed date; timers fire when `advanceToNext` is called, never by themselves. */
export class VirtualClock implements Clock {
  #now = virtualEpoch;
  #order = 0;
  #cancelled = 0;
  #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  schedule(callback: () => void, ms: number): () => void {
    this.#order += 1;
    const timer: Timer = { at: this.#now + Math.max(0, ms), order: this.#order, callback };
    this.#timers.push(timer);
    return () => {
      const left = this.#timers.filter((other) => other !== timer);
      if (left.length < this.#timers.length) this.#cancelled += 1;
      this.#timers = left;
    };
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Counts every timer that was set or given up: it moves while anything is going on. */
  get activity(): number {
    return this.#order + this.#cancelled;
  }

  /** Jumps to the next timer and calls it; false when there is none. */
  advanceToNext(): boolean {
    const next = this.#timers.reduce<Timer | null>(earlier, null);
    if (next === null) return false;
    this.#timers = this.#timers.filter((timer) => timer !== next);
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    return true;
  }
}

function earlier(best: Timer | null, timer: Timer): Timer {
  if (best === null || timer.at < best.at) return timer;
  return timer.at === best.at && timer.order < best.order ? timer : best;
}

/**
 * Runs `work` in virtual time: lets the event loop drain, jumps to the next timer when nothing moves, and so on until
 * the work is done. Everything must be in process: real input or output would be jumped over.
 *
 * @throws Error when nothing moves, no timer waits, and the work is not done: it waits for something that never comes.
 */
export async function runInVirtualTime<Value>(clock: VirtualClock, work: Promise<Value>): Promise<Value> {
  let isDone = false;
  void work.catch(() => {}).finally(() => (isDone = true));
  if (!(await runUntilIdle(clock, () => isDone))) throw new Error('The run waits for something that never comes.');
  return work;
}

/**
 * Lets the event loop drain and jumps from timer to timer, in the order of their times, until `isDone` says so (true) or
 * until nothing moves and no timer waits (false).
 */
export async function runUntilIdle(clock: VirtualClock, isDone: () => boolean): Promise<boolean> {
  while (!isDone()) {
    await quiet(clock, isDone);
    if (!isDone() && !clock.advanceToNext()) return false;
  }
  return true;
}

/** Resolves when some rounds of the event loop went by in which no timer was set or given up. */
export async function quiet(clock: VirtualClock, isDone: () => boolean): Promise<void> {
  let seen = clock.activity;
  for (let round = 0; round < quietRounds && !isDone(); ) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    round = clock.activity === seen ? round + 1 : 0;
    seen = clock.activity;
  }
}
