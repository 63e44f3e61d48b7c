/** Which repositories the user trusts: their settings may run commands and let tools pass. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { realOrItself } from './places.ts';

const stored = z.object({
  version: z.literal(1),
  /** By real path. */
  folders: z.record(z.string(), z.object({ since: z.string() })),
});

type Stored = z.output<typeof stored>;

/** Whom the user trusts. */
export interface Trust {
  /** True when the user agreed to this very folder; its parents and children count for nothing. */
  readonly isTrusted: (folder: string) => boolean;
  /** Remembers that the user agreed. Throws an `Error` with one sentence when that cannot be written. */
  readonly trust: (folder: string) => void;
}

/** Where to remember it. */
export interface TrustOptions {
  /** Default: the home folder of the user. */
  readonly home?: string;
}

/** The list in `~/.escapement/trusted.json`. A file that cannot be read trusts nobody. */
export function createTrust({ home = homedir() }: TrustOptions = {}): Trust {
  const file = join(home, '.escapement', 'trusted.json');
  return {
    isTrusted: (folder) => {
      const known = readTrusted(file);
      return typeof known !== 'string' && Object.hasOwn(known.folders, realOrItself(folder));
    },
    trust: (folder) => {
      const known = readTrusted(file);
      if (typeof known === 'string') throw new Error(known);
      const folders = { ...known.folders, [realOrItself(folder)]: { since: new Date().toISOString() } };
      writeTrusted(file, { version: 1, folders });
    },
  };
}

function readTrusted(file: string): Stored | string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { version: 1, folders: {} };
    return `The list of trusted folders ${file} cannot be read: ${(error as Error).message}`;
  }
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    return `The file ${file} is no list of trusted folders: put it right or remove it.`;
  }
}

/** A file that is written half must trust nobody by accident: it is put in place whole. */
function writeTrusted(file: string, list: Stored): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}.tmp`;
    writeFileSync(draft, `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    throw new Error(`The list of trusted folders ${file} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
