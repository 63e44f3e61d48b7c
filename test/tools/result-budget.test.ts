import { mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyResultBudget, contentSize } from '../../src/tools/result-budget.ts';
import { createFileStore, createMemoryStore } from '../../src/tools/result-store.ts';
import type { ToolContent } from '../../src/tools/tool.ts';
import { temporaryFolder } from './call-tool.ts';

const image: ToolContent = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

function text(value: string): ToolContent {
  return { type: 'text', text: value };
}

function textIn(content: readonly ToolContent[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

describe('the budget of a result', () => {
  it('leaves alone what fits, and everything of a tool without a limit', async () => {
    const store = createMemoryStore();
    const fitting = [text('x'.repeat(10))];
    const endless = [text('x'.repeat(500_000))];
    const short = await applyResultBudget(fitting, 10, store, 't1');
    const exempt = await applyResultBudget(endless, Number.POSITIVE_INFINITY, store, 't1');
    expect([short.content, short.whole]).toEqual([fitting, { path: null, characters: 10 }]);
    expect([exempt.content, exempt.whole]).toEqual([endless, null]);
    expect(store.texts.size).toBe(0);
  });

  it('keeps what fits alone and may still be too much for its message', async () => {
    const store = createMemoryStore();
    const content = [text('y'.repeat(5_000)), image];
    const fitting = await applyResultBudget(content, 30_000, store, 't1');
    expect(fitting).toEqual({ content, whole: { path: '/results/t1.txt', characters: 5_008 } });
    expect(store.texts.get('/results/t1.txt')).toBe(`${'y'.repeat(5_000)}\n[image]`);
  });

  it('keeps the whole text and shows its two ends and the path', async () => {
    const store = createMemoryStore();
    const whole = `begin${'x'.repeat(50_000)}end`;
    const shown = textIn((await applyResultBudget([text(whole)], 30_000, store, 't1')).content);
    expect(store.texts.get('/results/t1.txt')).toBe(whole);
    expect(shown).toMatch(/^begin/);
    expect(shown).toMatch(/end$/);
    expect(shown).toContain('/results/t1.txt');
    expect(shown).toContain('50,008 characters');
    expect(shown.length).toBeLessThan(5_000);
  });

  it('counts images, keeps those that fit, and says how many do not', async () => {
    const one = contentSize([image]);
    expect(one).toBeGreaterThan(1_000);
    const content = [text('y'.repeat(4_100)), image, image, image];
    const { content: shown } = await applyResultBudget(content, one * 2 + 4_300, createMemoryStore(), 't1');
    expect(shown.filter((block) => block.type === 'image')).toHaveLength(2);
    expect(textIn(shown)).toContain('1 image or document left out');
  });

  it('says so when the store fails', async () => {
    const store = {
      folder: null,
      put: () => {
        throw new Error('disk full');
      },
    };
    const fitting = await applyResultBudget([text('x'.repeat(100))], 50, store, 't1');
    expect(fitting.whole).toEqual({ path: null, characters: 100 });
    expect(textIn(fitting.content)).toContain('could not be kept (disk full)');
  });

  it('gives well-formed text for any text and limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 50, maxLength: 300 }),
        fc.integer({ min: 1, max: 60 }),
        async (value, limit) => {
          const shown = textIn((await applyResultBudget([text(value)], limit, createMemoryStore(), 't')).content);
          expect(shown.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

describe('the file store', () => {
  it('writes whole results for the owner alone', async () => {
    const store = createFileStore(join(temporaryFolder(), 'results'));
    const path = await store.put('toolu_1', 'whole');
    expect(readFileSync(path, 'utf8')).toBe('whole');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(store.folder!).mode & 0o777).toBe(0o700);
  });

  it('lets no id of a model out of its folder', async () => {
    const store = createFileStore(temporaryFolder());
    for (const id of ['../../evil', '/etc/passwd', '', 'a\0b', 'x'.repeat(400)]) {
      expect(await store.put(id, id)).toMatch(new RegExp(`^${store.folder}/[^/]+\\.txt$`));
    }
  });

  it('names its folder by its real path', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'link'));
    expect(createFileStore(join(folder, 'link/session')).folder).toBe(join(folder, 'real/session'));
  });
});
