/** Ctrl+C: who gets it. */

/** The part of `process` that tells of signals. */
interface SignalSource {
  on(signal: 'SIGINT', listener: () => void): unknown;
  off(signal: 'SIGINT', listener: () => void): unknown;
}

export class Interrupts {
  readonly #source: SignalSource;
  /** The newest is the last. */
  readonly #handlers: (() => void)[] = [];

  constructor(source: SignalSource) {
    this.#source = source;
  }

  /** Hands Ctrl+C to `handler`, before any older one, until the function that comes back is called. */
  handle(handler: () => void): () => void {
    if (this.#handlers.length === 0) this.#source.on('SIGINT', this.press);
    this.#handlers.push(handler);
    return () => this.#drop(handler);
  }

  /** Ctrl+C was pressed, whoever noticed it: at a terminal in raw mode it is a key and no signal. */
  readonly press = (): void => {
    this.#handlers.at(-1)?.();
  };

  #drop(handler: () => void): void {
    const index = this.#handlers.lastIndexOf(handler);
    if (index === -1) return;
    this.#handlers.splice(index, 1);
    if (this.#handlers.length === 0) this.#source.off('SIGINT', this.press);
  }
}
