import { describe, expect, it } from 'vitest';
import type { SimulationResult } from '../../src/testing/simulation-result.ts';
import { simulate } from '../../src/testing/simulate.ts';
import { scenario, scenariosIn } from '../support/scenarios.ts';

type Block = Readonly<Record<string, unknown>>;

const ending = ({ terminal }: SimulationResult): string =>
  [terminal?.reason, terminal?.outcome].filter(Boolean).join(' ');
const models = (result: SimulationResult) => result.requests.filter(({ purpose }) => purpose === 'model');
const shown = (result: SimulationResult, type: string) => result.emitted.filter((item) => item.type === type);
const blocksOf = (messages: readonly { readonly content: readonly unknown[] }[]): readonly Block[] =>
  messages.flatMap(({ content }) => content as readonly Block[]);

/** Tool results in the history: the id, whether it is an error, its text. */
function results(result: SimulationResult): readonly [id: unknown, isError: unknown, text: string][] {
  return blocksOf(result.messages)
    .filter(({ type }) => type === 'tool_result')
    .map((block) => [block['tool_use_id'], block['is_error'], JSON.stringify(block['content'])]);
}

/** Blocks of the last message of the n-th request. */
function lastOf(result: SimulationResult, request: number): readonly Block[] {
  return models(result)[request]?.messages.at(-1)?.content ?? [];
}

/** What is right in each case; the numbers are those of the collection of public reports that the cases come from. */
const right: Readonly<Record<string, (result: SimulationResult) => void>> = {
  B04: (result) => {
    expect(result.counts.summaryCalls).toBe(3);
    expect(ending(result)).toBe('completed done');
  },
  B08: (result) => {
    expect(result.counts.summaryCalls).toBe(0);
    expect(ending(result)).toBe('completed api_error');
  },
  B09: (result) => {
    expect(result.counts.summaryCalls).toBe(3);
    expect(shown(result, 'boundary')).toEqual([]);
    // Each failed summary left the history as it was (cache breakpoints stand behind these messages).
    const [first, last] = [models(result)[0], models(result).at(-1)];
    expect(JSON.stringify(last?.messages.slice(0, 6))).toBe(JSON.stringify(first?.messages.slice(0, 6)));
  },
  B12: (result) => {
    const [request] = models(result);
    expect((request?.estimate ?? 0) + (request?.maxTokens ?? 0)).toBeLessThanOrEqual(5_000);
    expect(ending(result)).toBe('completed done');
  },
  B16: (result) => {
    expect(ending(result)).toBe('prompt_too_long');
    expect(result.counts.summaryCalls).toBe(0);
  },
  B17a: (result) => expect([ending(result), result.counts.stopHookRuns]).toEqual(['completed stop_hook_limit', 9]),
  B17b: (result) => expect([ending(result), result.counts.stopHookRuns]).toEqual(['completed stop_hook_limit', 9]),
  B17c: (result) => {
    expect(ending(result)).toBe('completed done');
    expect(shown(result, 'notice')).toHaveLength(1);
  },
  B18: (result) => expect([ending(result), result.counts.stopHookRuns]).toEqual(['completed api_error', 0]),
  B19: (result) => {
    expect([ending(result), result.counts.toolRuns]).toEqual(['hook_stopped', 0]);
    expect(results(result).map(([id, isError]) => [id, isError])).toEqual([
      ['t1', true],
      ['t2', true],
    ]);
  },
  B20: (result) => {
    expect(results(result).map(([id, isError]) => [id, isError])).toEqual([
      ['t1', true],
      ['t2', false],
      ['t3', false],
    ]);
    expect(result.counts.modelCalls).toBe(2);
    expect(shown(result, 'notice').length).toBeGreaterThan(0);
  },
  B21: (result) => {
    expect(results(result).map(([id, isError]) => [id, isError])).toEqual([['t1', true]]);
    expect(lastOf(result, 1).map(({ type }) => type)).toEqual(['tool_result', 'text', 'text']);
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
    expect(results(result)[0]?.[2]).toContain('Interrupted');
  },
  B27: (result) => {
    expect(lastOf(result, 1).map((block) => block['tool_use_id'] ?? block['text'])).toEqual(['t1', 't2', 'and this']);
  },
  B29: (result) => {
    const ids = results(result).map(([id]) => id);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(result.counts.toolRuns).toBe(4);
  },
  B31: (result) => {
    // Not only left out of the request: it is gone from the history, for good.
    expect(JSON.stringify(result.messages)).not.toContain('of the first');
    expect(models(result).at(-1)?.model).toBe('second');
  },
  B32: (result) => {
    const answer = models(result)[1]?.messages[1]?.content as readonly Block[];
    expect(answer.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use', 'thinking', 'tool_use']);
    expect(answer.map((block) => block['signature']).filter(Boolean)).toEqual(['s1', 's2']);
  },
  B34: (result) => {
    const answer = models(result)[1]?.messages[1]?.content as readonly Block[];
    expect(answer.slice(0, 3)).toEqual([
      { type: 'thinking', thinking: '', signature: 's1' },
      { type: 'tool_use', id: 't1', name: 'read', input: {} },
      { type: 'redacted_thinking', data: 'x' },
    ]);
    expect(answer).toHaveLength(4);
  },
  B35: (result) => expect([ending(result), result.counts.modelCalls]).toEqual(['completed empty', 2]),
  B36: cutToolCall,
  B36b: cutToolCall,
  B37: (result) => {
    expect(result.counts.toolRuns).toBe(0);
    expect(results(result)[0]?.[2]).toContain('{a:1}');
  },
  B39: (result) => {
    expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect(result.messages.every(({ content }) => content.length > 0)).toBe(true);
  },
  B41: (result) => {
    expect(models(result)[0]?.messages[0]?.content).toHaveLength(1);
    expect(results(result)[0]?.[2]).toContain('(no output)');
  },
  B42: (result) => {
    expect(models(result)[0]?.messages.at(-1)?.role).toBe('user');
    expect(JSON.stringify(models(result)[0]?.messages.at(-1))).toContain('loop-note');
  },
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
  B45: (result) => {
    expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['refusal', 'done']);
    expect(JSON.stringify(models(result)[1]?.messages)).not.toContain('bad');
  },
  B47: (result) => {
    expect([ending(result), result.counts.summaryCalls]).toEqual(['prompt_too_long', 1]);
    expect(blocksOf(result.messages).filter(({ text }) => text === 'part').length).toBeGreaterThan(0);
  },
  B48: (result) => {
    expect([ending(result), result.counts.stopHookRuns]).toEqual(['model_error', 0]);
    expect(result.terminal?.failure?.message).toContain('some_future_reason');
  },
  B49: (result) => {
    expect(results(result).map(([id, isError]) => [id, isError])).toEqual([
      ['t1', true],
      ['t2', false],
    ]);
    expect(results(result)[0]?.[2]).toContain('No tool goes by the name');
  },
  B50: (result) => {
    expect(result.counts.toolRuns).toBe(1);
    expect(shown(result, 'tombstone')).toHaveLength(2);
    expect(blocksOf(result.messages).filter(({ text }) => text === 'ab')).toEqual([]);
  },
  B51: (result) => {
    expect([ending(result), result.counts.modelCalls]).toEqual(['completed done', 4]);
    // A read-only tool may have run early; its result went with its attempt.
    expect(results(result)).toEqual([]);
  },
  B53: (result) => {
    // Each attempt runs its own tool once; the result of the dropped one is nowhere.
    expect(results(result)).toHaveLength(1);
    expect(result.terminal?.usage.output).toBeLessThan(200);
  },
  B54: (result) => {
    // Two waits of the backoff, then the largest that a server may ask for.
    expect(result.ms).toBeGreaterThan(60_000);
    expect(result.ms).toBeLessThan(63_000);
  },
  B56: (result) => {
    expect([ending(result), result.ms]).toEqual(['aborted_tools', 2_000]);
    expect(results(result)[0]?.[2]).toContain('may still be running');
  },
  B58b: (result) => expect([ending(result), result.counts.modelCalls]).toEqual(['aborted_streaming', 0]),
  B58c: (result) => {
    expect(ending(result)).toBe('aborted_streaming');
    expect(blocksOf(result.messages).filter(({ text }) => text === 'a')).toHaveLength(1);
  },
  B59: (result) => expect(ending(result)).toBe('completed done'),
  B65: (result) => {
    expect(results(result).map(([, isError]) => isError)).toEqual([false, true]);
    expect(result.counts.toolRuns).toBe(1);
  },
  B67: (result) => expect(lastOf(result, 1).map(({ type }) => type)).toEqual(['tool_result', 'tool_result', 'image']),
  B69: (result) => {
    expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect(blocksOf(result.messages).filter(({ type }) => type === 'image')).toHaveLength(20);
  },
  B71: (result) => expect(models(result)[0]?.maxTokens).toBe(2_048),
};

