import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChanges } from '../../../src/core/tools/context.ts';
import { builtInTools } from '../../../src/tools/builtin/index.ts';
import { replaceText } from '../../../src/tools/builtin/text-file.ts';
import { callTool, emptyShared, session, temporaryFolder } from '../call-tool.ts';

const tools = builtInTools();

function workspace(content?: string | Buffer): {
  readonly cwd: string;
  readonly path: string;
  readonly call: ReturnType<typeof session>;
} {
  const cwd = temporaryFolder();
  const path = join(cwd, 'a.txt');
  if (content !== undefined) writeFileSync(path, content);
  return { cwd, path, call: session({ tools, cwd }) };
}

function edit(old_string: string, new_string: string, replace_all?: boolean) {
  return { file_path: 'a.txt', old_string, new_string, ...(replace_all === undefined ? {} : { replace_all }) };
}

describe('Edit', () => {
  it('replaces an exact piece and shows the change', async () => {
    const { path, call } = workspace('one\ntwo\nthree\n');
    await call('Read', { file_path: 'a.txt' });
    const { text, outcome } = await call('Edit', edit('two', '$& $1 2'));
    expect(outcome.isError).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('one\n$& $1 2\nthree\n');
    expect(text).toContain(`Changed ${path}.\n@@ -1,3 +1,3 @@\n one\n-two\n+$& $1 2\n three`);
  });

  it('goes on from its own edits without reading again', async () => {
    const { path, call } = workspace('a b c');
    await call('Read', { file_path: 'a.txt' });
    await call('Edit', edit('a', 'x'));
    expect((await call('Edit', edit('b', 'y'))).outcome.isError).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('x y c');
  });

  it.each<[string, string, ReturnType<typeof edit>, RegExp]>([
    ['is absent', 'one', edit('two', 'x'), /does not stand in/],
    ['is there more than once', 'a a a', edit('a', 'x'), /stands in .* 3 times\. Give more .* replace_all/],
    ['has other white space', 'if (a) {\n\tb;\n}', edit('if (a) {\n  b;\n}', 'x'), /other white space/],
    ['has the numbers of Read', 'one\ntwo', edit('     1\tone\n     2\ttwo', 'x'), /without the line numbers/],
    ['is empty', 'one', edit('', 'x'), /old_string is empty/],
    ['is what it becomes', 'one', edit('one', 'one'), /nothing would change/],
  ])('says so when the text %s, and changes nothing', async (_, content, input, expected) => {
    const { path, call } = workspace(content);
    await call('Read', { file_path: 'a.txt' });
    const { outcome, text } = await call('Edit', input);
    expect(outcome).toMatchObject({ isError: true, stage: 'validation' });
    expect(text).toMatch(expected);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  it('replaces every occurrence when asked', async () => {
    const { path, call } = workspace('a b a');
    await call('Read', { file_path: 'a.txt' });
    await call('Edit', edit('a', 'aa', true));
    expect(readFileSync(path, 'utf8')).toBe('aa b aa');
  });

  it('wants the file read before, and unchanged since, whatever its time says', async () => {
    const { path, call } = workspace('one');
    expect((await call('Edit', edit('one', 'two'))).text).toContain('has not been read yet');
    await call('Read', { file_path: 'a.txt' });
    utimesSync(path, 1, 1);
    expect((await call('Edit', edit('one', 'two'))).outcome.isError).toBe(false);
    const { mtime } = statSync(path);
    writeFileSync(path, 'TWO');
    utimesSync(path, mtime, mtime);
    expect((await call('Edit', edit('TWO', 'x'))).text).toContain('has changed on disk');
  });

  it('notices a change that happens while the user is asked', async () => {
    const { cwd, path } = workspace('one');
    const read = await callTool({ tools, cwd }, 'Read', { file_path: 'a.txt' });
    const shared = applyChanges(emptyShared, read.outcome.contextChanges);
    const canUseTool = async () => {
      writeFileSync(path, 'one, and more');
      return { behavior: 'allow' as const };
    };
    const { outcome, text } = await callTool(
      { tools, cwd, shared, mode: 'default', canUseTool },
      'Edit',
      edit('one', 'two'),
    );
    expect(outcome.stage).toBe('run');
    expect(text).toContain('has changed on disk');
  });

  it('keeps CRLF and the byte order mark', async () => {
    const { path, call } = workspace('\uFEFFone\r\ntwo\r\nthree\r\n');
    await call('Read', { file_path: 'a.txt' });
    await call('Edit', edit('one\ntwo', '1\n2\n2b'));
    expect(readFileSync(path, 'utf8')).toBe('\uFEFF1\r\n2\r\n2b\r\nthree\r\n');
  });

  it('does not damage what is no UTF-8', async () => {
    const content = Buffer.from([0x61, 0xe9, 0x62]);
    const { path, call } = workspace(content);
    await call('Read', { file_path: 'a.txt' });
    expect((await call('Edit', edit('a', 'b'))).text).toContain('no UTF-8');
    expect(readFileSync(path)).toEqual(content);
  });

  it('keeps mode and links of the file', async () => {
    const { cwd, path, call } = workspace('one');
    chmodSync(path, 0o750);
    symlinkSync('a.txt', join(cwd, 'link'));
    await call('Read', { file_path: 'link' });
    await call('Edit', { ...edit('one', 'two'), file_path: 'link' });
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(statSync(path).mode & 0o777).toBe(0o750);
    expect((await call('Edit', edit('two', 'three'))).outcome.isError).toBe(false);
  });

  it('tells nothing of a file outside before it is allowed', async () => {
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'secret'), 'secret');
    const cwd = temporaryFolder();
    for (const name of ['secret', 'missing']) {
      const input = { file_path: join(outside, name), old_string: 'guess', new_string: 'x' };
      const { outcome, text } = await callTool({ tools, cwd, mode: 'acceptEdits' }, 'Edit', input);
      expect(outcome.stage).toBe('permission');
      expect(text.replaceAll(name, 'it')).toContain('outside of the workspace');
    }
  });

  it('law: what is replaced is what was asked, and nothing else', () => {
    const piece = fc.stringMatching(/^[ab\n]{1,4}$/);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), piece, piece, fc.boolean(), (parts, wanted, put, all) => {
        const text = parts.join('');
        const replaced = replaceText({ text, hasMark: false }, wanted, put, all);
        const found = text.split(wanted).length - 1;
        expect(replaced.found).toBe(found);
        if (found === 0 || (found > 1 && !all)) expect(replaced.text).toBeNull();
        else expect(replaced.text).toBe(text.split(wanted).join(put));
      }),
    );
  });
});

