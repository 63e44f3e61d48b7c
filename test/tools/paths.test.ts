import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { absolutePath, isWithin, realPathOf } from '../../src/tools/paths.ts';
import { temporaryFolder } from './call-tool.ts';

describe('paths', () => {
  it('makes paths absolute', () => {
    expect(absolutePath('a/../b', '/w')).toBe('/w/b');
    expect(absolutePath('/a/./b', '/w')).toBe('/a/b');
    expect(absolutePath('../../..', '/w')).toBe('/');
    expect(() => absolutePath('a\0b', '/w')).toThrow(/NUL/);
  });

  it('tells what is within a folder', () => {
    expect(isWithin('/w', '/w')).toBe(true);
    expect(isWithin('/w', '/w/a')).toBe(true);
    expect(isWithin('/w', '/w/..a')).toBe(true);
    expect(isWithin('/w', '/wa')).toBe(false);
    expect(isWithin('/w', '/')).toBe(false);
    expect(isWithin('/', '/w')).toBe(true);
  });

  it('follows links, also to what does not exist yet', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'real'));
    writeFileSync(join(folder, 'real/file'), '');
    symlinkSync('real', join(folder, 'link'));
    symlinkSync('link/new', join(folder, 'dangling'));
    expect(await realPathOf(join(folder, 'link/file'))).toBe(join(folder, 'real/file'));
    expect(await realPathOf(join(folder, 'link/deep/er'))).toBe(join(folder, 'real/deep/er'));
    expect(await realPathOf(join(folder, 'dangling'))).toBe(join(folder, 'real/new'));
    expect(await realPathOf(join(folder, 'real/file/below'))).toBe(join(folder, 'real/file/below'));
  });

  it('gives up on links that lead in a circle', async () => {
    const folder = temporaryFolder();
    symlinkSync('b', join(folder, 'a'));
    symlinkSync('a', join(folder, 'b'));
    await expect(realPathOf(join(folder, 'a'))).rejects.toThrow(/ELOOP|Too many/);
  });
});
