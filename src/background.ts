/** Hooks that nobody waits for: they run beside the query, some of them beyond its end. */
import type { Clock } from './clock.ts';
import type { AskHook } from './tools/hook-port.ts';
import { settle } from './tools/settle.ts';

/** After a stop a hook may clean up for so many milliseconds (a command hook kills its process). */
const stopGraceMs = 5_000;

export class Background {
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Told of what hooks say to the user. */
  #onNotice: (sentence: string) => void;

  constructor(clock: Clock, onNotice: (sentence: string) => void) {
    this.#clock = clock;
    this.#onNotice = onNotice;
  }

  /** From now on somebody else is told. */
  reportTo(onNotice: (sentence: string) => void): void {
    this.#onNotice = onNotice;
  }

  /** Starts hooks and goes on at once; what they say is told when they end. Contract: `work` must not reject. */
  start(work: (ask: AskHook) => Promise<readonly string[]>): void {
    if (this.#stop.signal.aborted) return;
    const { signal } = this.#stop;
    const clock = this.#clock;
    const ask: AskHook = (run, timeoutMs) => settle(run, { clock, signal, timeoutMs, graceMs: stopGraceMs });
    const ended = this.#tell(work(ask)).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
  }

  async #tell(work: Promise<readonly string[]>): Promise<void> {
    for (const notice of await work) this.#onNotice(notice);
  }

  /** Resolves when nothing runs any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Cancels what runs, and keeps anything more from starting. */
  stop(): void {
    this.#stop.abort();
  }
}