describe('Write', () => {
  it('creates a file with its folders, and remembers it', async () => {
    const { cwd, call } = workspace();
    const { text, outcome } = await call('Write', { file_path: 'deep/er/b.txt', content: 'one\ntwo\n' });
    expect(text).toBe(`Created ${join(cwd, 'deep/er/b.txt')} (2 lines).`);
    expect(outcome.contextChanges).toMatchObject([
      { type: 'fileRead', path: join(cwd, 'deep/er/b.txt'), record: { partial: false } },
    ]);
    expect(
      (await call('Edit', { file_path: 'deep/er/b.txt', old_string: 'one', new_string: '1' })).outcome.isError,
    ).toBe(false);
    expect(readFileSync(join(cwd, 'deep/er/b.txt'), 'utf8')).toBe('1\ntwo\n');
  });

  it('overwrites only what was read whole and is unchanged', async () => {
    const { path, call } = workspace('one\ntwo\n');
    const write = { file_path: 'a.txt', content: 'x' };
    expect((await call('Write', write)).text).toContain('has not been read yet');
    await call('Read', { file_path: 'a.txt', limit: 1 });
    expect((await call('Write', write)).text).toContain('Only a part');
    await call('Read', { file_path: 'a.txt' });
    writeFileSync(path, 'other');
    expect((await call('Write', write)).text).toContain('has changed on disk');
    await call('Read', { file_path: 'a.txt' });
    expect((await call('Write', write)).text).toContain('Overwrote');
    expect(readFileSync(path, 'utf8')).toBe('x');
    expect((await call('Write', { ...write, content: '' })).outcome.isError).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('refuses folders and paths through files', async () => {
    const { cwd, call } = workspace('one');
    mkdirSync(join(cwd, 'folder'));
    expect((await call('Write', { file_path: 'folder', content: '' })).text).toContain('is a folder');
    expect((await call('Write', { file_path: 'a.txt/b', content: '' })).text).toContain('a part of its path is a file');
  });

  it('keeps to the workspace, also through a link to what does not exist yet', async () => {
    const outside = temporaryFolder();
    const cwd = temporaryFolder();
    symlinkSync(join(outside, 'new'), join(cwd, 'dangling'));
    symlinkSync(outside, join(cwd, 'out'));
    for (const file_path of ['dangling', 'out/new', join(outside, 'new'), '../new']) {
      const { outcome } = await callTool({ tools, cwd, mode: 'acceptEdits' }, 'Write', { file_path, content: 'x' });
      expect([file_path, outcome.stage]).toEqual([file_path, 'permission']);
    }
    expect(existsSync(join(outside, 'new'))).toBe(false);
    await callTool({ tools, cwd }, 'Write', { file_path: 'dangling', content: 'x' });
    expect(readFileSync(join(outside, 'new'), 'utf8')).toBe('x');
  });

  it('refuses at run time what became a way out since it was allowed', async () => {
    const outside = temporaryFolder();
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, 'folder'));
    const canUseTool = () => {
      rmdirSync(join(cwd, 'folder'));
      symlinkSync(outside, join(cwd, 'folder'));
      return { behavior: 'allow' as const };
    };
    const input = { file_path: 'folder/new', content: 'x' };
    const { outcome, text } = await callTool({ tools, cwd, mode: 'default', canUseTool }, 'Write', input);
    expect(outcome.isError).toBe(true);
    expect(text).toContain('outside of the workspace');
    expect(existsSync(join(outside, 'new'))).toBe(false);
  });

  it('asks before it touches what changes what runs or is allowed', async () => {
    const cwd = temporaryFolder();
    for (const file_path of [
      '.git/hooks/pre-commit',
      '.escapement/settings.json',
      'sub/.claude/settings.json',
      '.GIT/config',
    ]) {
      const { outcome } = await callTool({ tools, cwd, mode: 'acceptEdits' }, 'Write', { file_path, content: 'x' });
      expect([file_path, outcome.stage]).toEqual([file_path, 'permission']);
    }
    expect(
      (await callTool({ tools, cwd, mode: 'acceptEdits' }, 'Write', { file_path: '.gitignore', content: 'x' })).outcome
        .stage,
    ).toBe('run');
  });

  it('obeys the rules for Edit', async () => {
    const cwd = temporaryFolder();
    const deny = [{ behavior: 'deny' as const, rule: 'Edit(secret/**)' }];
    expect(
      (await callTool({ tools, cwd, rules: deny }, 'Write', { file_path: 'secret/a', content: '' })).outcome.stage,
    ).toBe('permission');
    const allow = [{ behavior: 'allow' as const, rule: 'Edit(src/**)' }];
    expect(
      (await callTool({ tools, cwd, mode: 'default', rules: allow }, 'Write', { file_path: 'src/a', content: '' }))
        .outcome.stage,
    ).toBe('run');
  });
});
