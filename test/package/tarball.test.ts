/**
 * The package as its users get it: packed, unpacked in an empty folder beside its declared dependencies alone, imported by
 * every entry point, type-checked and run. The dependencies are links to those of this repository, so nothing is fetched.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Manifest {
  readonly version: string;
  readonly bin: { readonly escapement: string };
  readonly exports: { readonly [entry: string]: unknown };
  readonly dependencies: { readonly [name: string]: string };
}

const root = path.resolve(import.meta.dirname, '../..');
const timeout = 180_000;

let user = '';
let installed = '';
let manifest: Manifest;
let entries: readonly string[] = [];

beforeAll(() => {
  user = mkdtempSync(path.join(tmpdir(), 'escapement-package-'));
  installed = path.join(user, 'node_modules/escapement');
  mkdirSync(installed, { recursive: true });
  // `npm pack` builds first (`prepack`).
  execFileSync('npm', ['pack', '--pack-destination', user], { cwd: root, stdio: 'pipe' });
  const tarball = readdirSync(user).find((name) => name.endsWith('.tgz')) ?? 'no tarball';
  execFileSync('tar', ['-xzf', path.join(user, tarball), '--strip-components=1', '-C', installed]);
  manifest = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as Manifest;
  entries = Object.keys(manifest.exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => path.posix.join('escapement', entry));
  for (const name of [...Object.keys(manifest.dependencies), '@types/node']) link(name);
}, timeout);

afterAll(() => rmSync(user, { recursive: true, force: true }));

function link(name: string): void {
  const at = path.join(user, 'node_modules', name);
  mkdirSync(path.dirname(at), { recursive: true });
  symlinkSync(path.join(root, 'node_modules', name), at, 'junction');
}

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: user, encoding: 'utf8', stdio: 'pipe' });
}

describe('the packed package', () => {
  it('holds what is built, and neither sources nor tests', () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(installed, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'));
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']));
    expect(files.filter((file) => !/^dist\/(src|machines)\/|^[^/]+$/.test(file))).toEqual([]);
    expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
  });

  it(
    'can be imported by every entry point',
    () => {
      const script = `
        const names = {};
        for (const entry of ${JSON.stringify(entries)}) names[entry] = Object.keys(await import(entry)).length;
        console.log(JSON.stringify(names));`;
      const names = JSON.parse(node('--input-type=module', '--eval', script)) as Record<string, number>;
      expect(Object.keys(names)).toEqual(['escapement', 'escapement/core', 'escapement/machine', 'escapement/testing']);
      expect(Object.values(names).filter((count) => count === 0)).toEqual([]);
    },
    timeout,
  );

  it(
    'gives its types to a strict user',
    () => {
      const uses = entries.map(
        (entry, index) => `import * as entry${index} from '${entry}';\nexport { entry${index} };\n`,
      );
      writeFileSync(path.join(user, 'use.ts'), uses.join(''));
      writeFileSync(path.join(user, 'package.json'), '{ "type": "module" }\n');
      const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
      const options = '--noEmit --strict --module nodenext --target es2024 --types node';
      const { stdout } = spawnSync(process.execPath, [compiler, ...options.split(' '), 'use.ts'], {
        cwd: user,
        encoding: 'utf8',
      });
      expect(stdout).toBe('');
    },
    timeout,
  );

  it(
    'runs its binary',
    () => {
      const binary = path.join(installed, manifest.bin.escapement);
      expect(readFileSync(binary, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
      expect(node(binary, '--version').trim()).toBe(manifest.version);
    },
    timeout,
  );
});
