/** Joins fragments that wait for a slow consumer, so that what waits stays small. */
import type { Emitted, Observation } from '../core/output.ts';

/**
 * Puts `observation` into `waiting`: a text fragment is joined with the one before it, newest progress of a tool takes
 * the place of what still waits of it. The order of everything else stays.
 */
export function enqueueObservation(waiting: Emitted[], observation: Observation): void {
  const at = observation.type === 'progress' ? olderProgress(waiting, observation) : waiting.length - 1;
  const older = waiting[at];
  const joined = older === undefined ? null : join(older, observation);
  if (joined === null) waiting.push(observation);
  else waiting[at] = joined;
}

function olderProgress(waiting: readonly Emitted[], observation: Observation & { type: 'progress' }): number {
  return waiting.findLastIndex((other) => other.type === 'progress' && other.toolUseId === observation.toolUseId);
}

function join(older: Emitted, newer: Observation): Emitted | null {
  if (older.type === 'progress' && newer.type === 'progress') {
    return older.status === 'running' && newer.status === 'running' ? newer : null;
  }
  if (older.type !== 'delta' || newer.type !== 'delta') return null;
  if (older.messageId !== newer.messageId || older.index !== newer.index) return null;
  const [left, right] = [older.delta, newer.delta];
  if (left.type === 'tool_input' && right.type === 'tool_input') {
    return { ...older, delta: { type: 'tool_input', json: left.json + right.json } };
  }
  if ((left.type === 'text' && right.type === 'text') || (left.type === 'thinking' && right.type === 'thinking')) {
    return { ...older, delta: { type: left.type, text: left.text + right.text } };
  }
  return null;
}
