/** Where settings stand: which folder is the repository, and which files count, the strongest first. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Levels of settings files that a host may ask for. */
export type SettingSource = 'user' | 'project' | 'local';

/** The levels, the strongest first; `flag` is what was given by hand. */
export type SettingsLevel = 'flag' | 'local' | 'project' | 'user';

/** One file that may be there. */
export interface SettingsPlace {
  readonly level: SettingsLevel;
  /** Absolute path. */
  readonly file: string;
}

/** Own folder before that of Claude Code: at one level it is the stronger one. */
const folders = ['.escapement', '.claude'] as const;
const projectFiles = ['settings.json', 'settings.local.json'] as const;

/**
 * The folder whose settings hold for work in `cwd`, as its real path: from `cwd` upward, and not beyond the repository
 * (the folder with `.git`), the first with settings of a project; else the repository; else `cwd`.
 */
export function projectFolder(cwd: string): string {
  const start = realOrItself(cwd);
  const inside = upTo(start, (folder) => existsSync(join(folder, '.git')));
  const candidates = inside ?? [start];
  return candidates.find(hasProjectSettings) ?? candidates.at(-1) ?? start;
}

/** From a folder up to the first that is wanted, that one included; null when none is. */
function upTo(start: string, isWanted: (folder: string) => boolean): readonly string[] | null {
  const passed: string[] = [];
  for (let folder = start; ; folder = dirname(folder)) {
    passed.push(folder);
    if (isWanted(folder)) return passed;
    if (dirname(folder) === folder) return null;
  }
}

function hasProjectSettings(folder: string): boolean {
  return folders.some((own) => projectFiles.some((file) => existsSync(join(folder, own, file))));
}

/** The real path of a folder; where it cannot be followed, the path itself. */
export function realOrItself(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The files of the levels that are asked for, the strongest first. A file that is the user's own is not the project's too. */
export function settingsPlaces(
  sources: readonly SettingSource[],
  project: string,
  home: string,
): readonly SettingsPlace[] {
  const own = folders.map((folder) => ({ level: 'user' as const, file: join(home, folder, 'settings.json') }));
  const isUsers = (file: string): boolean => own.some((place) => realOrItself(place.file) === realOrItself(file));
  const ofProject = (level: 'local' | 'project', name: string): readonly SettingsPlace[] =>
    folders.map((folder) => ({ level, file: join(project, folder, name) })).filter(({ file }) => !isUsers(file));
  const all = [...ofProject('local', 'settings.local.json'), ...ofProject('project', 'settings.json'), ...own];
  return all.filter(({ level }) => (sources as readonly string[]).includes(level));
}
