import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/clock.ts';
import { runInVirtualTime, runUntilIdle, VirtualClock } from '../../src/testing/virtual-clock.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const never = new AbortController().signal;

describe('VirtualClock', () => {
  it('begins at a fixed date and stands still', async () => {
    const clock = new VirtualClock();
    expect(clock.now()).toBe(start);
    await setImmediate();
    expect(clock.now()).toBe(start);
    expect(clock.advanceToNext()).toBe(false);
    expect(clock.now()).toBe(start);
  });

  it('calls timers in the order of their times, those of one time in the order in which they were set', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 30 }), (delays) => {
        const clock = new VirtualClock();
        const called: { at: number; order: number }[] = [];
        for (const [order, ms] of delays.entries()) clock.schedule(() => called.push({ at: clock.now(), order }), ms);
        expect(clock.pending).toBe(delays.length);
        while (clock.advanceToNext());
        const expected = delays
          .map((ms, order) => ({ at: start + ms, order }))
          .toSorted((left, right) => left.at - right.at || left.order - right.order);
        expect(called).toEqual(expected);
        expect(clock.pending).toBe(0);
      }),
    );
  });

  it('never runs backwards', () => {
    const clock = new VirtualClock();
    clock.schedule(() => clock.schedule(() => {}, -50), 10);
    while (clock.advanceToNext());
    expect(clock.now()).toBe(start + 10);
  });

  it('forgets a timer that is cancelled, once or twice, and not one that was called', () => {
    const clock = new VirtualClock();
    const called: string[] = [];
    const cancel = clock.schedule(() => called.push('cancelled'), 1);
    const late = clock.schedule(() => called.push('kept'), 2);
    cancel();
    cancel();
    expect(clock.pending).toBe(1);
    expect(clock.advanceToNext()).toBe(true);
    late();
    expect(called).toEqual(['kept']);
  });
});

describe('runUntilIdle', () => {
  it('says true as soon as the work is done, and leaves later timers alone', async () => {
    const clock = new VirtualClock();
    let isDone = false;
    clock.schedule(() => {}, 1_000);
    clock.schedule(() => (isDone = true), 10);
    expect(await runUntilIdle(clock, () => isDone)).toBe(true);
    expect(clock.now()).toBe(start + 10);
    expect(clock.pending).toBe(1);
  });

  it('says false when nothing moves any more', async () => {
    const clock = new VirtualClock();
    clock.schedule(() => {}, 5);
    expect(await runUntilIdle(clock, () => false)).toBe(false);
    expect(clock.now()).toBe(start + 5);
  });

  // Setting and giving up timers is how everything that guards a wait shows that it lives.
  it.each<[string, (clock: VirtualClock) => () => void]>([
    ['set', (clock) => () => clock.schedule(() => {}, 50)],
    [
      'given up',
      (clock) => {
        const cancels = Array.from({ length: 10 }, () => clock.schedule(() => {}, 50));
        return () => cancels.pop()?.();
      },
    ],
  ])('does not jump while timers are still being %s', async (_name, begin) => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    const act = begin(clock);
    const work = (async () => {
      for (let round = 0; round < 10; round += 1) {
        await setImmediate();
        act();
      }
      seen.push('worked');
    })();
    clock.schedule(() => seen.push('jumped'), 1);
    await runUntilIdle(clock, () => seen.length === 2);
    await work;
    expect(seen).toEqual(['worked', 'jumped']);
  });
});

describe('runInVirtualTime', () => {
  it('takes no wall time for a day', async () => {
    const clock = new VirtualClock();
    const before = performance.now();
    const day = 24 * 60 * 60 * 1_000;
    const work = Promise.all([sleep(clock, day, never), sleep(clock, 5, never)]).then(() => clock.now());
    expect(await runInVirtualTime(clock, work)).toBe(start + day);
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  it('plays sleepers in the same order every time', async () => {
    const play = async (delays: readonly number[]): Promise<number[]> => {
      const clock = new VirtualClock();
      const woken: number[] = [];
      const sleeper = async (ms: number, name: number): Promise<void> => {
        await sleep(clock, ms, never);
        woken.push(name);
        await sleep(clock, 7, never);
        woken.push(name);
      };
      await runInVirtualTime(clock, Promise.all(delays.map(sleeper)));
      return woken;
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 8 }), async (delays) => {
        expect(await play(delays)).toEqual(await play(delays));
      }),
      { numRuns: 20 },
    );
  });

  it('passes on what the work throws', async () => {
    const failing = Promise.reject(new Error('no'));
    await expect(runInVirtualTime(new VirtualClock(), failing)).rejects.toThrow('no');
  });

  it('says so when the work waits for ever', async () => {
    await expect(runInVirtualTime(new VirtualClock(), new Promise(() => {}))).rejects.toThrow('never comes');
  });
});
