/** Where results go that are too long for the model: it gets a preview and the path. */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Keeps results that are too long for the model, for as long as the session lasts. */
export interface ResultStore {
  /** Absolute real path of the folder that holds the results, which tools may read; null when there is none on disk. */
  readonly folder: string | null;
  /** Keeps a text and says where. Contract: may reject; the result is then cut without a path. */
  readonly put: (toolUseId: string, text: string) => string | Promise<string>;
}

/** A store in a folder, made at the first result. The folder should lie outside the workspace and belong to the session. */
export function createFileStore(path: string): ResultStore {
  const folder = realFolder(resolve(path));
  return {
    folder,
    async put(toolUseId, text) {
      // Results hold whatever the tools read: nobody else on the machine needs to see them.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, fileName(toolUseId));
      await writeFile(file, text, { mode: 0o600 });
      return file;
    },
  };
}

/** The real path of a folder that need not exist yet. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return dirname(folder) === folder ? folder : join(realFolder(dirname(folder)), basename(folder));
  }
}

/** A store without a disk, with paths that depend on the ids alone: for simulations and tests. */
export interface MemoryStore extends ResultStore {
  /** What is kept, by path. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Keeps results in memory under `/results/<tool use id>.txt`. */
export function createMemoryStore(): MemoryStore {
  const texts = new Map<string, string>();
  return {
    folder: null,
    texts,
    put(toolUseId, text) {
      const path = `/results/${fileName(toolUseId)}`;
      texts.set(path, text);
      return path;
    },
  };
}

/** Ids come from the model: one that is no plain name is replaced by its hash, so that it leads nowhere else. */
function fileName(toolUseId: string): string {
  if (/^[a-zA-Z0-9_-]{1,128}$/.test(toolUseId)) return `${toolUseId}.txt`;
  return `${createHash('sha256').update(toolUseId).digest('hex')}.txt`;
}
