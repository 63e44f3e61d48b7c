/** The page on the command line, and the output of the demo that README.md shows, held against the command itself. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { exitStatus } from '../../src/cli/exit-status.ts';
import { blocksOf, names, root, tableUnder } from './markdown.ts';

const page = 'docs/cli.md';
const timeout = 60_000;
const home = mkdtempSync(path.join(tmpdir(), 'escapement-docs-'));
const run = promisify(execFile);

afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What the command prints without a key, a profile and a terminal. */
async function printed(...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: tmpdir() };
  const { stdout } = await run(process.execPath, [path.join(root, 'src/cli/main.ts'), ...args], { cwd: home, env });
  return stdout;
}

function flagsIn(help: string): readonly string[] {
  return [...help.matchAll(/^ {2}(-[^ ].*?)(?: {2}|$)/gm)]
    .flatMap((line) => [...(line[1] ?? '').matchAll(/--?[a-zA-Z][\w-]*/g)])
    .map((flag) => flag[0])
    .toSorted();
}

/** Blanks at the ends of lines, times, token counts and the temporary folder differ from run to run. */
function normalised(text: string): string {
  return text
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\((?:\d+ ms|\d+\.\d s)\)/g, '(time)')
    .replaceAll(/[\d,]+ tokens in, [\d,]+ out/g, 'tokens')
    .replaceAll(/Repository: .*/g, 'Repository')
    .trim();
}

describe('the page on the command line', () => {
  it('lists each option', { timeout }, async () => {
    expect(names(page, '## A query').toSorted()).toEqual(flagsIn(await printed('--help')));
    const own = (help: string): readonly string[] => flagsIn(help).filter((flag) => !/^(?:-h|--help)$/.test(flag));
    expect(names(page, '## `escapement simulate`').toSorted()).toEqual(own(await printed('simulate', '--help')));
    expect(names(page, '## `escapement hooks`').toSorted()).toEqual(own(await printed('hooks', '--help')));
    expect(names(page, '## `escapement bound`').toSorted()).toEqual(own(await printed('bound', '--help')));
  });

  it('lists each exit status', () => {
    const listed = tableUnder(page, '## Exit status').map(([status]) => Number(status));
    expect(listed).toEqual(Object.values(exitStatus).toSorted((left, right) => left - right));
  });

  it('shows what `bound` prints', { timeout }, async () => {
    const shown = blocksOf(page).find((block) => block.language === 'console');
    expect(shown?.text).toBe(`$ escapement bound\n${(await printed('bound')).trimEnd()}`);
  });
});

describe('README.md', () => {
  it('shows what the demo prints', { timeout }, async () => {
    const shown = blocksOf('README.md').find((block) => block.marks.has('demo'));
    expect(normalised(shown?.text ?? '')).toBe(normalised(await printed()));
  });
});
