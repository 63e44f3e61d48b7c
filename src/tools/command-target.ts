/** What a command line shows to rules: its parts, and the files that it names with where they really are. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isGuarded, isWithinAny } from './paths.ts';
import { readShell, type ShellReading } from './shell/read-shell.ts';
import { type NamedFile, namedFiles } from './shell/touched-files.ts';

/** A file that a command line names. */
export interface TouchedFile extends NamedFile {
  /** Absolute paths that it may have, as written and as they really are; null when they are not known. */
  readonly paths: readonly string[] | null;
  /** All of them are in the workspace, and none in a folder that changes what runs or what is allowed. */
  readonly isInside: boolean;
}

/** A command line as rules see it. */
export interface CommandTarget {
  readonly type: 'command';
  readonly command: string;
  readonly reading: ShellReading;
  readonly files: readonly TouchedFile[];
  /** It changes folders only within the workspace. */
  readonly staysInside: boolean;
}

/** Where a command line is run. */
export interface CommandPlace {
  readonly cwd: string;
  readonly roots: readonly string[];
  /** Where a path really leads; the path itself when that cannot be told. */
  readonly realPath: (path: string) => Promise<string>;
}

/** Folders that a line may be in after its `cd`s; more of them are not followed. */
const mostFolders = 16;

/** Reads a command line and looks up the files that it names. Rejects for nothing. */
export async function commandTarget(command: string, place: CommandPlace): Promise<CommandTarget> {
  const reading = readShell(command);
  const folders = foldersOf(reading, place.cwd);
  const files = await Promise.all(namedFiles(reading).map((file) => touched(file, folders, place)));
  const staysInside = folders !== null && (await areInside(folders, place));
  return { type: 'command', command, reading, files, staysInside };
}

/** Every folder that a command of the line may start in; null when a `cd` leads to one that is not known. */
function foldersOf({ folders }: ShellReading, cwd: string): readonly string[] | null {
  const found = new Set([cwd]);
  for (const folder of folders) {
    if (folder === null) return null;
    const bases = Array.from(found);
    for (const base of bases) found.add(resolve(base, folder));
    if (found.size > mostFolders) return null;
  }
  return [...found];
}

async function areInside(folders: readonly string[], { roots, realPath }: CommandPlace): Promise<boolean> {
  const real = await Promise.all(folders.map(realPath));
  return [...folders, ...real].every((folder) => isWithinAny(roots, folder) && !isGuarded(folder));
}

async function touched(file: NamedFile, folders: readonly string[] | null, place: CommandPlace): Promise<TouchedFile> {
  const written = pathOf(file);
  if (written === null || folders === null) return { ...file, paths: null, isInside: false };
  const absolute = folders.map((folder) => resolve(folder, written));
  const paths = [...new Set([...absolute, ...(await Promise.all(absolute.map(place.realPath)))])];
  const isInside = paths.every(
    (path) => isWithinAny(place.roots, path) && (file.access === 'read' || !isGuarded(path)),
  );
  return { ...file, paths, isInside };
}

/** The path that a word names; null where the shell puts something in. */
function pathOf({ word }: NamedFile): string | null {
  const { value, source } = word;
  if (value === null || value.includes('\0')) return null;
  if (!source.startsWith('~')) return value;
  return value === '~' || value.startsWith('~/') ? join(homedir(), value.slice(1)) : null;
}
