/** A journal as text: what every event did to the state, and what the outside had to do then. */
import { createHash } from 'node:crypto';
import type { LoopConfig } from '../../src/core/config.ts';
import type { Effect } from '../../src/core/effect.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import type { LoopState } from '../../src/core/state.ts';
import { clearOutbox, firstRow, follow, step } from '../../src/core/step.ts';
import type { RecordedQuery } from '../../src/session/journal.ts';

/** A value whose JSON is longer than this is told by its beginning and its digest. */
const longestValue = 160;

export function traceOf({ config, initial, events }: RecordedQuery): string {
  let state = initial;
  const lines = events.flatMap((event, index) => {
    const before = clearOutbox(state);
    const { state: after, effects } = step(state, event, config);
    state = after;
    return [
      `${index} ${event.type}`,
      ...rowsOf(before, event, config).map((name) => `  row ${name}`),
      ...changes('', { ...before, outbox: [] }, { ...after, outbox: [] }),
      ...effects.map((effect) => `  ${effectText(effect)}`),
    ];
  });
  // The ids of a query differ in their last digits only: `~2` reads better than a whole uuid.
  return `${lines.join('\n')}\n`.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4000-8000-0*([0-9a-f]+)\b/g, '~$1');
}

function rowsOf(before: LoopState, event: LoopEvent, config: LoopConfig): string[] {
  const names: string[] = [];
  let state = before;
  for (let row = firstRow(state, event, config, false); row !== null; row = firstRow(state, event, config, true)) {
    names.push(row.name);
    state = follow(row, state, event, config);
  }
  return names;
}

/** A line for each place in which two values differ. */
function changes(path: string, before: unknown, after: unknown): string[] {
  if (before === after) return [];
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after)) {
    const [was, is] = [valueText(before), valueText(after)];
    return was === is ? [] : [`  ${path}: ${was} -> ${is}`];
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changes(path === '' ? key : `${path}.${key}`, before[key], after[key]));
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function effectText(effect: Effect): string {
  const { type, ...rest } = effect;
  if (effect.type !== 'streamModel' && effect.type !== 'compact') return `${type} ${valueText(rest)}`;
  const { request, ...others } = effect;
  const { messages, tools, system, ...settings } = request;
  return `${type} ${JSON.stringify({ ...others, type: undefined })} ${JSON.stringify(settings)} ${messages.length} messages, ${digest(JSON.stringify([messages, tools, system]))}`;
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= longestValue
    ? text
    : `${text.slice(0, longestValue / 2)}… (${text.length} characters, ${digest(text)})`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
