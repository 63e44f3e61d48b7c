/** Guards of a request: silence, deadline, and a consumer that holds. */
import type { Clock } from '../clock.ts';

/** No byte came for longer than allowed. */
export class StallError extends Error {
  readonly idleTimeoutMs: number;

  constructor(idleTimeoutMs: number) {
    super(`The server sent nothing for ${idleTimeoutMs} ms.`);
    this.name = 'StallError';
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
  readonly idleTimeoutMs: number;
  readonly deadlineMs: number;
}

/** Watches one request from its start to its last byte. */
export class Liveness {
  readonly #options: LivenessOptions;
  #left: number;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#left = options.deadlineMs;
  }

  /** The promise, or a rejection when nothing comes in time. Time counts only while something is waited for. */
  async watch<Value>(waiting: Promise<Value>): Promise<Value> {
    const { clock, idleTimeoutMs, deadlineMs } = this.#options;
    const since = clock.now();
    let cancel = (): void => {};
    const late = new Promise<never>((_resolve, reject) => {
      const isDeadline = this.#left < idleTimeoutMs;
      const error = isDeadline ? new DeadlineError(deadlineMs) : new StallError(idleTimeoutMs);
      cancel = clock.schedule(() => reject(error), Math.min(this.#left, idleTimeoutMs));
    });
    try {
      return await Promise.race([waiting, late]);
    } finally {
      cancel();
      this.#left -= clock.now() - since;
    }
  }

  /** The body, read only as fast as the consumer wants it: not one chunk more than asked for. */
  guard(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          await this.#options.ready();
          const { done, value } = await this.watch(reader.read());
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }
}
