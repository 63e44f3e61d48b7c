import { createHash } from 'node:crypto';
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { builtInTools } from '../../../src/tools/builtin/index.ts';
import { createFileStore } from '../../../src/tools/result-store.ts';
import { type Called, callTool, type Setting, temporaryFolder } from '../call-tool.ts';

const tools = builtInTools();
/** One pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function read(cwd: string, input: JsonObject, more: Partial<Setting> = {}): Promise<Called> {
  return callTool({ tools, cwd, mode: 'default', ...more }, 'Read', input);
}

function file(folder: string, name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('Read', () => {
  it('gives lines with their numbers and remembers the file', async () => {
    const folder = temporaryFolder();
    const path = file(folder, 'a.txt', 'one\ntwo\n\nfour');
    const { text, outcome } = await read(folder, { file_path: 'a.txt' });
    expect(text).toBe('     1\tone\n     2\ttwo\n     3\t\n     4\tfour');
    const hash = createHash('sha256').update('one\ntwo\n\nfour').digest('hex');
    expect(outcome.contextChanges).toEqual([
      { type: 'fileRead', path, record: { mtimeMs: statSync(path).mtimeMs, hash, partial: false } },
    ]);
  });

  it('gives a range and says what is left', async () => {
    const folder = temporaryFolder();
    file(folder, 'a.txt', Array.from({ length: 10 }, (_, index) => `l${index + 1}\n`).join(''));
    const { text, outcome } = await read(folder, { file_path: 'a.txt', offset: 3, limit: 2 });
    expect(text).toBe('     3\tl3\n     4\tl4\n(Lines 3 to 4 of 10. Read on with offset 5.)');
    expect(outcome.contextChanges).toMatchObject([{ record: { partial: true } }]);
    expect((await read(folder, { file_path: 'a.txt', offset: 9 })).text).toContain('(Lines 9 to 10 of 10.)');
    expect((await read(folder, { file_path: 'a.txt', offset: 11 })).text).toBe('(The file has only 10 lines.)');
  });

  it('stops after 2,000 lines, and before a result grows too large', async () => {
    const folder = temporaryFolder();
    file(folder, 'long.txt', 'x\n'.repeat(5_000));
    expect((await read(folder, { file_path: 'long.txt' })).text).toContain(
      '(Lines 1 to 2000 of 5000. Read on with offset 2001.)',
    );
    file(folder, 'wide.txt', `${'x'.repeat(1_500)}\n`.repeat(1_000));
    const { text } = await read(folder, { file_path: 'wide.txt' });
    expect(text.length).toBeLessThan(125_000);
    expect(text).toMatch(/Read on with offset \d+\.\)$/);
  });

  it('B68: cuts long lines on whole characters, over any border of chunks', async () => {
    const folder = temporaryFolder();
    file(folder, 'a.txt', `${'x'.repeat(1_999)}😀${'y'.repeat(300_000)}\nend\r\n`);
    const { text, outcome } = await read(folder, { file_path: 'a.txt' });
    expect(text).toBe(`     1\t${'x'.repeat(1_999)}… (300002 more)\n     2\tend`);
    expect(text.isWellFormed()).toBe(true);
    expect(outcome.contextChanges).toMatchObject([{ record: { partial: true } }]);
    file(folder, 'wide.txt', '€'.repeat(10_000));
    expect((await read(folder, { file_path: 'wide.txt' })).text).not.toContain('\uFFFD');
  });

  it('says that a file is empty, and leaves out a byte order mark', async () => {
    const folder = temporaryFolder();
    file(folder, 'empty', '');
    file(folder, 'mark', '\uFEFFa');
    expect((await read(folder, { file_path: 'empty' })).text).toBe('(The file is empty.)');
    expect((await read(folder, { file_path: 'mark' })).text).toBe('     1\ta');
  });

  it('shows images and refuses those that are too large to be scaled, or damaged', async () => {
    const folder = temporaryFolder();
    file(folder, 'a.txt', png);
    const { outcome } = await read(folder, { file_path: 'a.txt' });
    expect(outcome.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
    ]);
    file(folder, 'heavy.png', Buffer.concat([png, Buffer.alloc(21 * 1024 * 1024)]));
    expect((await read(folder, { file_path: 'heavy.png' })).text).toContain('Scale it down');
    file(folder, 'broken.png', png.subarray(0, 12));
    expect((await read(folder, { file_path: 'broken.png' })).text).toContain('damaged');
  });

  it.each([
    ['a binary file', (folder: string) => file(folder, 'x', Buffer.from([0x7f, 0x45, 0, 1])), /is a binary file/],
    ['a folder', (folder: string) => (mkdirSync(join(folder, 'x')), join(folder, 'x')), /is a folder\. Use Glob/],
    ['a missing file', (folder: string) => join(folder, 'x'), /does not exist\. The working folder is/],
    ['a file below a file', (folder: string) => `${file(folder, 'x', '')}/y`, /does not exist/],
    ['a circle of links', (folder: string) => (symlinkSync('x', join(folder, 'x')), join(folder, 'x')), /./],
    ['a NUL in the path', () => 'a\0b', /NUL/],
    ['an empty path', () => '', /file_path/],
  ])('refuses %s with a sentence', async (_, path, expected) => {
    const folder = temporaryFolder();
    const { outcome, text } = await read(folder, { file_path: path(folder) }, { mode: 'bypassPermissions' });
    expect(outcome.isError).toBe(true);
    expect(text).toMatch(expected);
  });

  it('refuses a pipe without waiting for somebody to write into it, and a device', async () => {
    const folder = temporaryFolder();
    const setting = { tools, cwd: folder };
    await callTool(setting, 'Bash', { command: 'mkfifo x' });
    expect((await read(folder, { file_path: 'x' })).text).toContain('no regular file');
    expect((await read(folder, { file_path: '/dev/zero' }, { mode: 'bypassPermissions' })).text).toContain(
      'no regular file',
    );
  });

  it('keeps to the workspace, whatever way a path takes', async () => {
    const outer = temporaryFolder();
    const folder = join(outer, 'workspace');
    mkdirSync(folder);
    file(outer, 'secret', 'secret');
    symlinkSync('..', join(folder, 'up'));
    symlinkSync('../secret', join(folder, 'link'));
    for (const path of [join(outer, 'secret'), '../secret', 'up/secret', 'link', 'up/workspace/../secret']) {
      const { outcome, text } = await read(folder, { file_path: path });
      expect([path, outcome.stage]).toEqual([path, 'permission']);
      expect(text).toContain('outside of the workspace');
      expect((await read(folder, { file_path: path }, { mode: 'bypassPermissions' })).text).toBe('     1\tsecret');
      expect((await read(folder, { file_path: path }, { roots: [outer] })).text).toBe('     1\tsecret');
    }
    expect((await read(folder, { file_path: 'up/workspace/../workspace/x' })).text).toContain('does not exist');
  });

  it('may read what the result store keeps, outside of the workspace', async () => {
    const folder = temporaryFolder();
    const store = createFileStore(temporaryFolder());
    const path = await store.put('t1', 'kept');
    expect((await read(folder, { file_path: path }, { store })).text).toBe('     1\tkept');
    expect(
      (
        await callTool({ tools, cwd: folder, store, mode: 'acceptEdits' }, 'Write', {
          file_path: `${path}x`,
          content: '',
        })
      ).outcome.stage,
    ).toBe('permission');
  });

  it('is safe beside others and only reads', () => {
    const tool = tools.find(({ name }) => name === 'Read')!;
    expect([tool.isReadOnly({}), tool.isConcurrencySafe({}), tool.maxResultSizeChars]).toEqual([
      true,
      true,
      Number.POSITIVE_INFINITY,
    ]);
  });
});
