/** The .gitignore files that hold for a folder and what is below it, read as the search gets there. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { isWithin } from '../paths.ts';

/** Folders of version control systems: never searched. */
const internals = new Set(['.git', '.hg', '.svn', '.jj']);

/** Says of absolute paths below a folder whether git would ignore them. Each .gitignore file is read once. */
export class IgnoreRules {
  readonly #top: string;
  readonly #byFolder = new Map<string, Ignore | null>();

  /** `base` is a real absolute folder; rules above it hold up to the root of its repository. */
  constructor(base: string) {
    this.#top = repositoryRoot(base) ?? base;
    // A folder that was named although it is ignored is wanted: then only the rules in it count.
    if (this.#top !== base && this.ignores(base, true)) {
      this.#top = base;
      this.#byFolder.clear();
    }
  }

  /** The parents of `path` are taken to be not ignored: a search never goes into one that is. */
  ignores(path: string, isFolder: boolean): boolean {
    const name = path.slice(path.lastIndexOf(sep) + 1);
    if (internals.has(name)) return true;
    // The file nearest to the path has the last word.
    for (let folder = dirname(path); isWithin(this.#top, folder); folder = dirname(folder)) {
      const word = this.#wordOf(folder, path, isFolder);
      if (word !== null) return word;
      if (folder === dirname(folder)) break;
    }
    return false;
  }

  #wordOf(folder: string, path: string, isFolder: boolean): boolean | null {
    const rules = this.#rulesIn(folder);
    if (rules === null) return null;
    const way = relative(folder, path).split(sep).join('/');
    const { ignored, unignored } = rules.test(isFolder ? `${way}/` : way);
    if (ignored) return true;
    return unignored ? false : null;
  }

  #rulesIn(folder: string): Ignore | null {
    const known = this.#byFolder.get(folder);
    if (known !== undefined) return known;
    const rules = readRules(join(folder, '.gitignore'));
    this.#byFolder.set(folder, rules);
    return rules;
  }
}

function readRules(path: string): Ignore | null {
  try {
    // git heeds the case of letters on Linux; elsewhere it asks the file system, which mostly does not.
    return ignore({ ignorecase: process.platform !== 'linux' }).add(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

function repositoryRoot(base: string): string | null {
  for (let folder = base; ; folder = dirname(folder)) {
    if (statSync(join(folder, '.git'), { throwIfNoEntry: false }) !== undefined) return folder;
    if (folder === dirname(folder)) return null;
  }
}
