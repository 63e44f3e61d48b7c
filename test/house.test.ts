/** The laws of the house that no compiler checks: who imports whom, how long a file is, what stands at the top. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultOf, importsOf } from './house/law.ts';

const root = path.resolve(import.meta.dirname, '..');
const longest = 300;

function filesUnder(folder: string): readonly string[] {
  const absolute = path.join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'));
}

function textOf(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

const sources = [...filesUnder('src'), ...filesUnder('machines')];

describe('the house', () => {
  it('lets each folder import what its law allows', () => {
    const faults = sources.flatMap((file) => importsOf(textOf(file)).map((found) => faultOf(file, found)));
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  });

  it('names the extension of every import of its own', () => {
    const bare = sources.flatMap((file) =>
      importsOf(textOf(file))
        .filter(({ specifier }) => specifier.startsWith('.') && !specifier.endsWith('.ts'))
        .map(({ specifier }) => `${file}: ${specifier}`),
    );
    expect(bare).toEqual([]);
  });

  it('exports by name, never `export *`', () => {
    expect(sources.filter((file) => /^export \*/m.test(textOf(file)))).toEqual([]);
  });

  it(`keeps every source file within ${longest} lines`, () => {
    const tooLong = sources
      .map((file) => ({ file, lines: textOf(file).trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > longest);
    expect(tooLong).toEqual([]);
  });

  it('has nothing at the top but what is agreed', () => {
    const agreed = ['src', 'machines', 'test', 'docs', 'package.json', 'tsconfig.json', 'README.md'];
    const beside = ['package-lock.json', 'LICENSE', 'CHANGELOG.md'];
    const top = readdirSync(root).filter((name) => !name.startsWith('.') && !ignored(name));
    expect(top.filter((name) => ![...agreed, ...beside].includes(name))).toEqual([]);
  });

  it('keeps the names of hosts out of the lock file', () => {
    expect(textOf('package-lock.json')).not.toMatch(/"resolved"/);
  });
});

/** What `.gitignore` names. Read without git, so that the suite runs in an unpacked copy too. */
function ignored(name: string): boolean {
  const patterns = textOf('.gitignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return patterns.some((pattern) => path.matchesGlob(name, pattern.replace(/\/$/, '')));
}