function cutToolCall(result: SimulationResult): void {
  expect(result.counts.toolRuns).toBe(0);
  expect(result.transitions).toEqual([
    'max_output_tokens_escalate',
    ...Array.from({ length: 3 }, () => 'max_output_tokens_recovery'),
  ]);
  expect(ending(result)).toBe('completed output_limit');
  expect(blocksOf(result.messages).filter(({ type }) => type === 'tool_use')).toEqual([]);
}

const files = scenariosIn('field');
const nameOf = (file: string): string => file.replace(/^.*\/|\.json$/g, '');

describe('cases from the field', () => {
  it('have a statement of what is right for each file', () => {
    expect(files.map(nameOf).toSorted()).toEqual(Object.keys(right).toSorted());
  });

  it.each(files)('%s', async (file) => {
    const result = await simulate(scenario(file));
    expect(result.violations).toEqual([]);
    right[nameOf(file)]?.(result);
  });
});

describe('a rich run (B59)', () => {
  const rich = scenario('field/B59.json');
  const endless = { ...rich, model: [...rich.model.slice(0, -1), { ...rich.model.at(-1)!, repeat: true }] };

  it.each(['interrupt', 'submit'] as const)('ends legally when it meets %s before any event', async (kind) => {
    const { events } = await simulate(rich);
    for (const { index } of events) {
      const act = { abort: kind, at: index, ...(kind === 'submit' ? { text: 'now this' } : {}) };
      const result = await simulate({ ...endless, user: [act], then: [{ prompt: 'next' }] });
      expect({ index, violations: result.violations }).toEqual({ index, violations: [] });
      expect(result.terminals[0]?.reason).toMatch(/^aborted_/);
      expect(result.terminals[0]?.failure).toBeNull();
    }
  });

  it('goes on when the process dies before any event', async () => {
    const { events } = await simulate(rich);
    for (const { index } of events) {
      const result = await simulate({ ...endless, then: [{ resume: { cut: index } }] });
      expect({ index, violations: result.violations }).toEqual({ index, violations: [] });
      expect(ending(result)).toBe('completed done');
    }
  });
});
