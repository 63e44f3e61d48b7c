import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runInVirtualTime, VirtualClock } from '../../src/testing/virtual-clock.ts';
import { settle } from '../../src/tools/settle.ts';
import { describeThrown } from '../../src/tools/thrown.ts';
import { thrownValues } from './thrown-values.ts';

const never = (): Promise<never> => new Promise(() => undefined);

/** Listeners on a signal, counted from outside: Node gives no other way for an AbortSignal. */
function countingSignal(): {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  readonly listeners: () => number;
} {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...given);
  };
  return { signal, abort: () => controller.abort(), listeners: () => listeners };
}

describe('settle', () => {
  it('gives back what the work gives', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    expect(await settle(() => 1, { clock, signal })).toEqual({ type: 'value', value: 1 });
    expect(await settle(async () => 2, { clock, signal, timeoutMs: 10 })).toEqual({ type: 'value', value: 2 });
    expect(clock.pending).toBe(0);
  });

  it('ends at the time, tells the work, and reports what comes late', async () => {
    const clock = new VirtualClock();
    const late: string[] = [];
    let finish: () => void = () => undefined;
    let inner: AbortSignal | null = null;
    const work = settle(
      (signal) => {
        inner = signal;
        return new Promise<void>((resolve) => {
          finish = resolve;
        });
      },
      { clock, signal: new AbortController().signal, timeoutMs: 50, onLate: () => late.push('late') },
    );
    const begin = clock.now();
    expect(await runInVirtualTime(clock, work)).toEqual({ type: 'timeout' });
    expect(clock.now() - begin).toBe(50);
    expect(inner!.aborted).toBe(true);
    finish();
    await setImmediate();
    expect(late).toEqual(['late']);
  });

  it('waits for work that cleans up after an abort, but not for ever', async () => {
    const clock = new VirtualClock();
    const outer = new AbortController();
    const stubborn = settle(never, { clock, signal: outer.signal, graceMs: 5_000 });
    const polite = settle(
      (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('cleaned up'))),
      { clock, signal: outer.signal, graceMs: 5_000 },
    );
    const begin = clock.now();
    outer.abort();
    expect(await polite).toEqual({ type: 'aborted' });
    expect(clock.now()).toBe(begin);
    expect(await runInVirtualTime(clock, stubborn)).toEqual({ type: 'aborted' });
    expect(clock.now() - begin).toBe(5_000);
  });

  it('does not begin after an abort', async () => {
    let begun = false;
    const settled = await settle(
      () => {
        begun = true;
      },
      { clock: new VirtualClock(), signal: AbortSignal.abort() },
    );
    expect(settled).toEqual({ type: 'aborted' });
    expect(begun).toBe(false);
  });

  it('B73: leaves no listener and no timer behind', async () => {
    const clock = new VirtualClock();
    const { signal, listeners } = countingSignal();
    const options = { clock, signal, timeoutMs: 100, graceMs: 100 };
    await Promise.all(Array.from({ length: 50 }, (_, index) => settle(() => index, options)));
    await settle(() => Promise.reject(new Error('no')), options);
    await runInVirtualTime(clock, settle(never, options));
    expect(listeners()).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

describe('describeThrown', () => {
  it.each(thrownValues)('describes %s', (_, value, expected) => {
    expect(describeThrown(value)).toMatch(expected);
  });

  it('keeps within its length', () => {
    expect(describeThrown('x'.repeat(10_000)).length).toBe(2_000);
  });
});
