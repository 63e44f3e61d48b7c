import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DeadlineError, Liveness, NoHeadersError, StallError } from '../../src/model/liveness.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';

const forever = (): Promise<never> => new Promise(() => {});

interface Rig {
  readonly clock: VirtualClock;
  readonly liveness: Liveness;
  readonly abort: (reason?: unknown) => void;
  readonly hold: () => () => void;
}

function rig({ idleTimeoutMs = 1_000, deadlineMs = 10_000 } = {}): Rig {
  const clock = new VirtualClock();
  const controller = new AbortController();
  let held = Promise.resolve();
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return () => {
      held = Promise.resolve();
      resolve();
    };
  };
  const liveness = new Liveness({ clock, ready: () => held, signal: controller.signal, idleTimeoutMs, deadlineMs });
  return { clock, liveness, abort: (reason) => controller.abort(reason), hold };
}

/** Lets everything run that waits for no time. */
async function rest(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await setImmediate();
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('Liveness.watch', () => {
  it.each([
    ['headers', NoHeadersError],
    ['body', StallError],
  ] as const)('gives up on silent %s', async (awaited, expected) => {
    const { clock, liveness } = rig();
    const error = errorOf(liveness.watch(forever(), awaited));
    clock.advanceToNext();
    expect(await error).toBeInstanceOf(expected);
    expect(clock.pending).toBe(0);
  });

  it('adds up what the waits took for the deadline', async () => {
    const { clock, liveness } = rig({ idleTimeoutMs: 1_000, deadlineMs: 2_500 });
    const spend = async (ms: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.schedule(resolve, ms);
      const watched = liveness.watch(promise);
      clock.advanceToNext();
      await watched;
    };
    await spend(900);
    await spend(900);
    const error = errorOf(liveness.watch(forever()));
    const from = clock.now();
    clock.advanceToNext();
    expect(await error).toBeInstanceOf(DeadlineError);
    expect(clock.now() - from).toBe(700);
    expect(clock.pending).toBe(0);
  });

  it('forgives silence while the consumer holds, and begins anew at its end', async () => {
    const { clock, liveness, hold } = rig({ idleTimeoutMs: 1_000, deadlineMs: 1_500 });
    const release = hold();
    const error = errorOf(liveness.watch(forever()));
    clock.advanceToNext();
    await rest();
    expect(clock.pending).toBe(0);
    release();
    await rest();
    expect(clock.pending).toBe(1);
    clock.advanceToNext();
    expect(await error).toBeInstanceOf(StallError);
  });

  it('takes what comes while the consumer holds', async () => {
    const { clock, liveness, hold } = rig();
    hold();
    const { promise, resolve } = Promise.withResolvers<string>();
    const watched = liveness.watch(promise);
    clock.advanceToNext();
    await rest();
    resolve('late, and yet in time');
    expect(await watched).toBe('late, and yet in time');
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['before', true],
    ['during', false],
  ])('ends at once when it is aborted %s', async (_when, isBefore) => {
    const { clock, liveness, abort } = rig();
    const reason = new Error('enough');
    if (isBefore) abort(reason);
    const error = errorOf(liveness.watch(forever()));
    if (!isBefore) abort(reason);
    expect(await error).toBe(reason);
    expect(clock.pending).toBe(0);
  });

  it('hands on a rejection', async () => {
    const { clock, liveness } = rig();
    const reason = new Error('broken');
    expect(await errorOf(liveness.watch(Promise.reject(reason)))).toBe(reason);
    expect(clock.pending).toBe(0);
  });
});

describe('Liveness.guard', () => {
  it('cancels a body that it gives up on', async () => {
    const { clock, liveness } = rig();
    const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
    const body = new ReadableStream<Uint8Array>({ pull: forever, cancel: resolve }, { highWaterMark: 0 });
    const error = errorOf(liveness.guard(body).getReader().read());
    await rest();
    clock.advanceToNext();
    expect(await error).toBeInstanceOf(StallError);
    expect(await cancelled).toBeInstanceOf(StallError);
  });

  it.each([
    ['before', true],
    ['during', false],
  ])('cancels a body whose reader is kept waiting when it is aborted %s', async (_when, isBefore) => {
    const { clock, liveness, abort, hold } = rig();
    hold();
    const { promise: cancelled, resolve } = Promise.withResolvers<unknown>();
    const body = new ReadableStream<Uint8Array>({ pull: forever, cancel: resolve }, { highWaterMark: 0 });
    const reason = new Error('enough');
    if (isBefore) abort(reason);
    const error = errorOf(liveness.guard(body).getReader().read());
    await rest();
    if (!isBefore) abort(reason);
    expect(await error).toBe(reason);
    expect(await cancelled).toBe(reason);
    expect(clock.pending).toBe(0);
  });
});
