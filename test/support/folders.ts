/** Temporary folders with files, for tests of what is read from a disk. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A real folder with files, gone after the test. A path that ends in `/` is a folder. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) put(folder, path, content);
  return folder;
}

/** Writes one file below `folder`. */
export function put(folder: string, path: string, content: string): void {
  const whole = join(folder, path);
  mkdirSync(path.endsWith('/') ? whole : dirname(whole), { recursive: true });
  if (!path.endsWith('/')) writeFileSync(whole, content);
}
