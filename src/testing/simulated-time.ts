/** The time of a simulation: virtual, or that of the machine for tools that read real files and start real processes. */
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { quiet, runInVirtualTime, runUntilIdle, VirtualClock } from './virtual-clock.ts';

export interface SimulatedTime {
  readonly clock: Clock;
  /** Timers that wait. */
  readonly pending: () => number;
  /** Milliseconds since the simulation began. */
  readonly elapsedMs: () => number;
  /** Runs the work to its end. Rejects when nothing could ever end it, as far as that can be seen. */
  readonly run: <Value>(work: Promise<Value>) => Promise<Value>;
  /** Lets what was cancelled come to rest; no timer of virtual time fires for it. */
  readonly settle: () => Promise<void>;
  /** The same, with every timer that waits: what a process leaves behind that dies does not matter. */
  readonly die: () => Promise<void>;
}

/** Waits cost nothing; everything that runs must be in process. */
export function virtualTime(): SimulatedTime {
  const clock = new VirtualClock();
  const begun = clock.now();
  return {
    clock,
    pending: () => clock.pending,
    elapsedMs: () => clock.now() - begun,
    run: (work) => runInVirtualTime(clock, work),
    settle: () => quiet(clock, () => false),
    die: async () => {
      await runUntilIdle(clock, () => false);
    },
  };
}

/** How long a simulation in real time lets the machine clear away what was cancelled, in milliseconds: processes die slowly. */
const restMs = 20;

/** The clock of the machine, with its timers counted. Waits cost what they say. */
export function realTime(): SimulatedTime {
  const timers = new Map<number, () => void>();
  let set = 0;
  const clock: Clock = {
    now: () => systemClock.now(),
    schedule(callback, ms) {
      set += 1;
      const number = set;
      const cancel = systemClock.schedule(() => {
        timers.delete(number);
        callback();
      }, ms);
      const giveUp = (): void => {
        timers.delete(number);
        cancel();
      };
      timers.set(number, giveUp);
      return giveUp;
    },
  };
  const begun = clock.now();
  const settle = (): Promise<void> => new Promise((resolve) => void systemClock.schedule(resolve, restMs));
  return {
    clock,
    pending: () => timers.size,
    elapsedMs: () => clock.now() - begun,
    run: (work) => work,
    settle,
    die: async () => {
      for (const cancel of timers.values()) cancel();
      await settle();
    },
  };
}
