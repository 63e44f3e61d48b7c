/** Thinking blocks, output limits, malformed and odd answers. */
import { expect } from 'vitest';
import type { SimulationResult } from '../../../src/testing/simulation-result.ts';
import {
  type Block,
  blocksOf,
  ending,
  holds,
  lastOf,
  linesOf,
  models,
  results,
  type Right,
  shown,
} from '../../support/simulated.ts';

export const answers: Right = {
  // The server refuses a fixed budget in a cycle that began without: the run is legal, and thinking is back with the user.
  B30: thinksWhenTheUserSpeaks,
  B30b: thinksWhenTheUserSpeaks,
  B30c: (result) => {
    expect(signatures(result, 0)).toEqual([]);
    // Only the request goes without: the history keeps it for the turn in which thinking is on again.
    expect(holds(result.messages, 's1')).toBe(true);
  },
  B30d: (result) => expect(signatures(result, 2)).toEqual(['s1']),
  B31: (result) => {
    // Not only left out of the request: it is gone from the history, for good.
    expect(holds(result.messages, 'of the first')).toBe(false);
    expect(models(result).at(-1)?.model).toBe('second');
  },
  B32: (result) => {
    const answer = firstAnswer(result);
    expect(answer.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use', 'thinking', 'tool_use']);
    expect(answer.map((block) => block['signature']).filter(Boolean)).toEqual(['s1', 's2']);
  },
  B32b: (result) => {
    expect(firstAnswer(result)).toEqual([
      { type: 'thinking', thinking: 'one ', signature: 's1' },
      { type: 'thinking', thinking: 'two ', signature: 's2' },
      { type: 'tool_use', id: 't2', name: 'read', input: { of: 2 } },
      { type: 'tool_use', id: 't1', name: 'read', input: { of: 1 } },
    ]);
    expect(result.counts.toolRuns).toBe(2);
  },
  // Dropped once, and stored; what was thought after the change is bound to it and stays.
  B33: (result) => {
    expect([0, 1, 2, 3].map((request) => signatures(result, request))).toEqual([[], ['s1'], [], ['s3']]);
    expect(holds(result.messages, 's2')).toBe(false);
  },
  B33b: (result) => expect(signatures(result, 1)).toEqual(['s1']),
  B34: (result) => {
    expect(firstAnswer(result)).toEqual([
      { type: 'thinking', thinking: '', signature: 's1' },
      { type: 'tool_use', id: 't1', name: 'read', input: {} },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'tool_use', id: 't2', name: 'read', input: {} },
    ]);
  },
  B35: (result) => {
    expect([ending(result), result.counts.modelCalls]).toEqual(['completed empty', 2]);
    expect(result.terminal?.detail).not.toBeNull();
  },
  B36: cutToolCall,
  B36b: cutToolCall,
  B37: (result) => {
    expect(result.counts.toolRuns).toBe(0);
    expect(results(result)[0]?.[1]).toBe(true);
    expect(results(result)[0]?.[2]).toContain('{a:1}');
  },
  B39: (result) => {
    expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect(result.messages.every(({ content }) => content.length > 0)).toBe(true);
    expect(lastOf(result, 2).map(({ type }) => type)).toEqual(['tool_result', 'text']);
  },
  B42: (result) => isAskedToGoOn(result, 0),
  B43: (result) => {
    expect(models(result)[1]?.messages.at(-1)?.content).toEqual([
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { q: 'x' } },
    ]);
    expect(models(result)[2]?.messages).toHaveLength(2);
    expect(ending(result)).toBe('completed done');
  },
  B43b: (result) => {
    expect([ending(result), result.counts.modelCalls]).toEqual(['model_error', 11]);
    expect(result.terminal?.detail).toBe('pause_turn_exhausted');
  },
  // Nothing that could be waited for: an answer cannot stand last, and is asked to go on.
  B43c: (result) => isAskedToGoOn(result, 1),
  B44: (result) => {
    // What has its result stays, the other use goes with the result that never came.
    expect(models(result)[1]?.messages[1]?.content.map((block) => block['id'] ?? block.type)).toEqual([
      'text',
      's1',
      'web_search_tool_result',
    ]);
    expect(ending(result)).toBe('completed done');
  },
  B45: (result) => {
    expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['refusal', 'done']);
    expect(shown(result, 'tombstone')).toHaveLength(1);
    expect(holds(models(result)[1]?.messages, 'bad')).toBe(false);
    expect(lastOf(result, 1).map(({ text }) => text)).toEqual(['hi']);
  },
  B48: (result) => {
    expect([ending(result), result.counts.stopHookRuns]).toEqual(['model_error', 0]);
    expect(result.terminal?.failure?.message).toContain('some_future_reason');
  },
  B48b: (result) => {
    expect([ending(result), result.counts.stopHookRuns, result.counts.modelCalls]).toEqual(['model_error', 0, 2]);
    expect(result.messages).toHaveLength(1);
  },
};

/** Signatures of the thinking in the n-th request. */
function signatures(result: SimulationResult, request: number): readonly unknown[] {
  return blocksOf(models(result)[request]?.messages ?? []).flatMap(({ type, signature }) =>
    type === 'thinking' ? [signature] : [],
  );
}

/** No request of the cycle holds thinking; what is thought in the next turn is sent back. */
function thinksWhenTheUserSpeaks(result: SimulationResult): void {
  expect(signatures(result, models(result).length - 2)).toEqual([]);
  expect(signatures(result, models(result).length - 1)).toHaveLength(1);
  expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
}

/** The first answer as the second request holds it. */
function firstAnswer(result: SimulationResult): readonly Block[] {
  return models(result)[1]?.messages[1]?.content ?? [];
}

/** The n-th request ends with a marked message of the user, which is stored: later requests begin with the same bytes. */
function isAskedToGoOn(result: SimulationResult, request: number): void {
  expect(models(result)[request]?.messages.at(-1)?.role).toBe('user');
  expect(holds(lastOf(result, request), 'Go on.')).toBe(true);
  const asked = linesOf(result, request);
  expect(linesOf(result, request + 1).slice(0, asked.length)).toEqual(asked);
  expect(ending(result)).toBe('completed done');
}

function cutToolCall(result: SimulationResult): void {
  expect(result.counts.toolRuns).toBe(0);
  expect(result.transitions).toEqual([
    'max_output_tokens_escalate',
    ...Array.from({ length: 3 }, () => 'max_output_tokens_recovery'),
  ]);
  expect(ending(result)).toBe('completed output_limit');
  expect(blocksOf(result.messages).filter(({ type }) => type === 'tool_use')).toEqual([]);
}
