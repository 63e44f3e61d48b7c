/** What the connection does, aborts, media. */
import { expect } from 'vitest';
import { blocksOf, ending, models, results, type Right, shown, verdicts } from '../../support/simulated.ts';

export const transport: Right = {
  B50: (result) => {
    expect(result.counts.toolRuns).toBe(1);
    expect(shown(result, 'tombstone')).toHaveLength(2);
    expect(blocksOf(result.messages).filter(({ text }) => text === 'ab')).toEqual([]);
    expect(ending(result)).toBe('completed done');
  },
  B50b: (result) => {
    // It was shown and taken back: it must not come back into the history.
    expect([ending(result), shown(result, 'assistant')]).toEqual(['aborted_streaming', []]);
    expect(blocksOf(result.messages).map(({ text }) => text)).toEqual(['go', expect.stringContaining('interrupted')]);
  },
  B50c: (result) => {
    expect(blocksOf(result.messages).map(({ text }) => text)).toEqual([
      'go',
      'cd',
      expect.stringContaining('interrupted'),
    ]);
  },
  B51: (result) => {
    expect([ending(result), result.counts.modelCalls]).toEqual(['completed done', 4]);
    // A read-only tool may have run early; its result went with its attempt.
    expect(results(result)).toEqual([]);
  },
  B53: (result) => {
    // Each attempt runs its own tool once; the result of the dropped one is nowhere.
    expect(results(result)).toHaveLength(1);
    expect(models(result).map(({ model }) => model)).toEqual(['scripted-model', 'second', 'second']);
    expect(result.terminal?.usage.output).toBeLessThan(200);
  },
  B54: (result) => {
    // Two waits of the backoff, then the largest that a server may ask for.
    expect(result.ms).toBeGreaterThan(60_000);
    expect(result.ms).toBeLessThan(63_000);
  },
  B58a: (result) => {
    expect([ending(result), result.ms]).toEqual(['aborted_tools', 0]);
    expect(result.events.filter(({ type }) => type === 'abort')).toHaveLength(1);
    expect(verdicts(result)).toEqual([['t1', true]]);
  },
  B58b: (result) => {
    expect([ending(result), result.counts.modelCalls]).toEqual(['aborted_streaming', 0]);
    expect(result.events.map(({ type }) => type)).toEqual(['abort']);
  },
  B58c: (result) => {
    expect(ending(result)).toBe('aborted_streaming');
    expect(result.events.filter(({ type }) => type === 'abort')).toHaveLength(1);
    expect(blocksOf(result.messages).filter(({ text }) => text === 'a')).toHaveLength(1);
  },
  B59: (result) => expect(ending(result)).toBe('completed done'),
  B69: (result) => {
    // One request a prompt: the large image was left out before anything was refused.
    expect(result.counts.modelCalls).toBe(2);
    expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect(shown(result, 'error')).toEqual([]);
    expect(blocksOf(result.messages).filter(({ type }) => type === 'image')).toHaveLength(20);
  },
};
