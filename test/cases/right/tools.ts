/** Tool uses and their results, permissions, values of tools. */
import { expect } from 'vitest';
import type { SimulationResult } from '../../../src/testing/simulation-result.ts';
import {
  type Block,
  ending,
  holds,
  lastOf,
  linesOf,
  models,
  results,
  type Right,
  shown,
  verdicts,
} from '../../support/simulated.ts';

/** Blocks of the n-th request, one line each: the role, the id, the words. */
function linesIn(result: SimulationResult, request: number): readonly string[] {
  return (models(result)[request]?.messages ?? []).flatMap(({ role, content }) =>
    content.map(({ id, tool_use_id: answers, text, content: parts }) => {
      const [part] = (parts ?? []) as readonly Block[];
      return [role, id ?? answers, text ?? part?.['text']].filter((word) => typeof word === 'string').join(' ');
    }),
  );
}

export const tools: Right = {
  B21: (result) => {
    expect(verdicts(result)).toEqual([['t1', true]]);
    expect(lastOf(result, 1).map(({ type }) => type)).toEqual(['tool_result', 'text', 'text']);
    expect(lastOf(result, 1).at(-1)?.['text']).toBe('next');
    expect(ending(result)).toBe('completed done');
  },
  B23: (result) => {
    expect(results(result)).toEqual([]);
    expect(shown(result, 'tombstone')).toHaveLength(3);
    expect(models(result).map(({ model }) => model)).toEqual([
      ...Array.from({ length: 3 }, () => 'scripted-model'),
      'second',
    ]);
  },
  B25: (result) => {
    expect(result.counts.toolRuns).toBe(1);
    expect(verdicts(result)).toEqual([['t1', true]]);
    expect(results(result)[0]?.[2]).toContain('Interrupted');
  },
  B25b: (result) => {
    expect(result.counts.toolRuns).toBe(2);
    expect(verdicts(result)).toEqual([['t1', false]]);
  },
  B27: (result) => {
    expect(lastOf(result, 1).map((block) => block['tool_use_id'] ?? block['text'])).toEqual(['t1', 't2', 'and this']);
    expect(JSON.stringify(lastOf(result, 1)[0])).toContain('slow');
  },
  // The result goes behind its call; what the host said between them is not lost.
  B28: (result) => {
    expect(linesIn(result, 0)).toEqual(['user go', 'user note', 'assistant t1', 'user t1 found', 'user next']);
    expect(linesIn(result, 1).slice(0, 5)).toEqual(linesIn(result, 0));
  },
  B28b: (result) => {
    expect(linesIn(result, 0).slice(3)).toEqual(['user t1 first', 'user t2 second', 'user note', 'user next']);
    // Stored so: no cut can separate a call from its result.
    expect(result.messages[2]?.content).toHaveLength(2);
  },
  B28c: (result) => {
    expect(verdicts(result)).toEqual([['t1', true]]);
    expect(holds(result.messages, 'found')).toBe(false);
  },
  B28d: (result) => {
    expect(lastOf(result, 1).map((block) => block['tool_use_id'] ?? block['text'])).toEqual(['t1', 'note']);
    expect(result.queued).toEqual([]);
  },
  B29: (result) => {
    const ids = results(result).map(([id]) => id);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(result.counts.toolRuns).toBe(4);
  },
  B41: (result) => {
    expect(models(result)[0]?.messages[0]?.content).toHaveLength(1);
    expect(results(result)[0]?.[2]).toContain('(no output)');
  },
  B49: (result) => {
    expect(verdicts(result)).toEqual([
      ['t1', true],
      ['t2', true],
      ['t3', true],
      ['t4', true],
      ['t5', false],
    ]);
    expect(results(result)[0]?.[2]).toContain('No tool goes by the name');
    const names = models(result)[1]?.messages[1]?.content.map((block) => String(block['name'])) ?? [];
    expect(names.slice(0, 3)).toEqual(['ls_-la__', 'a_b', 'unknown_tool']);
    expect(names[3]).toHaveLength(64);
    expect(result.counts.toolRuns).toBe(1);
  },
  B56: (result) => {
    expect([ending(result), result.ms]).toEqual(['aborted_tools', 2_000]);
    expect(results(result)[0]?.[2]).toContain('may still be running');
  },
  // The child has asked twice, never a third time; its parent's call has a result, and the next query goes on.
  B60: (result) => {
    expect(models(result).map(({ model }) => model)).toEqual([
      'scripted-model',
      'agent-scout',
      'agent-scout',
      'scripted-model',
    ]);
    expect(result.terminals.map(({ reason }) => reason)).toEqual(['aborted_tools', 'completed']);
    expect(verdicts(result)).toEqual([['t1', true]]);
  },
  B60b: (result) => {
    expect(models(result).filter(({ model }) => model.startsWith('agent-'))).toHaveLength(3);
    expect(result.terminals.map(({ reason }) => reason)).toEqual(['aborted_tools', 'completed']);
    expect(verdicts(result)).toEqual([
      ['t1', true],
      ['t2', true],
    ]);
  },
  // Each output is sent as it came with the turn that it belongs to, and no call runs or is asked about twice.
  B62: (result) => {
    expect(result.counts.toolRuns).toBe(3);
    expect(lastOf(result, 2).map(({ tool_use_id: id }) => id)).toEqual(['t3']);
    const before = linesOf(result, 1);
    expect(linesOf(result, 2).slice(0, before.length)).toEqual(before);
    expect(result.events.filter(({ type }) => type === 'tool.decided')).toHaveLength(3);
  },
  // The crash comes between the second approval and its result: the third answer would be a denial, and nobody asks for it.
  B62b: (result) => {
    expect(result.counts.toolRuns).toBe(4);
    expect(verdicts(result)).toEqual([
      ['t1', false],
      ['t2', false],
      ['t3', false],
    ]);
    expect(result.events.filter(({ type }) => type === 'tool.decided')).toHaveLength(3);
  },
  B63: (result) => {
    // The approval holds for what was approved, also after the crash; for other arguments the user is asked again.
    expect(results(result).map(([, isError]) => isError)).toEqual([false, true]);
    expect(holds(lastOf(result, 2), 'The scripted user says no.')).toBe(true);
    // Once before the crash, once after it; never with the other arguments.
    expect(result.counts.toolRuns).toBe(2);
    expect(result.events.filter(({ type }) => type === 'tool.decided')).toHaveLength(2);
  },
  // The waiting call is answered before the words of the user, as one that never ran; the new one is asked about by itself.
  B64: (result) => {
    expect(result.terminals.map(({ reason }) => reason)).toEqual(['aborted_tools', 'completed']);
    expect(lastOf(result, 1).map((block) => block['tool_use_id'] ?? block['text'])).toEqual(['t1', 'hello', 'go on']);
    expect(JSON.stringify(lastOf(result, 1)[0])).toContain('before it began');
    expect(verdicts(result)).toEqual([
      ['t1', true],
      ['t2', false],
    ]);
    expect(result.counts.toolRuns).toBe(1);
  },
  B65: (result) => {
    expect(results(result).map(([, isError]) => isError)).toEqual([false, true]);
    expect(result.counts.toolRuns).toBe(1);
  },
  B67: (result) => {
    expect(lastOf(result, 1).map(({ type }) => type)).toEqual(['tool_result', 'tool_result', 'image']);
    expect(verdicts(result)).toEqual([
      ['t1', true],
      ['t2', false],
    ]);
  },
  B68: (result) => {
    expect(ending(result)).toBe('completed done');
    expect(linesOf(result, 2).join('\n')).not.toMatch(/\\ud83d|\\ude00/);
    expect(lastOf(result, 2).map(({ text }) => text)).toEqual(['e\ufffd', 'f\ufffd']);
  },
  // Listeners, timers and processes left behind are violations of every simulation.
  B73: (result) => expect([result.counts.toolRuns, result.violations]).toEqual([2_500, []]),
  B75a: (result) => expect(advice(result)).toEqual([]),
  B75b: (result) => expect(advice(result)).toEqual([expect.stringMatching(/^<loop-note>read was called 10 times/)]),
  B75c: (result) => expect(advice(result)).toEqual([]),
  B75d: (result) => expect(advice(result)).toEqual([expect.stringMatching(/^<loop-note>edit failed 10 times/)]),
};

/** Texts of the notes that advise the model. */
function advice(result: SimulationResult): readonly unknown[] {
  return result.messages.flatMap((message) =>
    message.role === 'user' && message.origin === 'advice'
      ? message.content.map((block) => 'text' in block && block.text)
      : [],
  );
}
