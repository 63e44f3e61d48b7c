/** A regular expression of the model, run so that a bad one costs seconds and not the process. */
import { createContext, Script } from 'node:vm';
import { FileProblem } from './file-access.ts';

/** A pattern that takes longer than this on one piece of text (256 KiB of lines, or a whole file) is given up, in milliseconds. */
const longestMatchMs = 1_000;

/** The pattern took too long on some text; it may be quick on other. */
export class SlowPattern extends Error {
  override readonly name = 'SlowPattern';
}

/** How a pattern is read. */
export interface PatternOptions {
  readonly ignoreCase: boolean;
  /** Matches may go over lines, and `.` stands for a newline too. */
  readonly multiline: boolean;
}

/** From `start` to `end` (exclusive), in characters. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

// The engine's regular expressions backtrack, and while one does nothing else runs: no timer, no abort. V8 can stop a
// script at a time limit even inside a match, so patterns that can backtrack run as a script.
const lineLoop = new Script('for (let i = 0; i < lines.length; i += 1) if (regex.test(lines[i])) hits.push(i);');
const spanLoop = new Script(
  `regex.lastIndex = 0;
  for (let found = regex.exec(text); found !== null; found = regex.exec(text)) {
    hits.push({ start: found.index, end: found.index + found[0].length });
    if (found[0] === '') regex.lastIndex += 1;
  }`,
);
const textLoop = new Script('for (const text of texts) hits.push(text === null || wholeRegex.test(text));');

/** A compiled pattern. Its looks at texts are synchronous and bounded in time. */
export class Pattern {
  readonly #regex: RegExp;
  /** Whether a look at a text as a whole can say that no line of it matches. */
  #isFilterable: boolean;
  readonly #sandbox: Record<string, unknown>;

  /** Throws a `FileProblem` for a text that is no regular expression. `(?i)` and `(?s)` at its beginning are understood. */
  constructor(source: string, options: PatternOptions) {
    const inline = /^\(\?([ims]+)\)/.exec(source);
    const flags = new Set(inline?.[1] ?? '');
    if (options.ignoreCase) flags.add('i');
    if (options.multiline) for (const flag of 'gms') flags.add(flag);
    // Without `u` the engine takes patterns as people write them (`interface{}`); these escapes need it.
    if (/\\[pP]\{|\\u\{/.test(source)) flags.add('u');
    try {
      this.#regex = new RegExp(source.slice(inline?.[0].length ?? 0), [...flags].join(''));
    } catch (error) {
      throw new FileProblem(`The pattern is no regular expression: ${(error as Error).message}.`);
    }
    // A negative look-around may see over the end of a line what is not there when the line stands alone.
    this.#isFilterable = !/\(\?<?!/.test(source);
    const wholeRegex = new RegExp(this.#regex, `${this.#regex.flags.replace(/[gm]/g, '')}m`);
    this.#sandbox = createContext({ regex: this.#regex, wholeRegex });
  }

  /**
   * For each text whether it can hold a match; null, a text that is not at hand, can. One look at the whole of a text is
   * much quicker than one at each of its lines.
   */
  mayMatch(texts: readonly (string | null)[]): readonly boolean[] {
    if (!this.#isFilterable) return texts.map(() => true);
    try {
      return this.#run(textLoop, { texts }) as readonly boolean[];
    } catch (error) {
      if (!(error instanceof SlowPattern)) throw error;
      // What is slow on a whole text may be quick on its lines.
      this.#isFilterable = false;
      return texts.map(() => true);
    }
  }

  /** Indexes of the lines that match. Throws `SlowPattern`. */
  matchLines(lines: readonly string[]): readonly number[] {
    if (this.#isLinear()) return lines.flatMap((line, index) => (this.#regex.test(line) ? [index] : []));
    return this.#run(lineLoop, { lines }) as readonly number[];
  }

  /** Every match in a text. Only for a pattern with `multiline`. Throws `SlowPattern`. */
  matchSpans(text: string): readonly Span[] {
    return this.#run(spanLoop, { text }) as readonly Span[];
  }

  /** Nothing in it repeats, so there is nothing to go back to. */
  #isLinear(): boolean {
    return !/[*+?{]|\\[1-9k]/.test(this.#regex.source);
  }

  #run(script: Script, given: Record<string, unknown>): unknown {
    const hits: unknown[] = [];
    Object.assign(this.#sandbox, given, { hits });
    try {
      script.runInContext(this.#sandbox, { timeout: longestMatchMs });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new SlowPattern();
      throw error;
    }
    return hits;
  }
}
