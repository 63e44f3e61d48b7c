/** Golden journals: recorded once from scenario files, and replayed by every later version. */
import { readdirSync, readFileSync } from 'node:fs';
import type { LoopEvent } from '../../src/core/event.ts';
import type { RecordedQuery } from '../../src/session/journal.ts';

export const goldenFolder = new URL('../golden/', import.meta.url);

/** Paths of the journals below the folder, without the ending, in order. */
export function goldenNames(): readonly string[] {
  const files = readdirSync(goldenFolder, { recursive: true, encoding: 'utf8' });
  return files.flatMap((file) => (file.endsWith('.jsonl') ? [file.slice(0, -'.jsonl'.length)] : [])).toSorted();
}

/** One line for the beginning and one for each event. */
export function journalText({ version, config, initial, events }: RecordedQuery): string {
  return [{ version, config, initial }, ...events].map((part) => `${JSON.stringify(part)}\n`).join('');
}

export function readGolden(name: string): RecordedQuery {
  const [head = '', ...events] = readFileSync(new URL(`${name}.jsonl`, goldenFolder), 'utf8')
    .trimEnd()
    .split('\n');
  const begun = JSON.parse(head) as Omit<RecordedQuery, 'events'>;
  return { ...begun, events: events.map((line) => JSON.parse(line) as LoopEvent) };
}
