/** The time of a simulation: virtual, or that of the machine for tools that read real files and start real processes. */
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { runInVirtualTime, runUntilIdle, VirtualClock } from './virtual-clock.ts';

export interface SimulatedTime {
  readonly clock: Clock;
  /** Timers that wait. */
  readonly pending: () => number;
  /** Milliseconds since the simulation began. */
  readonly elapsedMs: () => number;
  /** Runs the work to its end. Rejects when nothing could ever end it, as far as that can be seen. */
  readonly run: <Value>(work: Promise<Value>) => Promise<Value>;
  /** Lets what was cancelled come to rest. */
  readonly settle: () => Promise<void>;
  /** Forgets every timer, as the end of a process does. */
  readonly clear: () => void;
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
    settle: async () => void (await runUntilIdle(clock, () => false)),
    clear: () => clock.clear(),
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
  return {
    clock,
    pending: () => timers.size,
    elapsedMs: () => clock.now() - begun,
    run: (work) => work,
    settle: () => new Promise((resolve) => void systemClock.schedule(resolve, restMs)),
    clear: () => {
      for (const cancel of timers.values()) cancel();
    },
  };
}
