/** Links of the documentation, the commands that it gives, and what it may not name. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, names, pages, proseOf, root, textOf } from './markdown.ts';

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;

/** What a heading is called in a link. */
function anchorOf(heading: string): string {
  const text = heading.replace(/^#+ /, '').toLowerCase();
  return text.replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-');
}

describe('links', () => {
  it.each(pages())('of %s lead to what is there', (page) => {
    const links = [...proseOf(page).matchAll(/\]\((?<to>[^)\s]+)\)/g)].map((match) => match.groups?.['to'] ?? '');
    const broken = links.filter((link) => !/^https?:/.test(link) && !isThere(page, link));
    expect(broken).toEqual([]);
  });
});

function isThere(page: string, link: string): boolean {
  const [to = '', anchor = ''] = link.split('#');
  const target = to === '' ? page : path.posix.join(path.posix.dirname(page), to);
  if (!existsSync(path.join(root, target))) return false;
  if (anchor === '') return true;
  const headings = proseOf(target)
    .split('\n')
    .filter((line) => /^#+ /.test(line));
  return headings.map(anchorOf).includes(anchor);
}

describe('README.md', () => {
  const commands = blocksOf('README.md')
    .filter((block) => block.language === 'sh')
    .flatMap((block) => block.text.split('\n'));

  it('gives the two commands', () => {
    expect(commands).toEqual(expect.arrayContaining(['npm ci && npm start', 'npm ci && npm test']));
  });

  it('names scripts that the package has', () => {
    const scripts = commands.flatMap((line) => [...line.matchAll(/npm (?:run )?(?!ci\b|install\b|pack\b)([\w:]+)/g)]);
    expect(scripts.map((match) => match[1]).filter((name) => !Object.hasOwn(manifest.scripts, name ?? ''))).toEqual([]);
  });
});

describe('every page', () => {
  it.each(pages())('%s speaks of the product alone', (page) => {
    const text = textOf(page);
    expect(text).not.toMatch(/\/(?:work|home|root)\/[\w-]/);
    expect(text).not.toMatch(/\bworkplace\b|\bloop contract\b/i);
  });
});

describe('the decision on dependencies', () => {
  const page = 'docs/decisions/0001-dependencies.md';

  it('names each of them, and no other', () => {
    expect(names(page, '## At run time').toSorted()).toEqual(Object.keys(manifest.dependencies).toSorted());
    const optional = names(page, '## At run time, where it is installed');
    expect(optional.toSorted()).toEqual(Object.keys(manifest.optionalDependencies).toSorted());
    expect(names(page, '## For development').toSorted()).toEqual(Object.keys(manifest.devDependencies).toSorted());
  });
});
