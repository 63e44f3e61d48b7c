import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { preview, textOfContent, withinMessageBudget } from '../../../src/core/context/message-budget.ts';
import type { ToolRun } from '../../../src/core/state.ts';
import { syntheticOutcome } from '../../../src/core/tools/schedule.ts';
import { applyResultBudget } from '../../../src/tools/result-budget.ts';
import { createMemoryStore } from '../../../src/tools/result-store.ts';
import type { ToolContent } from '../../../src/tools/tool.ts';

type Outcome = NonNullable<ToolRun['outcome']>;

const image: ToolContent = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

function runOf(toolUseId: string, more: Partial<Outcome>): ToolRun {
  const verdict = { concurrencySafe: true, readOnly: true, replaySafe: false };
  const outcome = { ...syntheticOutcome('x'), isError: false, ...more };
  return { toolUseId, name: 'look', input: {}, verdict, status: 'ended', effectId: '', outcome, decisions: [] };
}

/** A result of one text, kept under the id of its call. */
function longRun(id: string, characters: number): ToolRun {
  const whole = { path: `/results/${id}.txt`, characters };
  return runOf(id, { content: [{ type: 'text', text: 'x'.repeat(characters) }], whole });
}

const textIn = (run: ToolRun): string =>
  (run.outcome?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('');
const sizes = (runs: readonly ToolRun[]): readonly number[] => runs.map((run) => textIn(run).length);
const cut = (runs: readonly ToolRun[], all: readonly ToolRun[]): readonly string[] =>
  runs.filter((run, index) => run !== all[index]).map(({ toolUseId }) => toolUseId);

describe('the results of one message', () => {
  it('stay as they are, as the same objects, within the total', () => {
    const runs = [longRun('a', 100_000), longRun('b', 100_000)];
    expect(withinMessageBudget(runs, 200_000)).toBe(runs);
    expect(withinMessageBudget([], 1)).toEqual([]);
  });

  it('become previews over it, the largest first, and no more of them than must be', () => {
    const runs = [longRun('a', 70_000), longRun('b', 90_000), longRun('c', 80_000)];
    const fitting = withinMessageBudget(runs, 200_000);
    expect(cut(fitting, runs)).toEqual(['b']);
    expect(textIn(fitting[1]!)).toMatch(
      /^x{2000}\n\n\[\.\.\. .*90,000 characters, is in \/results\/b\.txt\..*\n\nx{2000}$/,
    );
    expect(cut(withinMessageBudget(runs, 100_000), runs)).toEqual(['b', 'c']);
  });

  it('are cut in the order of the calls when they are equal', () => {
    const runs = [longRun('a', 500), longRun('b', 90_000), longRun('c', 90_000)];
    expect(cut(withinMessageBudget(runs, 100_000), runs)).toEqual(['b']);
  });

  it('do not count the results of a tool that limits itself, and keep images and errors what they are', () => {
    const endless = runOf('a', { content: [{ type: 'text', text: 'y'.repeat(500_000) }], whole: null });
    const content = [{ type: 'text', text: 'z'.repeat(9_000) } as const, image];
    const failed = runOf('b', { isError: true, content, whole: { path: null, characters: 9_000 } });
    const runs = [endless, failed];
    expect(withinMessageBudget(runs, 9_000)).toBe(runs);
    const [same, short] = withinMessageBudget(runs, 5_000);
    expect(same).toBe(endless);
    expect(short?.outcome).toMatchObject({ isError: true, content: [{ type: 'text' }, image] });
    expect(textIn(short!)).toContain('was not kept');
  });

  it('keep what a run is that has not ended', () => {
    const open: ToolRun = { ...longRun('a', 0), status: 'running', outcome: null };
    const runs = [open, longRun('b', 9_000)];
    expect(withinMessageBudget(runs, 1_000)[0]).toBe(open);
  });

  it('stay within the total with their ids and order, whole texts kept, characters whole, the same when done twice', async () => {
    const text = fc
      .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 400 }))
      .map(([unit, times]): ToolContent => ({ type: 'text', text: unit.repeat(times) }));
    const result = fc.record({
      content: fc.array(fc.oneof({ arbitrary: text, weight: 4 }, fc.constant(image)), { minLength: 1, maxLength: 3 }),
      limit: fc.integer({ min: 500, max: 30_000 }),
      isError: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(result, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 12, max: 20_000 }),
        async (results, most) => {
          const store = createMemoryStore();
          const runs: ToolRun[] = [];
          for (const [index, { content, limit, isError }] of results.entries()) {
            const fitting = await applyResultBudget(content, limit, store, `t${index}`);
            runs.push(runOf(`t${index}`, { isError, ...fitting }));
          }
          const fitting = withinMessageBudget(runs, most);
          expect(sizes(fitting).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(Math.max(most, 0));
          expect(fitting.map(({ toolUseId }) => toolUseId)).toEqual(runs.map(({ toolUseId }) => toolUseId));
          expect(withinMessageBudget(fitting, most)).toBe(fitting);
          for (const [index, run] of fitting.entries()) {
            expect(textIn(run).isWellFormed()).toBe(true);
            const path = run.outcome?.whole?.path ?? null;
            if (path !== null) expect(store.texts.get(path)).toBe(textOfContent(results[index]!.content));
            if (path === null) expect(textOfContent(results[index]!.content).length).toBeLessThanOrEqual(4_400);
          }
        },
      ),
    );
  });
});

describe('a preview', () => {
  it('is never longer than it may be, and well-formed', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3_000 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 2_000 }), fc.string({ maxLength: 300 }), (value, most, note) => {
        const shown = preview(value, most, note.toWellFormed());
        expect(shown.length).toBeLessThanOrEqual(most);
        expect(shown.isWellFormed()).toBe(true);
      }),
    );
  });
});
