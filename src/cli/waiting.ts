/** The spinner. */
import ora, { type Ora } from 'ora';
import type { CliIo } from './io.ts';
import { visible } from './visible.ts';

/** A wait shorter than this needs no spinner, in milliseconds. */
const patienceMs = 400;
const longest = 60;

/** A spinner that comes when a wait grows long, where a terminal is there. */
export class Waiting {
  readonly #io: CliIo;
  #timer: NodeJS.Timeout | null = null;
  #spinner: Ora | null = null;

  constructor(io: CliIo) {
    this.#io = io;
  }

  /** Says what is waited for, from now on. */
  start(text: string): void {
    if (!this.#io.isTerminal) return;
    this.stop();
    this.#timer = setTimeout(() => this.#spin(visible(text).slice(0, longest).toWellFormed()), patienceMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#spinner?.stop();
    this.#spinner = null;
  }

  #spin(text: string): void {
    // The keyboard belongs to whoever reads it: Ctrl+C must reach the query.
    this.#spinner = ora({ text, stream: this.#io.screen, discardStdin: false }).start();
  }
}
