/** What the tests of the binary share: a scripted server, a folder to work in, waiting. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { ScriptedModel } from '../../src/testing/scripted-model.ts';
import { listen } from '../../src/testing/scripted-server.ts';

/** Serves a script on loopback until the test is over. */
export async function serve(
  script: readonly ModelEntry[],
  summary: readonly ModelEntry[] = [],
): Promise<{ url: string; model: ScriptedModel }> {
  const limits = { contextWindow: 200_000, maxOutput: 64_000 };
  const model = new ScriptedModel({ model: script, summary, limits, clock: systemClock, profile: 'plain' });
  const server = await listen(model);
  onTestFinished(() => server.close());
  return { url: server.url, model };
}

/** A temporary folder with files. */
export function workspace(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-cli-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** True for a file that is there and not empty. */
export function exists(path: string): boolean {
  try {
    return readFileSync(path, 'utf8') !== '';
  } catch {
    return false;
  }
}

/** Waits for a real process to get somewhere. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

export const done: ModelEntry = { stream: [{ text: 'All ' }, { text: 'done.' }, { stop: 'end_turn' }] };
