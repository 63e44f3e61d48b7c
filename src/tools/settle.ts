/** Runs foreign code (tools, hooks, prompts) so that whatever it does, one value comes back: no throw, no hang. */
import type { Clock } from '../clock.ts';
import { describeThrown } from './thrown.ts';

/** How foreign code ended. */
export type Settled<Value> =
  | { readonly type: 'value'; readonly value: Value }
  /** It threw or rejected with any value at all; `message` says what. */
  | { readonly type: 'thrown'; readonly message: string }
  /** It took longer than `timeoutMs`. */
  | { readonly type: 'timeout' }
  /** The outer signal aborted. */
  | { readonly type: 'aborted' };

/** When foreign code is ended, and who hears of it. */
export interface SettleOptions {
  readonly clock: Clock;
  /** Aborts the work from outside. */
  readonly signal: AbortSignal;
  /** Longest run in milliseconds; null for none. Default null. */
  readonly timeoutMs?: number | null;
  /** After an abort the work may clean up for so many milliseconds before it is left behind. Default 0. */
  readonly graceMs?: number;
  /** Told of work that ended after it was left behind. Default: nobody. */
  readonly onLate?: () => void;
}

/**
 * Calls `work` with a signal of its own, which aborts at the timeout and with the outer signal. Never rejects, leaves no
 * timer and no listener behind, and does not call `work` at all when the outer signal has aborted already.
 */
export function settle<Value>(
  work: (signal: AbortSignal) => Value | Promise<Value>,
  options: SettleOptions,
): Promise<Settled<Value>> {
  if (options.signal.aborted) return Promise.resolve({ type: 'aborted' });
  return new Promise((resolve) => {
    const inner = new AbortController();
    const timers = new Set<() => void>();
    let ended = false;
    const end = (settled: Settled<Value>): void => {
      if (ended) {
        options.onLate?.();
        return;
      }
      ended = true;
      for (const cancel of timers) cancel();
      options.signal.removeEventListener('abort', onAbort);
      resolve(options.signal.aborted ? { type: 'aborted' } : settled);
    };
    const onAbort = (): void => {
      // Scheduled before the work hears of it: what it does at once must find the grace timer to cancel.
      timers.add(options.clock.schedule(() => end({ type: 'aborted' }), options.graceMs ?? 0));
      inner.abort(options.signal.reason);
    };
    const onTimeout = (): void => {
      end({ type: 'timeout' });
      inner.abort(new Error('The time is up.'));
    };
    options.signal.addEventListener('abort', onAbort, { once: true });
    if (typeof options.timeoutMs === 'number') timers.add(options.clock.schedule(onTimeout, options.timeoutMs));
    void attempt(work, inner.signal).then(end);
  });
}

async function attempt<Value>(
  work: (signal: AbortSignal) => Value | Promise<Value>,
  signal: AbortSignal,
): Promise<Settled<Value>> {
  try {
    return { type: 'value', value: await work(signal) };
  } catch (error) {
    return { type: 'thrown', message: describeThrown(error) };
  }
}
