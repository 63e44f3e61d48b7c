import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { builtInTools } from '../../../src/tools/builtin/index.ts';
import { Pattern, SlowPattern } from '../../../src/tools/builtin/pattern.ts';
import { type Called, callTool, type Setting, temporaryFolder } from '../call-tool.ts';

const tools = builtInTools();

function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryFolder();
  for (const [index, [name, content]] of Object.entries(files).entries()) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
    // Later ones are newer.
    utimesSync(join(folder, name), 1_000 + index, 1_000 + index);
  }
  return folder;
}

function search(name: 'Glob' | 'Grep', cwd: string, input: JsonObject, more: Partial<Setting> = {}): Promise<Called> {
  return callTool({ tools, cwd, mode: 'default', ...more }, name, input);
}

describe('Glob', () => {
  it('finds files by a pattern, the newest first, hidden ones too', async () => {
    const folder = folderOf({ 'a.ts': '', 'src/b.ts': '', 'src/deep/c.ts': '', '.dot/d.ts': '', 'e.js': '' });
    expect((await search('Glob', folder, { pattern: '**/*.ts' })).text).toBe(
      '.dot/d.ts\nsrc/deep/c.ts\nsrc/b.ts\na.ts',
    );
    expect((await search('Glob', folder, { pattern: '*.{ts,js}' })).text).toBe('e.js\na.ts');
    expect((await search('Glob', folder, { pattern: '*.ts', path: 'src' })).text).toBe('src/b.ts');
    expect((await search('Glob', folder, { pattern: `${folder}/src/*.ts` })).text).toBe('src/b.ts');
    expect((await search('Glob', folder, { pattern: './a.ts' })).text).toBe('a.ts');
    expect((await search('Glob', folder, { pattern: '*.py' })).text).toBe('No files found.');
  });

  it('leaves out what git ignores, by every .gitignore on the way, the nearest having the last word', async () => {
    const folder = folderOf({
      '.git/config': '',
      '.gitignore': 'node_modules/\n*.log\n/dist\n',
      'node_modules/x/a.ts': '',
      'a.log': '',
      'dist/a.ts': '',
      'sub/dist/a.ts': '',
      'sub/.gitignore': '!keep.log\nlocal.ts\n',
      'sub/keep.log': '',
      'sub/b.log': '',
      'sub/local.ts': '',
    });
    const found = (await search('Glob', folder, { pattern: '**/*' })).text.split('\n').toSorted();
    expect(found).toEqual(['.gitignore', 'sub/.gitignore', 'sub/dist/a.ts', 'sub/keep.log']);
    expect((await search('Glob', folder, { pattern: '**/*', path: 'sub' })).text).not.toContain('b.log');
    expect((await search('Glob', folder, { pattern: '**/*', path: 'node_modules' })).text).toBe('node_modules/x/a.ts');
  });

  it('lists 100 and says how many there are', async () => {
    const folder = folderOf(Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`f${index}`, ''])));
    const { text } = await search('Glob', folder, { pattern: '*' });
    expect(text.split('\n')).toHaveLength(101);
    expect(text).toContain('(The first 100 of 120 files;');
  });

  it('follows no links and leaves the workspace by no pattern', async () => {
    const outer = folderOf({ 'secret.ts': '', 'workspace/a.ts': '', 'workspace/sub/b.ts': '' });
    const folder = join(outer, 'workspace');
    symlinkSync('..', join(folder, 'up'));
    symlinkSync('.', join(folder, 'self'));
    for (const pattern of [
      '../*.ts',
      '{..,sub}/*.ts',
      'sub/../../*.ts',
      '@(..|sub)/*.ts',
      `${outer}/*.ts`,
      '/etc/*',
      'up/*.ts',
      'u?/*.ts',
      'up/../*.ts',
    ]) {
      const { text } = await search('Glob', folder, { pattern }, { mode: 'bypassPermissions' });
      expect([pattern, text]).toEqual([pattern, expect.not.stringMatching(/secret|passwd/)]);
    }
    expect((await search('Glob', folder, { pattern: '**/*.ts' })).text.split('\n').toSorted()).toEqual([
      'a.ts',
      'sub/b.ts',
    ]);
    expect((await search('Glob', folder, { pattern: '*', path: '..' })).outcome.stage).toBe('permission');
    expect((await search('Glob', folder, { pattern: '*', path: 'up' })).outcome.stage).toBe('permission');
  });

  it('does not list what deny rules for Read keep back', async () => {
    const folder = folderOf({ '.env': '', 'secret/a': '', b: '' });
    const rules = [
      { behavior: 'deny' as const, rule: 'Read(.env)' },
      { behavior: 'ask' as const, rule: 'Read(secret/**)' },
    ];
    expect((await search('Glob', folder, { pattern: '**/*' }, { rules })).text).toBe('b');
  });

  it('says what is wrong with a path', async () => {
    const folder = folderOf({ 'a.ts': '' });
    expect((await search('Glob', folder, { pattern: '*', path: 'a.ts' })).text).toContain('is a file');
    expect((await search('Glob', folder, { pattern: '*', path: 'nope' })).text).toContain('does not exist');
  });

  it('works in a folder whose name looks like a pattern', async () => {
    const folder = folderOf({ '[a] (b) {c}/x.ts': '' });
    expect((await search('Glob', folder, { pattern: '*.ts', path: '[a] (b) {c}' })).text).toBe('[a] (b) {c}/x.ts');
  });
});

