/** The memory of a query: AGENTS.md and CLAUDE.md files of the user and the project. */
import { homedir } from 'node:os';
import type { PermissionRule } from '../core/tools/context.ts';
import { hiddenBy } from '../tools/permission-rules.ts';
import { loadMemory, type MemoryPlace } from './load-memory.ts';
import { startMemoryText } from './memory-text.ts';
import { NestedMemory } from './nested-memory.ts';
import { foldersBetween, memoryPathsOf, repositoryOf, userMemoryPaths } from './places.ts';

/** Which memory files a query reads. */
export interface MemoryOptions {
  /** Home folder of the user-level files `.claude/CLAUDE.md` and `.escapement/AGENTS.md`; null: none. Default: the home folder. */
  readonly home?: string | null;
}

/** What the memory of a query needs to know. */
export interface MemoryDeps {
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly rules: readonly PermissionRule[];
}

/** What stands in the system prompt, and what could not. */
export interface StartMemory {
  readonly text: string;
  readonly notices: readonly string[];
}

export class Memory {
  readonly nested: NestedMemory;
  readonly #deps: MemoryDeps;
  readonly #home: string | null;
  #known: ReadonlySet<string> = new Set();

  constructor({ home = homedir() }: MemoryOptions, deps: MemoryDeps) {
    this.#deps = deps;
    this.#home = home;
    this.nested = new NestedMemory({ ...deps, home, isKnown: (path) => this.#known.has(path) });
  }

  /** Reads what the query starts with: user level, then from the repository's folder down to `cwd`. Never rejects. */
  async start(): Promise<StartMemory> {
    const { cwd, rules, roots } = this.#deps;
    const repository = await repositoryOf(cwd);
    const isHidden = hiddenBy(rules, ['Read'], cwd);
    const ofUser = this.#home === null ? [] : userMemoryPaths(this.#home);
    const ofProject = foldersBetween(repository, cwd).flatMap(memoryPathsOf);
    const within = [repository, ...roots];
    const places: readonly MemoryPlace[] = [
      ...ofUser.map((path) => ({ path, within: null, isHidden, level: 'user' as const })),
      ...ofProject.map((path) => ({ path, within, isHidden, level: 'project' as const })),
    ];
    const { files, notices } = await loadMemory(places, this.#home);
    this.#known = new Set(files.map(({ realPath }) => realPath));
    return { text: startMemoryText(files), notices };
  }
}
