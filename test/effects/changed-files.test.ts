import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PostToolUseHook } from '../../src/hooks/hook.ts';
import type { QueryOptions } from '../../src/query-options.ts';
import { builtInTools } from '../../src/tools/builtin/index.ts';
import { createFileContents } from '../../src/tools/file-contents.ts';
import { tool } from '../../src/tools/tool.ts';
import { done, runIn, use } from '../support/disk-query.ts';
import { folderWith } from '../support/folders.ts';

/** A tool that stands for the user at an editor: each call does the next thing. */
function meanwhile(...things: readonly (() => void)[]): Partial<QueryOptions> {
  const left = [...things];
  const wait = tool({
    name: 'Wait',
    description: 'Waits.',
    input: z.object({}),
    isReadOnly: () => true,
    run: () => {
      left.shift()?.();
      return 'waited';
    },
  });
  return { fileChanges: true, tools: [...builtInTools(), wait] };
}

const read = (id: string) => use('Read', id, { file_path: 'a.txt' });
const wait = (id: string) => use('Wait', id, {});

describe('files that changed on disk', () => {
  it('are told of once a change, with a diff, and again when they change again', async () => {
    const cwd = folderWith({ 'a.txt': 'one\ntwo\n' });
    const path = join(cwd, 'a.txt');
    const options = meanwhile(
      () => writeFileSync(path, 'one\nTWO\n'),
      () => {},
      () => writeFileSync(path, 'one\ntwo\n'),
    );
    const { attached, requests } = await runIn(cwd, [read('t1'), wait('t2'), wait('t3'), wait('t4'), done], options);
    expect(attached).toHaveLength(2);
    expect(attached[0]).toContain(`${path} changed on disk`);
    expect(attached[0]).toContain('-two\\n+TWO');
    expect(attached[1]).toContain('-TWO\\n+two');
    expect(JSON.stringify(requests[2]?.messages)).toContain('+TWO');
  });

  it('are not told of by a query that did not ask for it', async () => {
    const cwd = folderWith({ 'a.txt': 'one\n' });
    const options = meanwhile(() => writeFileSync(join(cwd, 'a.txt'), 'two\n'));
    const { attached } = await runIn(cwd, [read('t1'), wait('t2'), done], { ...options, fileChanges: false });
    expect(attached).toEqual([]);
  });

  it('may be edited after the whole change was told', async () => {
    const cwd = folderWith({ 'a.txt': 'one\ntwo\n' });
    const options = meanwhile(() => writeFileSync(join(cwd, 'a.txt'), 'one\nTWO\n'));
    const edit = use('Edit', 't3', { file_path: 'a.txt', old_string: 'TWO', new_string: '2' });
    const { attached, results } = await runIn(cwd, [read('t1'), wait('t2'), edit, wait('t4'), done], options);
    expect(attached).toHaveLength(1);
    expect(results[2]).toContain('Changed ');
  });

  it('count only when somebody else changed them: Edit and Write do not, a hook behind them does', async () => {
    const cwd = folderWith({ 'a.txt': 'one\n' });
    const path = join(cwd, 'a.txt');
    const script = [
      read('t1'),
      use('Edit', 't2', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }),
      use('Write', 't3', { file_path: 'b.txt', content: 'new' }),
      done,
    ];
    expect((await runIn(cwd, script, meanwhile())).attached).toEqual([]);
    writeFileSync(path, 'one\n');
    const format: PostToolUseHook['run'] = async ({ toolName }) => {
      if (toolName === 'Edit') writeFileSync(path, 'two;\n');
      return undefined;
    };
    const formatted = await runIn(cwd, script.slice(0, 2).concat(done), {
      ...meanwhile(),
      hooks: { postToolUse: [{ name: 'format', run: format }] },
    });
    expect(formatted.attached).toHaveLength(1);
    expect(formatted.attached[0]).toContain('-two\\n+two;');
  });

  it('are told of when they are deleted, and when they are back', async () => {
    const cwd = folderWith({ 'a.txt': 'one\n' });
    const path = join(cwd, 'a.txt');
    const options = meanwhile(
      () => rmSync(path),
      () => {},
      () => writeFileSync(path, 'back\n'),
    );
    const { attached } = await runIn(cwd, [read('t1'), wait('t2'), wait('t3'), wait('t4'), done], options);
    expect(attached).toHaveLength(2);
    expect(attached[0]).toContain('was deleted on disk');
    expect(attached[1]).toContain('is on disk again');
  });

  it('are told of by a note alone when the change is long, and must be read again before an edit', async () => {
    const cwd = folderWith({ 'a.txt': 'one\n' });
    const options = meanwhile(() => writeFileSync(join(cwd, 'a.txt'), 'line\n'.repeat(5_000)));
    const edit = use('Edit', 't3', { file_path: 'a.txt', old_string: 'line', new_string: 'x', replace_all: 'x' });
    const { attached, results } = await runIn(cwd, [read('t1'), wait('t2'), edit, done], options);
    expect(attached[0]?.length).toBeLessThan(500);
    expect(attached[0]).toContain('Read it again');
    expect(results[2]).not.toContain('Changed ');
  });

  it('show nothing of what a link in their place leads to', async () => {
    const outside = folderWith({ 'secret.txt': 'SECRET\n' });
    const cwd = folderWith({ 'a.txt': 'one\n' });
    const options = meanwhile(() => {
      rmSync(join(cwd, 'a.txt'));
      symlinkSync(join(outside, 'secret.txt'), join(cwd, 'a.txt'));
    });
    const { attached } = await runIn(cwd, [read('t1'), wait('t2'), done], options);
    expect(JSON.stringify(attached)).not.toContain('SECRET');
  });

  it('are compared across the queries of a session', async () => {
    const cwd = folderWith({ 'a.txt': 'one\n' });
    const fileChanges = createFileContents();
    const first = await runIn(cwd, [read('t1'), done], { ...meanwhile(), fileChanges });
    const carried = first.query.state?.carried;
    writeFileSync(join(cwd, 'a.txt'), 'two\n');
    const second = await runIn(cwd, [wait('t2'), done], {
      ...meanwhile(),
      fileChanges,
      messages: carried?.messages ?? [],
      ...(carried === undefined ? {} : { toolUseContext: carried.toolUseContext }),
    });
    expect(second.attached[0]).toContain('-one\\n+two');
  });
});
