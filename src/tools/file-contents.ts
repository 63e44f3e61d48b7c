/** Contents of files that tools have read or written, so that a later change can be shown as a diff. */
import { createHash } from 'node:crypto';

/** Contents by their hash: the same content of two queries is one. */
export interface FileContents {
  readonly keep: (content: Buffer) => void;
  /** The content with this SHA-256 in hex, or null when it is not kept any more. */
  readonly find: (hash: string) => Buffer | null;
}

/** Largest content that is kept, in bytes. */
export const largestKept = 512 * 1024;
/** All contents together, in bytes. */
const totalBytes = 16 * 1024 * 1024;

/** Keeps contents in memory: files up to 512 KiB, 16 MiB in all, the newest. Give one to all queries of a session. */
export function createFileContents(): FileContents {
  const contents = new Map<string, Buffer>();
  let total = 0;
  const drop = (hash: string): void => {
    total -= contents.get(hash)?.length ?? 0;
    contents.delete(hash);
  };
  return {
    keep(content) {
      if (content.length > largestKept) return;
      const hash = createHash('sha256').update(content).digest('hex');
      drop(hash);
      contents.set(hash, content);
      total += content.length;
      for (const oldest of contents.keys()) {
        if (total <= totalBytes) return;
        drop(oldest);
      }
    },
    find: (hash) => contents.get(hash) ?? null,
  };
}
