/** Searches one file for a pattern: in chunks of lines, or as a whole when matches may go over lines. */
import type { ToolRunContext } from '../tool.ts';
import { FileProblem, type OpenFile, openFile } from './file-access.ts';
import { type Pattern, SlowPattern } from './pattern.ts';

/** A file searched as a whole may have so many bytes. */
const largestWhole = 16 * 1024 * 1024;
const chunkBytes = 256 * 1024;

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

/** Searches a file. Null for one that cannot be opened: it vanished, is a link, or is no regular file. */
export async function searchFile(
  path: string,
  pattern: Pattern,
  options: SearchOptions,
  context: ToolRunContext,
): Promise<FileMatches | null> {
  let file: OpenFile;
  try {
    file = await openFile(path, context, 'read');
  } catch (error) {
    if (error instanceof FileProblem) return null;
    throw error;
  }
  const found = new Collector(options);
  let skipped: FileMatches['skipped'];
  try {
    skipped = options.multiline
      ? await searchWhole(file, pattern, found)
      : await searchLines(file, pattern, found, context);
  } catch (error) {
    if (!(error instanceof SlowPattern)) throw error;
    skipped = 'slow';
  } finally {
    await file.handle.close();
  }
  return { path, mtimeMs: file.stats.mtimeMs, count: found.count, lines: found.lines, skipped };
}

async function searchLines(
  file: OpenFile,
  pattern: Pattern,
  found: Collector,
  context: ToolRunContext,
): Promise<FileMatches['skipped']> {
  return file.stats.size <= chunkBytes
    ? searchSmall(file, pattern, found)
    : searchChunks(file, pattern, found, context);
}

/** Most files are small, and most of those hold no match: that is found out without taking them apart. */
async function searchSmall({ handle }: OpenFile, pattern: Pattern, found: Collector): Promise<FileMatches['skipped']> {
  const content = await handle.readFile();
  if (content.includes(0)) return 'binary';
  const text = new TextDecoder().decode(content);
  if (!pattern.mayMatchLineIn(text)) return null;
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  found.add(lines, pattern);
  return null;
}

async function searchChunks(
  { handle }: OpenFile,
  pattern: Pattern,
  found: Collector,
  { signal }: ToolRunContext,
): Promise<FileMatches['skipped']> {
  const decoder = new TextDecoder();
  /** Pieces of a line that goes over chunks: joined once, so that one endless line costs no more than its length. */
  let open: string[] = [];
  const stream = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: chunkBytes });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    if (chunk.includes(0)) return 'binary';
    const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n');
    open.push(first);
    const last = rest.pop();
    if (last === undefined) continue;
    found.add([open.join(''), ...rest], pattern);
    open = [last];
    if (found.isFull) return null;
  }
  const end = open.join('') + decoder.decode();
  if (end !== '') found.add([end], pattern);
  return null;
}

async function searchWhole(file: OpenFile, pattern: Pattern, found: Collector): Promise<FileMatches['skipped']> {
  if (file.stats.size > largestWhole) return 'too large';
  const content = await file.handle.readFile();
  if (content.includes(0)) return 'binary';
  const text = content.toString('utf8').replaceAll('\r\n', '\n');
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  found.addAll(lines, linesOfSpans(text, pattern));
  return null;
}

/** Indexes of the lines that matches touch. Goes through the text once. */
function linesOfSpans(text: string, pattern: Pattern): ReadonlySet<number> {
  const touched = new Set<number>();
  const ends = newlinesOf(text);
  let line = 0;
  for (const { start, end } of pattern.matchSpans(text)) {
    while (isBefore(ends[line], start)) line += 1;
    touched.add(line);
    // A match that ends right behind a newline does not touch the line after it.
    while (isBefore(ends[line], end - 1)) {
      line += 1;
      touched.add(line);
    }
  }
  return touched;
}

function newlinesOf(text: string): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) found.push(at);
  return found;
}

/** The last line has no newline behind it. */
function isBefore(newline: number | undefined, index: number): boolean {
  return newline !== undefined && newline < index;
}

/** Gathers matches with the lines around them, from lines that come in pieces. */
class Collector {
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
