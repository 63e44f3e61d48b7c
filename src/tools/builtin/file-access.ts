/** Opens and writes files for tools: only in the workspace, whatever links a path goes through, and only regular files. */
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileRecord } from '../../core/tools/context.ts';
import { errorCode, isGuarded, isMissing, isWithinAny, realPathOf } from '../paths.ts';
import type { PermissionOpinion, ToolRunContext } from '../tool.ts';

/** Something about a file that the model must be told; the message is for the model. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
}

/** What a tool wants of a file: reading is allowed in a few more places. */
export type Access = 'read' | 'write';

function rootsFor(context: ToolRunContext, access: Access): readonly string[] {
  return access === 'read' ? [...context.roots, ...context.readRoots] : context.roots;
}

/** A file tool's word on the paths of a call: a path that leads out of the workspace must be asked. */
export async function pathOpinion(path: string, context: ToolRunContext, access: Access): Promise<PermissionOpinion> {
  const real = await realPathOf(path);
  if (!isWithinAny(rootsFor(context, access), real)) {
    const way = real === path ? path : `${path} (which is ${real})`;
    return { behavior: 'ask', reason: `${way} is outside of the workspace ${context.cwd}.` };
  }
  if (access === 'write' && isGuarded(real)) {
    return { behavior: 'ask', reason: `${path} belongs to a folder that changes what runs or what is allowed.` };
  }
  return { behavior: 'pass' };
}

/** The real path of a file that may be touched now. Throws a `FileProblem` for one that may not. */
export async function checkedPath(path: string, context: ToolRunContext, access: Access): Promise<string> {
  const real = await realPathOf(path);
  if (context.outsideAllowed || isWithinAny(rootsFor(context, access), real)) return real;
  throw new FileProblem(`${path} is outside of the workspace ${context.cwd}, and nobody has allowed that.`);
}

/** An open regular file that was checked. Whoever opened it closes the handle. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
  /** Real path at the time of opening. */
  readonly realPath: string;
}

/** Opens an existing regular file. The caller closes the handle. Throws a `FileProblem` that says why not. */
export async function openFile(path: string, context: ToolRunContext, access: Access): Promise<OpenFile> {
  const realPath = await checkedPath(path, context, access);
  const mode = access === 'read' ? constants.O_RDONLY : constants.O_RDWR;
  // O_NOFOLLOW: the last step became a link since the check. O_NONBLOCK: a pipe without a writer must not hang the call.
  const flags = mode | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let handle: FileHandle;
  try {
    handle = await open(realPath, flags);
  } catch (error) {
    throw problemOf(error, path, context);
  }
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw directoryProblem(path);
    if (!stats.isFile()) throw new FileProblem(`${path} is no regular file (a device, a pipe or a socket).`);
    await checkOpened(handle, stats, realPath);
    return { handle, stats, realPath };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Makes sure that what was opened is what was checked: a folder on the way may have become a link in between. Linux can
 * say where an open file is; elsewhere the path is resolved again and must lead to the same file.
 */
async function checkOpened(handle: FileHandle, stats: Stats, realPath: string): Promise<void> {
  const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
  if (opened !== null) {
    if (opened !== realPath) throw movedProblem(realPath);
    return;
  }
  const again = await stat(await realPathOf(realPath)).catch(() => null);
  if (again?.ino !== stats.ino || again.dev !== stats.dev) throw movedProblem(realPath);
}

function movedProblem(path: string): FileProblem {
  return new FileProblem(`${path} was moved or replaced while it was opened; try again.`);
}

function directoryProblem(path: string): FileProblem {
  return new FileProblem(`${path} is a folder. Use Glob to list files, or name a file in it.`);
}

function problemOf(error: unknown, path: string, context: ToolRunContext): unknown {
  if (isMissing(error)) return new FileProblem(`${path} does not exist. The working folder is ${context.cwd}.`);
  switch (errorCode(error)) {
    case 'EISDIR':
      return directoryProblem(path);
    case 'EACCES':
    case 'EPERM':
      return new FileProblem(`${path} may not be opened: the file system denies it.`);
    case 'ELOOP':
      return movedProblem(path);
    case 'ENXIO':
      return new FileProblem(`${path} is no regular file (a device, a pipe or a socket).`);
    default:
      return error;
  }
}

/** The whole content of an open file, at most `limit` bytes. Throws a `FileProblem` for a larger one. */
export async function readWhole(file: OpenFile, path: string, limit: number): Promise<Buffer> {
  if (file.stats.size > limit) {
    throw new FileProblem(`${path} has ${file.stats.size} bytes; at most ${limit} can be handled at once.`);
  }
  return file.handle.readFile();
}

/** Replaces the content of an open file. In place, so that links to it, its owner and its mode stay. */
export async function replaceContent({ handle }: OpenFile, content: Buffer): Promise<FileRecord> {
  let written = 0;
  while (written < content.length) {
    written += (await handle.write(content, written, content.length - written, written)).bytesWritten;
  }
  await handle.truncate(content.length);
  return recordOf(content, await handle.stat(), false);
}

/** A file as it was left. */
export interface WrittenFile {
  readonly realPath: string;
  readonly record: FileRecord;
}

/** Creates a file and the folders above it. Throws a `FileProblem` when something is there already. */
export async function createFile(path: string, content: Buffer, context: ToolRunContext): Promise<WrittenFile> {
  const realPath = await checkedPath(path, context, 'write');
  try {
    await mkdir(dirname(realPath), { recursive: true });
  } catch (error) {
    const isBlocked = isMissing(error) || errorCode(error) === 'EEXIST';
    if (isBlocked) throw new FileProblem(`${path} cannot be created: a part of its path is a file.`);
    throw problemOf(error, path, context);
  }
  // A folder may have become a link while the missing ones were made.
  await checkedPath(realPath, context, 'write');
  // `wx` creates or fails: it follows no link.
  const handle = await open(realPath, 'wx').catch((error: unknown) => {
    if (errorCode(error) === 'EEXIST') throw new FileProblem(`${path} cannot be created: something is there already.`);
    throw problemOf(error, path, context);
  });
  try {
    const stats = await handle.stat();
    await checkOpened(handle, stats, realPath);
    const record = await replaceContent({ handle, stats, realPath }, content);
    return { realPath, record };
  } finally {
    await handle.close();
  }
}

/** What is remembered of a file with this content. */
export function recordOf(content: Buffer, stats: Stats, partial: boolean): FileRecord {
  return { mtimeMs: stats.mtimeMs, hash: sha256(content), partial };
}

/** SHA-256 in hex. */
export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
