/** Somebody swaps a folder for a link in the moment between the check of a path and its use. */
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import type * as Files from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { builtInTools } from '../../../src/tools/builtin/index.ts';
import { callTool, temporaryFolder } from '../call-tool.ts';

const moment = vi.hoisted(() => ({ beforeOpen: () => {}, afterMkdir: () => {} }));

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof Files>();
  return {
    ...real,
    open: (...given: Parameters<typeof real.open>) => {
      moment.beforeOpen();
      return real.open(...given);
    },
    mkdir: async (...given: Parameters<typeof real.mkdir>) => {
      const made = await real.mkdir(...given);
      moment.afterMkdir();
      return made;
    },
  };
});

const tools = builtInTools();

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

function attack(at: keyof typeof moment): { readonly cwd: string; readonly outside: string } {
  const cwd = temporaryFolder();
  const outside = temporaryFolder();
  mkdirSync(join(cwd, 'folder'));
  for (const folder of [join(cwd, 'folder'), outside])
    writeFileSync(join(folder, 'a'), folder === outside ? 'secret' : 'mine');
  moment.beforeOpen = () => {};
  moment.afterMkdir = () => {};
  moment[at] = once(() => {
    renameSync(join(cwd, 'folder'), join(cwd, 'old'));
    symlinkSync(outside, join(cwd, 'folder'));
  });
  return { cwd, outside };
}

describe('a folder that becomes a link in the wrong moment', () => {
  it('shows nothing from outside', async () => {
    const { cwd } = attack('beforeOpen');
    const { outcome, text } = await callTool({ tools, cwd, mode: 'default' }, 'Read', { file_path: 'folder/a' });
    expect(outcome.isError).toBe(true);
    expect(text).toContain('was moved or replaced');
    expect(text).not.toContain('secret');
  });

  it('writes nothing outside', async () => {
    const { cwd, outside } = attack('beforeOpen');
    const { outcome } = await callTool({ tools, cwd, mode: 'acceptEdits' }, 'Write', {
      file_path: 'folder/new',
      content: 'evil',
    });
    expect(outcome.isError).toBe(true);
    expect(existsSync(join(outside, 'new')) ? readFileSync(join(outside, 'new'), 'utf8') : '').toBe('');
  });

  it('does not even create a file outside when it happens while folders are made', async () => {
    const { cwd, outside } = attack('afterMkdir');
    const { text } = await callTool({ tools, cwd, mode: 'acceptEdits' }, 'Write', {
      file_path: 'folder/new',
      content: 'evil',
    });
    expect(text).toContain('outside of the workspace');
    expect(existsSync(join(outside, 'new'))).toBe(false);
  });
});
