/** Guards of a request: silence, deadline, abort, and a consumer that holds. */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** No byte of the body came for longer than allowed. */
export class StallError extends Error {
  readonly idleTimeoutMs: number;

  constructor(idleTimeoutMs: number) {
    super(`The server sent nothing for ${idleTimeoutMs} ms.`);
    this.name = 'StallError';
    this.idleTimeoutMs = idleTimeoutMs;
  }
}

/** The server took the request and did not begin to answer. */
export class NoHeadersError extends Error {
  readonly idleTimeoutMs: number;

  constructor(idleTimeoutMs: number) {
    super(`The server did not begin to answer within ${idleTimeoutMs} ms.`);
    // No name with "timeout" in it: the SDK would take that for an error of its own and put another message on it.
    this.name = 'NoHeadersError';
    this.idleTimeoutMs = idleTimeoutMs;
  }
}

/** The request as a whole took longer than allowed. */
export class DeadlineError extends Error {
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`The request took longer than ${deadlineMs} ms.`);
    this.name = 'DeadlineError';
    this.deadlineMs = deadlineMs;
  }
}

export interface LivenessOptions {
  readonly clock: Clock;
  /** Resolves when the consumer wants more; both guards stand still until then. */
  readonly ready: () => Promise<void>;
  /** Ends every wait at once, also one for a consumer that holds. */
  readonly signal: AbortSignal;
  /** Largest silence, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Longest time of the request, in milliseconds, holds left out. */
  readonly deadlineMs: number;
}

/** What is waited for: the head of the answer, or more of its body. */
export type Awaited = 'headers' | 'body';

/** Watches one request from its start to its last byte. */
export class Liveness {
  readonly #options: LivenessOptions;
  #left: number;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#left = options.deadlineMs;
  }

  /** The promise, or a rejection when nothing comes in time or the signal aborts. Leaves no timer and no listener. */
  watch<Value>(waiting: Promise<Value>, awaited: Awaited = 'body'): Promise<Value> {
    const { clock, signal } = this.#options;
    return new Promise((resolve, reject) => {
      let isOver = false;
      let since: number | null = null;
      let cancelTimer = (): void => {};
      const end = (): void => {
        isOver = true;
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        if (since !== null) this.#left -= clock.now() - since;
      };
      const fail = (error: Error): void => {
        if (!isOver) end();
        reject(error);
      };
      const succeed = (value: Value): void => {
        if (!isOver) end();
        resolve(value);
      };
      const onAbort = (): void => fail(signal.reason as Error);
      const start = (): void => {
        since = clock.now();
        cancelTimer = clock.schedule(() => void timeIsUp().catch(fail), this.#patience());
      };
      const timeIsUp = async (): Promise<void> => {
        const error = this.#lateError(awaited);
        if (await this.#isWanted()) {
          if (!isOver) fail(error);
          return;
        }
        // A consumer that holds may be why nothing came: that silence is nobody's fault, and its time does not count.
        since = null;
        await this.#options.ready();
        if (!isOver) start();
      };
      waiting.then(succeed, fail);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      else start();
    });
  }

  /** The body, read only as fast as the consumer wants it: not one chunk more than asked for. */
  guard(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const { ready, signal } = this.#options;
    const reader = body.getReader();
    const letGo = (reason: unknown): void => void reader.cancel(reason).catch(() => {});
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const onAbort = (): void => {
            // Also where a consumer holds and nothing is being read.
            controller.error(signal.reason);
            letGo(signal.reason);
          };
          signal.addEventListener('abort', onAbort, { once: true });
          if (signal.aborted) onAbort();
        },
        pull: async (controller) => {
          await ready();
          if (signal.aborted) return;
          try {
            const { done, value } = await this.watch(reader.read());
            if (done) controller.close();
            else controller.enqueue(value);
          } catch (error) {
            // The connection must go even where the one who reads does not cancel.
            letGo(error);
            throw error;
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** How long may pass from now on without a byte, in milliseconds. */
  #patience(): number {
    return Math.max(0, Math.min(this.#left, this.#options.idleTimeoutMs));
  }

  /** False while the consumer holds: one that waits says so within one round of the event loop. */
  #isWanted(): Promise<boolean> {
    const wanted = this.#options.ready().then(() => true);
    return Promise.race([wanted, setImmediate(false)]);
  }

  #lateError(awaited: Awaited): Error {
    const { idleTimeoutMs, deadlineMs } = this.#options;
    if (this.#left < idleTimeoutMs) return new DeadlineError(deadlineMs);
    return awaited === 'headers' ? new NoHeadersError(idleTimeoutMs) : new StallError(idleTimeoutMs);
  }
}
