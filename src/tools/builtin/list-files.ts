/** Lists files below a folder: by a glob, without what git ignores, without following links. */
import { type Dirent, readdir, realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { glob } from 'tinyglobby';
import { isWithin } from '../paths.ts';
import { count } from '../../core/text.ts';
import type { ToolRunContext } from '../tool.ts';
import { checkedPath, FileProblem } from './file-access.ts';
import { IgnoreRules } from './ignore-rules.ts';

/** A folder to be searched, or the one file that was named. */
export interface SearchBase {
  /** Real absolute path. */
  readonly path: string;
  readonly isFile: boolean;
}

/** Where a search may start. Throws a `FileProblem` for a path that does not exist or may not be read. */
export async function searchBase(path: string, context: ToolRunContext): Promise<SearchBase> {
  const real = await checkedPath(path, context, 'read');
  const stats = await stat(real).catch(() => null);
  if (stats === null) throw new FileProblem(`${path} does not exist. The working folder is ${context.cwd}.`);
  if (!stats.isDirectory() && !stats.isFile()) throw new FileProblem(`${path} is neither a file nor a folder.`);
  return { path: real, isFile: stats.isFile() };
}

/**
 * Real absolute paths of the files below a folder that match `pattern`, in the order of their paths. A leading `!` asks
 * for those that do not match. Hidden files are listed, files that deny or ask rules keep back are not.
 */
export async function listFiles(folder: string, pattern: string, context: ToolRunContext): Promise<readonly string[]> {
  const rules = new IgnoreRules(folder);
  const negated = pattern.startsWith('!') && !pattern.startsWith('!(');
  const wanted = checkedPattern(negated ? pattern.slice(1) : pattern, folder);
  const found = await glob(negated ? '**/*' : wanted, {
    cwd: folder,
    dot: true,
    expandDirectories: false,
    followSymbolicLinks: false,
    ignore: negated ? [wanted] : [],
    fs: { readdir: filteredReaddir(folder, rules) },
    signal: context.signal,
  });
  return found
    .map((path) => join(folder, path))
    .filter((path) => isWithin(folder, path) && !context.isHidden(path))
    .toSorted();
}

/** A pattern that stays below the folder; an absolute one is made relative. Throws a `FileProblem` for any other. */
function checkedPattern(pattern: string, folder: string): string {
  const inside = isAbsolute(pattern) ? relative(folder, pattern).split(sep).join('/') : pattern;
  if (isAbsolute(inside) || /(?:^|[/{,(|])\.\.(?:[/},)|]|$)/.test(inside)) {
    throw new FileProblem(
      `The pattern ${pattern} leads out of ${folder}: give the folder as path and a pattern below it.`,
    );
  }
  return inside.replace(/^\.\//, '');
}

type ReaddirDone = (error: NodeJS.ErrnoException | null, files: Dirent[]) => void;

/** What is ignored is taken out where folders are read, so that nobody walks through node_modules to throw it away. */
function filteredReaddir(base: string, rules: IgnoreRules): typeof readdir {
  const filtered = (folder: string, options: { withFileTypes: true }, done: ReaddirDone): void => {
    if (!isRealFolderIn(base, folder)) {
      done(null, []);
      return;
    }
    readdir(folder, options, (error, files) => {
      const kept = (files ?? []).filter((file) => !rules.ignores(join(folder, file.name), file.isDirectory()));
      done(error, kept);
    });
  };
  // Called in this one way by the crawler.
  return filtered as unknown as typeof readdir;
}

/** False for a folder outside of `base` and for one that a pattern reaches through a link (`link/**`). */
function isRealFolderIn(base: string, folder: string): boolean {
  const path = resolve(folder);
  try {
    return isWithin(base, path) && realpathSync(path) === path;
  } catch {
    return false;
  }
}

/** How a path is shown: relative to the working folder where it is below it. */
export function shownPath(path: string, { cwd }: ToolRunContext): string {
  return isWithin(cwd, path) ? relative(cwd, path) || '.' : path;
}

/** A file and its age. */
export interface DatedFile {
  readonly path: string;
  /** Modification time in milliseconds. */
  readonly mtimeMs: number;
}

/** Newest first; files of one time in the order of their paths, so that the same folder gives the same list. */
export function newestFirst(files: readonly DatedFile[]): readonly DatedFile[] {
  return files.toSorted((left, right) => right.mtimeMs - left.mtimeMs || (left.path < right.path ? -1 : 1));
}

/** A list cut to `limit` entries, with a notice when something is left out. */
export function limited(entries: readonly string[], limit: number, noun: string): string {
  if (entries.length <= limit) return entries.join('\n');
  return `${entries.slice(0, limit).join('\n')}\n(The first ${limit} of ${count(entries.length, noun)}; narrow the search to see others.)`;
}
