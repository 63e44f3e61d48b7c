/** Where memory files stand. */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isWithin } from '../tools/paths.ts';

/** In each folder of a project, in this order: what stands later is read later and weighs more. */
const projectNames = ['AGENTS.md', 'CLAUDE.md', join('.claude', 'CLAUDE.md'), 'CLAUDE.local.md'] as const;
/** Below the home folder. */
const userNames = [join('.escapement', 'AGENTS.md'), join('.claude', 'CLAUDE.md')] as const;

/** The memory files that a folder may have. */
export function memoryPathsOf(folder: string): readonly string[] {
  return projectNames.map((name) => join(folder, name));
}

/** The memory files that a user may have. */
export function userMemoryPaths(home: string): readonly string[] {
  return userNames.map((name) => join(home, name));
}

/** The folder of the repository that `cwd` belongs to, where `.git` stands; `cwd` itself where there is none. */
export async function repositoryOf(cwd: string): Promise<string> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return cwd;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The folders from `top` down to `folder`, both included; none when `folder` is not below `top`. */
export function foldersBetween(top: string, folder: string): readonly string[] {
  if (!isWithin(top, folder)) return [];
  const folders = [folder];
  while (folders[0] !== undefined && folders[0] !== top) folders.unshift(dirname(folders[0]));
  return folders;
}
