/** What each layer of the context does to a long history. */
import { expect } from 'vitest';
import type { Emitted } from '../../../src/core/output.ts';
import type { SimulationResult } from '../../../src/testing/simulation-result.ts';
import { boundaries, ending, holds, linesOf, models, type Right } from '../../support/simulated.ts';

const thinking = ({ messages }: { readonly messages: unknown }): boolean => holds(messages, '"type":"thinking"');

/** The newest user message of the n-th request, as text. */
const first = (result: SimulationResult, request = 0): string => linesOf(result, request)[0] ?? '';

export const layers: Right = {
  snip: (result) => {
    expect(boundaries(result)).toEqual(['snip']);
    expect(first(result)).toContain('Earlier turns of this conversation were left out');
    // What the user said first is gone with its turn; what they said last is there.
    expect(holds(models(result)[0]?.messages, 'Fix the build')).toBe(false);
    expect(linesOf(result, 0).at(-1)).toContain('"go"');
  },
  'microcompact-local': clearsAllButFive,
  'microcompact-plain': (result) => {
    clearsAllButFive(result);
    expect(models(result)[0]?.settings.context_management).toBeUndefined();
  },
  'microcompact-server': (result) => {
    // The history stays as it is, and each boundary has the API's own figures.
    expect(holds(result.messages, 'cleared to save room')).toBe(false);
    expect(boundaries(result)).toEqual(['microcompact', 'microcompact', 'microcompact']);
    const shown = result.emitted.filter(({ type }) => type === 'boundary');
    expect(shown.map((item) => (item.type === 'boundary' ? item.tokensAfter : 0))).toEqual(
      models(result).map(({ estimate }) => estimate),
    );
    expect(models(result)[0]?.settings.context_management).toMatchObject({
      edits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 5 }, exclude_tools: ['other'] }],
    });
  },
  collapse: (result) => {
    expect(boundaries(result)).toEqual(['collapse']);
    expect(result.counts.summaryCalls).toBe(0);
    expect(holds(models(result)[0]?.messages, 'Read four files.')).toBe(true);
  },
  'collapse-off': (result) => {
    expect(boundaries(result)).toEqual(['auto_compact']);
    expect(result.counts.summaryCalls).toBe(1);
    // Announced and reported in the same measure.
    const [before, boundary, after] = result.emitted.filter(({ type }) => type === 'notice' || type === 'boundary');
    const { kind, tokensBefore, tokensAfter } = boundary as Extract<Emitted, { type: 'boundary' }>;
    expect(before).toMatchObject({ compaction: { stage: 'PreCompact', kind, tokensBefore, tokensAfter: null } });
    expect(after).toMatchObject({ compaction: { stage: 'PostCompact', kind, tokensBefore, tokensAfter } });
  },
  'task-budget': (result) => {
    const budgets = models(result).map(({ settings }) => settings.output_config?.['task_budget'] ?? null);
    expect(budgets[0]).toEqual({ type: 'tokens', total: 60_000 });
    // From the compaction on what is left is told: the total less the context that was summarised.
    const remaining = budgets.map((budget) => (budget as { readonly remaining?: number }).remaining);
    expect(remaining).toEqual([undefined, expect.any(Number), remaining[1]]);
    expect(60_000 - (remaining[1] ?? 0)).toBeGreaterThanOrEqual(24_000);
    expect(60_000 - (remaining[1] ?? 0)).toBeLessThan(25_000);
  },
  'usage-once': (result) => {
    expect(result.terminal?.usage).toEqual({ input: 400, output: 9, cacheRead: 0, cacheCreation: 0 });
  },
  'on-demand': (result) => {
    const asked = result.requests.find(({ purpose }) => purpose === 'summary');
    expect(asked?.settings.compaction).toEqual({ type: 'summarize' });
    const block = { type: 'compaction', content: "The API's own summary.", encrypted_content: 'opaque' };
    for (const request of models(result)) {
      expect(request.messages[0]).toEqual({ role: 'assistant', content: [block] });
    }
    expect(models(result)).toHaveLength(2);
  },
  'on-demand-refused': (result) => {
    const asked = result.requests.filter(({ purpose }) => purpose === 'summary');
    expect(asked.map(({ settings }) => settings.compaction !== undefined)).toEqual([true, false]);
    expect(boundaries(result)).toEqual(['auto_compact']);
  },
  'on-demand-media': (result) => {
    const asked = result.requests.find(({ purpose }) => purpose === 'summary');
    expect(asked?.settings.compaction).toBeUndefined();
    expect(holds(asked?.messages, '"type":"image"')).toBe(false);
  },
  'bound-thinking': (result) => {
    expect(ending(result)).toBe('completed done');
    // One edit, as late as auto-compact would have begun; all thinking made before it went with it.
    expect(boundaries(result)).toEqual(['snip']);
    const requests = models(result);
    const edited = requests.findIndex(({ messages }) => holds(messages, 'Earlier turns of this conversation'));
    expect(requests.map(thinking)).toEqual(requests.map((_, index) => index !== 0 && index !== edited));
  },
};

function clearsAllButFive(result: SimulationResult): void {
  expect(boundaries(result)).toEqual(['microcompact']);
  const results = linesOf(result, 0).filter((line) => line.includes('"tool_result"'));
  const isCleared = results.map((line) => line.includes('cleared to save room'));
  expect(isCleared).toEqual(results.map((_, index) => index < results.length - 5));
}
