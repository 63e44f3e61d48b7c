/** Reads one memory file: text that a person wrote for the model. Only regular files, and none that leads out of its place. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import type { FileRecord } from '../core/tools/context.ts';
import { cutHead } from '../core/text.ts';
import { decodeText } from '../tools/builtin/text-file.ts';
import { errorCode, isMissing, isWithinAny, realPathOf } from '../tools/paths.ts';

export const memoryLimits = {
  /** Longest memory file in characters; what is over is cut. Claude Code warns from this size on. */
  fileCharacters: 40_000,
  /** Characters of all memory files of one load; files over it are left out. About 30,000 tokens. */
  totalCharacters: 120_000,
  /** How deep imports go: the number of Claude Code. */
  importDepth: 5,
  /** Largest file that is opened at all, in bytes. */
  fileBytes: 1024 * 1024,
} as const;

/** A file that was read. */
export interface MemoryFile {
  /** As it was named: below its folder, links not followed. */
  readonly path: string;
  readonly realPath: string;
  /** Trimmed, and cut where it was too long. */
  readonly text: string;
  readonly record: FileRecord;
  /** The file that imports it; null for one that stands by itself. */
  readonly importedBy: string | null;
  /** Of the user, or of the project. */
  readonly level: 'user' | 'project';
}

/** What came of looking for a file: nothing when it is not there. */
export type ReadMemory =
  | { readonly type: 'file'; readonly file: MemoryFile; readonly notice: string | null }
  | { readonly type: 'missing' }
  | { readonly type: 'refused'; readonly notice: string };

/** What a file is read for. */
export interface MemoryRequest {
  readonly path: string;
  readonly level: MemoryFile['level'];
  readonly importedBy: string | null;
  /** Real folders that the file must stand in, wherever links lead; null for no limit. */
  readonly within: readonly string[] | null;
  /** Files that a rule keeps from the model. */
  readonly isHidden: (path: string) => boolean;
}

/** Never rejects: what cannot be read is refused with one sentence. */
export async function readMemoryFile(request: MemoryRequest): Promise<ReadMemory> {
  const { path } = request;
  try {
    const realPath = await realPathOf(path);
    if (request.within !== null && !isWithinAny(request.within, realPath)) {
      // Whether something is there outside is nobody's business.
      return { type: 'refused', notice: `${path} leads out of the project and was not read as memory.` };
    }
    if (request.isHidden(path) || request.isHidden(realPath)) return { type: 'missing' };
    return await readFile(request, realPath);
  } catch (error) {
    if (isMissing(error) || errorCode(error) === 'EISDIR') return { type: 'missing' };
    return { type: 'refused', notice: `${path} could not be read as memory (${errorCode(error) ?? 'unknown error'}).` };
  }
}

async function readFile(request: MemoryRequest, realPath: string): Promise<ReadMemory> {
  const { path } = request;
  // O_NOFOLLOW: the file became a link since the check. O_NONBLOCK: a pipe without a writer must not hang the query.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(realPath, flags);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return { type: 'missing' };
    if (!stats.isFile()) return { type: 'refused', notice: `${path} is no regular file and was not read as memory.` };
    if (stats.size > memoryLimits.fileBytes) {
      return { type: 'refused', notice: `${path} has ${stats.size} bytes, too many for memory: make it shorter.` };
    }
    const content = await handle.readFile();
    const decoded = decodeText(content);
    if (decoded === null) return { type: 'refused', notice: `${path} is no UTF-8 text and was not read as memory.` };
    const whole = decoded.text.trim();
    const text = cutHead(whole, memoryLimits.fileCharacters);
    const isCut = text.length < whole.length;
    const hash = createHash('sha256').update(content).digest('hex');
    const record: FileRecord = { mtimeMs: stats.mtimeMs, hash, partial: isCut };
    const { level, importedBy } = request;
    const notice = isCut
      ? `${path} has ${whole.length} characters; the model sees the first ${text.length}: make it shorter.`
      : null;
    return { type: 'file', file: { path, realPath, text, record, importedBy, level }, notice };
  } finally {
    await handle.close();
  }
}
