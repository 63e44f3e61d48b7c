/** Compaction, limits of the context, stop hooks and other hooks. */
import { expect } from 'vitest';
import type { SimulationResult } from '../../../src/testing/simulation-result.ts';
import {
  blocksOf,
  boundaries,
  ending,
  holds,
  linesOf,
  models,
  results,
  type Right,
  shown,
  verdicts,
} from '../../support/simulated.ts';

export const context: Right = {
  B01: (result) => {
    expect([ending(result), result.counts.summaryCalls]).toEqual(['blocking_limit', 3]);
    expect(result.terminal?.detail).toMatch(/the system prompt and the tools/);
  },
  B01b: (result) => {
    expect(ending(result)).toBe('blocking_limit');
    expect(boundaries(result)).toHaveLength(4);
    expect(result.terminal?.detail).toMatch(/the newest tool results/);
  },
  B02: failsOnce,
  B02b: failsOnce,
  B03: (result) => {
    expect([ending(result), result.counts.summaryCalls]).toEqual(['completed done', 2]);
    expect(boundaries(result)).toEqual(['auto_compact']);
  },
  B03b: (result) => {
    expect(result.terminals.map(({ reason }) => reason)).toEqual(['prompt_too_long', 'completed']);
    expect(holds(result.messages, 'only this')).toBe(true);
  },
  B11: (result) => {
    expect([ending(result), ...boundaries(result)]).toEqual(['completed done', 'auto_compact']);
    expect(verdicts(result)).toEqual([]);
  },
  B11b: (result) => expect([ending(result), result.counts.modelCalls]).toEqual(['completed api_error', 1]),
  // The first time all shrinks are used up; the second time only three inputs are left that were not refused.
  B11c: (result) => expect([ending(result), result.counts.summaryCalls]).toEqual(['completed done', 7]),
  B15: (result) => {
    const lines = linesOf(result, 0);
    expect(lines[0]).toMatch(/<loop-note>Summary of the conversation so far/);
    expect(lines.at(-1)).toContain('Say hello');
    expect([ending(result), result.counts.modelCalls]).toEqual(['completed done', 1]);
  },
  B15b: (result) => {
    expect(result.requests[0]?.messages.at(-1)?.content.at(-1)?.['text']).toMatch(/Keep the names of the files/);
    expect(holds(models(result)[0]?.messages, 'Fix the build')).toBe(false);
    expect(linesOf(result, 0).at(-1)).toContain('Say hello');
  },
  B04: (result) => {
    expect(result.counts.summaryCalls).toBe(3);
    expect(ending(result)).toBe('completed done');
  },
  B04b: (result) => {
    // Three proactive ones, then the one that an overflow has, then none.
    expect(result.counts).toMatchObject({ modelCalls: 4, summaryCalls: 4 });
    expect(ending(result)).toBe('prompt_too_long');
    expect(shown(result, 'error')).toHaveLength(1);
  },
  B06: (result) => {
    expect([ending(result), result.counts.summaryCalls]).toEqual(['completed done', 0]);
  },
  B06b: (result) => {
    expect([ending(result), result.counts.summaryCalls]).toEqual(['completed done', 1]);
    expect(result.requests[0]?.purpose).toBe('summary');
  },
  B06c: (result) => {
    expect([ending(result), result.counts.summaryCalls]).toEqual(['completed done', 1]);
    expect(shown(result, 'boundary')).toHaveLength(1);
  },
  B07: (result) => {
    const purposes = result.requests.map(({ purpose }) => purpose);
    expect(purposes).toEqual(['model', 'summary', ...purposes.slice(2).fill('model')]);
    expect([ending(result), result.counts.modelCalls]).toEqual(['completed done', 6]);
  },
  B08: (result) => {
    expect(result.counts.summaryCalls).toBe(0);
    expect(ending(result)).toBe('completed api_error');
  },
  B09: (result) => {
    expect(result.counts.summaryCalls).toBe(3);
    expect(shown(result, 'boundary')).toEqual([]);
    // Each failed summary left the history as it was.
    for (const request of [1, 2]) {
      const before = linesOf(result, request - 1);
      expect(linesOf(result, request).slice(0, before.length)).toEqual(before);
    }
  },
  B12: (result) => {
    const [request] = models(result);
    expect((request?.estimate ?? 0) + (request?.maxTokens ?? 0)).toBeLessThanOrEqual(5_000);
    expect(request?.maxTokens).toBeLessThan(2_000);
    expect(ending(result)).toBe('completed done');
  },
  B13: (result) => {
    expect([ending(result), result.counts.modelCalls, result.counts.summaryCalls]).toEqual(['completed done', 3, 1]);
    const summary = result.requests.find(({ purpose }) => purpose === 'summary');
    expect(blocksOf(summary?.messages ?? []).filter(({ text }) => text === '[document]')).toHaveLength(20);
    expect(JSON.stringify(summary?.messages)).not.toContain('application/pdf');
  },
  B13b: (result) => {
    expect([ending(result), result.counts.modelCalls, result.counts.summaryCalls]).toEqual(['prompt_too_long', 1, 1]);
    expect(shown(result, 'error')).toHaveLength(1);
  },
  B16: (result) => {
    expect(ending(result)).toBe('prompt_too_long');
    expect(result.counts.summaryCalls).toBe(0);
  },
  B17a: endsAtTheStopHookLimit,
  B17b: (result) => {
    endsAtTheStopHookLimit(result);
    expect(result.counts.toolRuns).toBeGreaterThan(0);
  },
  B17c: (result) => {
    expect(ending(result)).toBe('completed done');
    expect(shown(result, 'notice')).toHaveLength(1);
  },
  B18: (result) => expect([ending(result), result.counts.stopHookRuns]).toEqual(['completed api_error', 0]),
  B18b: (result) => expect([ending(result), result.counts.stopHookRuns]).toEqual(['completed refusal', 0]),
  B18c: (result) => expect([ending(result), result.counts.stopHookRuns]).toEqual(['aborted_streaming', 0]),
  B19: (result) => {
    expect([ending(result), result.counts.toolRuns, result.counts.modelCalls]).toEqual(['hook_stopped', 0, 1]);
    expect(verdicts(result)).toEqual([
      ['t1', true],
      ['t2', true],
    ]);
  },
  B19b: (result) => {
    expect([ending(result), result.counts.toolRuns, result.counts.modelCalls]).toEqual(['hook_stopped', 1, 1]);
    expect(verdicts(result)).toEqual([
      ['t1', false],
      ['t2', true],
    ]);
    expect(result.terminal?.detail).toBe('enough');
  },
  B20: (result) => {
    expect(verdicts(result)).toEqual([
      ['t1', true],
      ['t2', false],
      ['t3', false],
    ]);
    expect(result.counts.modelCalls).toBe(2);
    expect(shown(result, 'notice').length).toBeGreaterThan(0);
  },
  B47: (result) => {
    expect([ending(result), result.counts.summaryCalls]).toEqual(['prompt_too_long', 1]);
    expect(result.transitions).toEqual(['reactive_compact_retry']);
    expect(blocksOf(result.messages).filter(({ text }) => text === 'part')).toHaveLength(2);
  },
  B71: (result) => {
    expect(models(result)[0]?.maxTokens).toBe(2_048);
    expect(results(result)).toEqual([]);
    expect(ending(result)).toBe('completed done');
  },
};

function endsAtTheStopHookLimit(result: Parameters<Right[string]>[0]): void {
  expect([ending(result), result.counts.stopHookRuns]).toEqual(['completed stop_hook_limit', 9]);
  expect(result.counts.modelCalls).toBeLessThanOrEqual(result.bound.modelCalls);
}

/** A summary that frees too little: the request goes out all the same, and the pass tries no second one. */
function failsOnce(result: SimulationResult): void {
  expect([ending(result), result.counts.summaryCalls]).toEqual(['completed done', 1]);
  expect(boundaries(result)).toEqual([]);
}
