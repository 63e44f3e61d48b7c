/** What the pages of the documentation hold, as data. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');

/** README.md and every page under `docs` but the generated report of the API, as paths from the top. */
export function pages(): readonly string[] {
  const under = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const found = under
    .filter((name) => name.endsWith('.md') && name !== 'api.md')
    .map((name) => `docs/${name.split(path.sep).join('/')}`);
  return ['README.md', ...found.toSorted()];
}

export function textOf(page: string): string {
  return readFileSync(path.join(root, page), 'utf8');
}

/** A fenced block of a page. */
export interface Block {
  readonly page: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** What the comments `<!-- name: value -->` say that stand between the text before and this block. */
  readonly marks: ReadonlyMap<string, string>;
}

const mark = /^<!-- (?<name>[a-z]+)(?:: (?<value>.+))? -->$/;

/** Every fenced block of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  const lines = textOf(page).split('\n');
  const blocks: Block[] = [];
  let marks = new Map<string, string>();
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const marked = mark.exec(line);
    if (marked !== null) {
      marks.set(marked.groups?.['name'] ?? '', marked.groups?.['value'] ?? '');
    } else if (line.startsWith('```')) {
      const end = lines.indexOf('```', index + 1);
      if (end < 0) throw new Error(`${page}:${index + 1}: the block has no end.`);
      const text = lines.slice(index + 1, end).join('\n');
      blocks.push({ page, line: index + 1, language: line.slice(3).trim(), text, marks });
      marks = new Map();
      index = end;
    } else if (line.trim() !== '') {
      marks = new Map();
    }
  }
  return blocks;
}

/** The cells of the table that follows a heading, without its head; the heading as it is written, with its marks. */
export function tableUnder(page: string, heading: string): readonly (readonly string[])[] {
  const lines = textOf(page).split('\n');
  const from = lines.indexOf(heading);
  if (from < 0) throw new Error(`${page} has no heading "${heading}".`);
  const start = lines.findIndex((line, index) => index > from && line.startsWith('|'));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .replaceAll('\\|', '\u0000')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('\u0000', '|').trim()),
  );
}

/** The names in the first column of a table: `code`, perhaps several in one cell. */
export function names(page: string, heading: string, column = 0): readonly string[] {
  return tableUnder(page, heading).flatMap((row) => codes(row[column] ?? ''));
}

export function codes(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

/** Every member of a type, so that the compiler finds the one that is missing here. */
export function all<Name extends string>(members: Readonly<Record<Name, true>>): readonly string[] {
  return Object.keys(members).toSorted();
}

/** The text of a page without its fenced blocks. */
export function proseOf(page: string): string {
  return textOf(page).replaceAll(/^```[^\n]*\n[\s\S]*?^```$/gm, '');
}
