/** What a person types while the agent works: messages wait for the next turn, commands for the end of the query. */
import { createInterface, type Interface } from 'node:readline';
import { canAsk } from './ask.ts';
import type { CliIo } from './io.ts';
import { isForPeople, type Form, type Renderer } from './render.ts';
import { visible } from './visible.ts';

/** Longest line that is shown again, in characters. */
const longestShown = 80;

export class TypedLines {
  /** Commands such as `/compact`, for when the query has ended. */
  readonly commands: string[] = [];
  readonly #io: CliIo;
  readonly #renderer: Pick<Renderer, 'pause' | 'resume'>;
  #send: ((line: string) => void) | null = null;
  #reader: Interface | null = null;

  constructor(io: CliIo, renderer: Pick<Renderer, 'pause' | 'resume'>) {
    this.#io = io;
    this.#renderer = renderer;
  }

  /** Takes lines from now on. The terminal itself shows and edits them; Ctrl+C stays a signal. */
  begin(send: (line: string) => void): void {
    this.#send = send;
    this.#listen();
  }

  /** Takes no more lines. */
  end(): void {
    this.#send = null;
    this.#leave();
  }

  /** Something else asks now: leaves it the keyboard and the screen. */
  readonly pause = (): void => {
    this.#leave();
    this.#renderer.pause();
  };

  readonly resume = (): void => {
    this.#renderer.resume();
    // The query may have ended while the question stood.
    if (this.#send !== null) this.#listen();
  };

  #listen(): void {
    this.#reader ??= createInterface({ input: this.#io.stdin, terminal: false }).on('line', this.#take);
  }

  #leave(): void {
    this.#reader?.close();
    this.#reader = null;
  }

  readonly #take = (line: string): void => {
    const said = line.trim();
    if (said === '') return;
    const isCommand = /^\/compact(?:\s|$)/.test(said);
    const shown = visible(said).slice(0, longestShown).toWellFormed();
    this.#renderer.pause();
    this.#io.err(this.#io.colors.dim(`(${isCommand ? 'waits for the end' : 'queued for the next turn'}: ${shown})\n`));
    this.#renderer.resume();
    if (isCommand) this.commands.push(said);
    else this.#send?.(said);
  };
}

/** For a person who is there and reads along; null for programs. */
export function typedLines(form: Form, io: CliIo, renderer: Renderer): TypedLines | null {
  return isForPeople(form) && canAsk(io) ? new TypedLines(io, renderer) : null;
}
