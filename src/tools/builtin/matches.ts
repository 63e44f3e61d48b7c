/** What a search of a file finds: matches with the lines around them. */
import type { Pattern } from './pattern.ts';

/** What is kept of what is found. */
export interface SearchOptions {
  readonly multiline: boolean;
  /** Lines to show before and after a match. */
  readonly before: number;
  readonly after: number;
  /** Lines of one file that are kept; the search of the file ends there. 0: count only. */
  readonly mostLines: number;
  /** The first match says all. */
  readonly firstOnly: boolean;
}

interface FoundLine {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** What was found in one file. */
export interface FileMatches {
  /** Real absolute path. */
  readonly path: string;
  readonly mtimeMs: number;
  /** Lines that match. */
  readonly count: number;
  /** Matches and the lines around them, in order. */
  readonly lines: readonly FoundLine[];
  /** Why the file, or the rest of it, was not searched; null when it was. */
  readonly skipped: 'binary' | 'slow' | 'too large' | null;
}

/** Gathers matches with the lines around them, from lines that come in pieces. */
export class Collector {
  count = 0;
  readonly lines: FoundLine[] = [];
  readonly #options: SearchOptions;
  #number = 0;
  #afterLeft = 0;
  /** The newest lines that were not shown; they stand before the next match. */
  #held: FoundLine[] = [];

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** True when more of the file would change nothing. */
  get isFull(): boolean {
    const { firstOnly, mostLines } = this.#options;
    return (firstOnly && this.count > 0) || (mostLines > 0 && this.lines.length >= mostLines);
  }

  add(raw: readonly string[], pattern: Pattern): void {
    const lines = raw.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
    this.addAll(lines, new Set(pattern.matchLines(lines)));
  }

  addAll(lines: readonly string[], matching: ReadonlySet<number>): void {
    for (const [index, text] of lines.entries()) {
      if (this.isFull) return;
      this.#number += 1;
      const isMatch = matching.has(index);
      if (isMatch) this.count += 1;
      if (this.#options.mostLines > 0) this.#keep({ number: this.#number, text, isMatch });
    }
  }

  #keep(line: FoundLine): void {
    const { before, after } = this.#options;
    if (line.isMatch) {
      this.lines.push(...this.#held, line);
      this.#held = [];
      this.#afterLeft = after;
    } else if (this.#afterLeft > 0) {
      this.lines.push(line);
      this.#afterLeft -= 1;
    } else if (before > 0) {
      this.#held.push(line);
      if (this.#held.length > before) this.#held.shift();
    }
  }
}
