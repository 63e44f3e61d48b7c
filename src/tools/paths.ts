/** Where a path really leads: the workspace is a set of real folders, whatever links and `..` a path goes through. */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Links followed by hand for one path before it counts as a loop (the number of Linux). */
const mostLinks = 40;

/** The absolute form of what the model wrote: relative paths start in `cwd`, `.` and `..` are taken out. */
export function absolutePath(path: string, cwd: string): string {
  if (path.includes('\0')) throw new Error('A path cannot hold a NUL character.');
  return resolve(cwd, path);
}

/** True when `path` is `root` or below it. Both are real absolute paths; nothing is looked up. */
export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** True when the real absolute `path` is in one of `roots`. */
export function isWithinAny(roots: readonly string[], path: string): boolean {
  return roots.some((root) => isWithin(root, path));
}

/** Folders whose files change what runs or what is allowed without being asked: writing there is always asked. */
const guardedFolder = /(?:^|[/\\])\.(?:git|claude|escapement)(?:[/\\]|$)/i;

/** True for a path in a folder that changes what runs or what is allowed. */
export function isGuarded(path: string): boolean {
  return guardedFolder.test(path);
}

/**
 * The real path of something that may not exist yet: that of its deepest existing folder with the rest behind it. A link
 * to something missing is followed too, since writing through it would create what it points to. Rejects for loops and
 * for folders that may not be searched.
 */
export async function realPathOf(path: string, links = mostLinks): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const target = await linkTarget(path);
  if (target === null) return join(await realPathOf(parent, links), path.slice(parent.length));
  if (links === 0) throw new Error(`Too many symbolic links on the way to ${path}.`);
  return realPathOf(resolve(await realPathOf(parent, links), target), links - 1);
}

/** True for the errors that say: nothing is there. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The code of a file system error (`ENOENT`), or null. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

async function linkTarget(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch {
    return null;
  }
}
