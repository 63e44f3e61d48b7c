/** Searches files for a pattern: small ones whole, large ones in chunks of lines, or whole when matches go over lines. */
import type { ToolRunContext } from '../tool.ts';
import { FileProblem, type OpenFile, openFile } from './file-access.ts';
import { Collector, type FileMatches, type SearchOptions } from './matches.ts';
import { type Pattern, SlowPattern } from './pattern.ts';

/** A file searched as a whole may have so many bytes. */
const largestWhole = 16 * 1024 * 1024;
const chunkBytes = 256 * 1024;

/**
 * Searches a few files side by side. Null for one that cannot be opened: it vanished, is a link, or is no regular file.
 * Most files are small, and most of those hold no match: that is found out for all of them at once, without taking them
 * apart.
 */
export async function searchFiles(
  paths: readonly string[],
  pattern: Pattern,
  options: SearchOptions,
  context: ToolRunContext,
): Promise<readonly (FileMatches | null)[]> {
  const files = await Promise.all(paths.map((path) => withFile(path, context, readSmall)));
  const hopeful = pattern.mayMatch(files.map((file) => file?.content ?? null));
  return Promise.all(
    files.map(async (file, index) =>
      file === null ? null : searchFile(file, hopeful[index] ?? true, pattern, options, context),
    ),
  );
}

interface ReadFile {
  readonly path: string;
  readonly mtimeMs: number;
  /** The text of a small file; null for a large one. */
  readonly content: string | null;
  readonly isBinary: boolean;
}

/** Opens a file for some work and closes it. Null when it cannot be opened. */
async function withFile<Result>(
  path: string,
  context: ToolRunContext,
  work: (file: OpenFile, path: string) => Promise<Result>,
): Promise<Result | null> {
  let file: OpenFile;
  try {
    file = await openFile(path, context, 'read');
  } catch (error) {
    if (error instanceof FileProblem) return null;
    throw error;
  }
  try {
    return await work(file, path);
  } finally {
    await file.handle.close();
  }
}

async function readSmall({ handle, stats }: OpenFile, path: string): Promise<ReadFile> {
  const { mtimeMs } = stats;
  if (stats.size > chunkBytes) return { path, mtimeMs, content: null, isBinary: false };
  const bytes = await handle.readFile();
  if (bytes.includes(0)) return { path, mtimeMs, content: '', isBinary: true };
  return { path, mtimeMs, content: new TextDecoder().decode(bytes), isBinary: false };
}

async function searchFile(
  file: ReadFile,
  isHopeful: boolean,
  pattern: Pattern,
  options: SearchOptions,
  context: ToolRunContext,
): Promise<FileMatches> {
  const found = new Collector(options);
  let skipped: FileMatches['skipped'];
  try {
    // A binary file is named as such although nobody looked for the pattern in it.
    skipped = isHopeful || file.isBinary ? await search(file, pattern, found, options, context) : null;
  } catch (error) {
    if (!(error instanceof SlowPattern)) throw error;
    skipped = 'slow';
  }
  return { path: file.path, mtimeMs: file.mtimeMs, count: found.count, lines: found.lines, skipped };
}

async function search(
  file: ReadFile,
  pattern: Pattern,
  found: Collector,
  { multiline }: SearchOptions,
  context: ToolRunContext,
): Promise<FileMatches['skipped']> {
  if (file.isBinary) return 'binary';
  if (file.content === null) {
    const searchLarge = multiline ? searchWhole : searchChunks;
    return withFile(file.path, context, (opened) => searchLarge(opened, pattern, found, context));
  }
  if (multiline) searchText(file.content, pattern, found);
  else found.add(linesOf(file.content), pattern);
  return null;
}

/** A final newline begins no line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** A file of any size, in chunks of lines. */
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

/** A file whose matches may go over lines, so that it has to be in memory at once. */
async function searchWhole(file: OpenFile, pattern: Pattern, found: Collector): Promise<FileMatches['skipped']> {
  if (file.stats.size > largestWhole) return 'too large';
  const content = await file.handle.readFile();
  if (content.includes(0)) return 'binary';
  searchText(content.toString('utf8'), pattern, found);
  return null;
}

function searchText(raw: string, pattern: Pattern, found: Collector): void {
  const text = raw.replaceAll('\r\n', '\n');
  found.addAll(linesOf(text), linesOfSpans(text, pattern));
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