describe('Grep', () => {
  const files = {
    'a.ts': 'one\ntwo\nthree\n',
    'src/b.ts': 'two two\nTWO\n',
    'c.js': 'no\n',
    bin: Buffer.from('two\0'),
  };

  it('lists files with matches, the newest first', async () => {
    const folder = folderOf(files);
    expect((await search('Grep', folder, { pattern: 'two' })).text).toBe('src/b.ts\na.ts');
    expect((await search('Grep', folder, { pattern: 'nowhere' })).text).toBe('No matches found.');
  });

  it('shows lines, with numbers and the lines around', async () => {
    const folder = folderOf({ a: '1\n2\nx\n4\n5\n6\n7\nx\n9\n' });
    const content = { pattern: 'x', output_mode: 'content' };
    expect((await search('Grep', folder, content)).text).toBe('a:3:x\na:8:x');
    expect((await search('Grep', folder, { ...content, '-n': false })).text).toBe('a:x\na:x');
    expect((await search('Grep', folder, { ...content, '-B': 1 })).text).toBe('a-2-2\na:3:x\n--\na-7-7\na:8:x');
    expect((await search('Grep', folder, { ...content, '-A': 1 })).text).toBe('a:3:x\na-4-4\n--\na:8:x\na-9-9');
    expect((await search('Grep', folder, { ...content, '-C': 3 })).text.split('\n')).toHaveLength(9);
  });

  it('counts, ignores case, filters by glob, searches one file', async () => {
    const folder = folderOf(files);
    expect((await search('Grep', folder, { pattern: 'two', output_mode: 'count', '-i': true })).text).toBe(
      'a.ts:1\nsrc/b.ts:2',
    );
    expect((await search('Grep', folder, { pattern: '(?i)TWO', output_mode: 'count' })).text).toBe(
      'a.ts:1\nsrc/b.ts:2',
    );
    expect((await search('Grep', folder, { pattern: 'o', glob: '*.js' })).text).toBe('c.js');
    expect((await search('Grep', folder, { pattern: 'o', glob: '!*.ts' })).text).toBe('c.js');
    expect((await search('Grep', folder, { pattern: 't', glob: 'src/**' })).text).toBe('src/b.ts');
    expect((await search('Grep', folder, { pattern: 'two', path: 'a.ts', output_mode: 'content' })).text).toBe(
      'a.ts:2:two',
    );
    expect((await search('Grep', folder, { pattern: 'two', path: 'bin' })).text).toContain('is binary');
  });

  it('stops at its limit and says so', async () => {
    const folder = folderOf({ a: 'x\n'.repeat(1_000), b: 'x\n' });
    const content = { pattern: 'x', output_mode: 'content' };
    expect((await search('Grep', folder, { ...content, head_limit: 2 })).text).toBe(
      'a:1:x\na:2:x\n(Only the first 2 lines; there are more.)',
    );
    expect((await search('Grep', folder, content)).text).toContain('(Only the first 250 lines; there are more.)');
    expect((await search('Grep', folder, { ...content, head_limit: 0 })).text.split('\n')).toHaveLength(1_001);
    expect((await search('Grep', folder, { pattern: 'x', head_limit: 1 })).text).toContain('(The first 1 of 2 files;');
  });

  it('matches within lines, and over them when asked', async () => {
    const folder = folderOf({ a: 'begin\r\nmiddle\r\nend\r\nbegin end\r\n' });
    const content = { pattern: 'begin[^x]*?end', output_mode: 'content' };
    expect((await search('Grep', folder, content)).text).toBe('a:4:begin end');
    expect((await search('Grep', folder, { ...content, multiline: true })).text).toBe(
      'a:1:begin\na:2:middle\na:3:end\na:4:begin end',
    );
    expect((await search('Grep', folder, { pattern: 'e$', output_mode: 'content', multiline: true })).text).toBe(
      'a:2:middle',
    );
    expect((await search('Grep', folder, { pattern: '$', output_mode: 'count' })).text).toBe('a:4');
    expect((await search('Grep', folder, { pattern: '^', output_mode: 'count', multiline: true })).text).toBe('a:4');
  });

  it('finds lines that go over the borders of chunks, in linear time', async () => {
    const folder = folderOf({
      a: `${'x'.repeat(300_000)}é${'x'.repeat(300_000)}needle\nnext\n${'y'.repeat(5_000_000)}\nlast needle`,
    });
    const { text } = await search('Grep', folder, { pattern: 'needle$', output_mode: 'content' });
    const lines = text.split('\n');
    expect(lines[0]).toMatch(/^a:1:x{500}…$/);
    expect(lines[1]).toBe('a:4:last needle');
    const open = folderOf({ a: `needle${'x'.repeat(600_000)}` });
    expect((await search('Grep', open, { pattern: '^needle', output_mode: 'count' })).text).toBe('a:1');
  });

  it('gives up on a pattern that backtracks without end, in bounded time', async () => {
    const evil = '(a+)+$';
    const folder = folderOf({ a: `${'a'.repeat(50)}!\n`, b: 'aaa\n' });
    const { text } = await search('Grep', folder, { pattern: evil });
    expect(text).toContain('b');
    expect(text).toContain('takes too long there: a');
    expect(() => new Pattern(evil, { ignoreCase: false, multiline: true }).matchSpans(`${'a'.repeat(50)}!`)).toThrow(
      SlowPattern,
    );
  });

  it('law: looking at the whole of a text first loses no line', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[^a]', '\\s', '\\b', '^', '$', '(?!a)', '(?<!b)', '(?=b)', '(?<=a)');
    const patterns = fc.array(fc.tuple(atom, fc.constantFrom('', '', '*', '+?')), { minLength: 1, maxLength: 4 });
    const text = fc.stringMatching(/^(?:a|b|\r\n|\n| ){0,12}$/);
    fc.assert(
      fc.property(patterns, text, (parts, whole) => {
        const source = parts.map(([piece, times]) => (/[\\^$(]/.test(piece) ? piece : piece + times)).join('');
        const pattern = new Pattern(source, { ignoreCase: false, multiline: false });
        const lines = whole.split(/\r?\n/);
        const expected = lines.flatMap((line, index) => (new RegExp(source).test(line) ? [index] : []));
        expect(pattern.matchLines(lines)).toEqual(expected);
        if (expected.length > 0) expect(pattern.mayMatch([whole])).toEqual([true]);
      }),
      { numRuns: 500 },
    );
  });

  it('says what is wrong with a pattern, and takes patterns as people write them', async () => {
    const folder = folderOf({ a: 'interface{}\nÄ\n' });
    expect((await search('Grep', folder, { pattern: '(' })).text).toContain('is no regular expression');
    expect((await search('Grep', folder, { pattern: 'interface{}' })).text).toBe('a');
    expect((await search('Grep', folder, { pattern: '\\p{Lu}', output_mode: 'content' })).text).toBe('a:2:Ä');
  });

  it('leaves out ignored files, links and what deny rules keep back', async () => {
    const outer = folderOf({
      secret: 'two',
      'workspace/.gitignore': 'out',
      'workspace/out/a': 'two',
      'workspace/.env': 'two',
      'workspace/b': 'two',
    });
    const folder = join(outer, 'workspace');
    symlinkSync('../secret', join(folder, 'link'));
    const rules = [{ behavior: 'deny' as const, rule: 'Read(.env)' }];
    expect((await search('Grep', folder, { pattern: 'two' }, { rules })).text).toBe('b');
    expect((await search('Grep', folder, { pattern: 'two', path: '.env' }, { rules })).outcome.stage).toBe(
      'permission',
    );
    expect((await search('Grep', folder, { pattern: 'two', path: 'link' })).outcome.stage).toBe('permission');
  });

  it('stops at an abort', async () => {
    const folder = folderOf(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}`, 'x'])));
    const abort = new AbortController();
    const called = search('Grep', folder, { pattern: 'x' }, { signal: abort.signal });
    abort.abort();
    expect((await called).outcome.stage).toBe('abort');
  });

  it('B41, bad inputs: names what does not fit', async () => {
    for (const input of [
      {},
      { pattern: '' },
      { pattern: 'a', '-A': -1 },
      { pattern: 'a', output_mode: 'lines' },
      { pattern: 'a', type: 'ts' },
    ]) {
      expect((await search('Grep', '/', input)).outcome.stage).toBe('schema');
    }
  });
});
