/** Imports of memory files: `@path` in the text, but not in code. */
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { lexer, type Token } from 'marked';

/** A `@` at the start or behind white space or a bracket, and what follows up to white space. */
const importPattern = /(?:^|[\s([])@(?<path>[^\s@]+)/g;
/** Punctuation that belongs to the sentence, not to the path. */
const sentenceEnd = /[.,;:!?)\]'"]+$/;

/** The paths that a text imports, as they are written, each once, in order. Code spans and blocks are left out. */
export function importsIn(text: string): readonly string[] {
  if (!text.includes('@')) return [];
  const found = textsOf(lexer(text)).flatMap((piece) =>
    [...piece.matchAll(importPattern)].map((match) => (match.groups?.['path'] ?? '').replace(sentenceEnd, '')),
  );
  return [...new Set(found.filter((path) => path !== ''))];
}

/** The texts of a document outside of code; a token with parts of its own counts by its parts. */
function textsOf(tokens: readonly Token[]): readonly string[] {
  return tokens.flatMap((token): readonly string[] => {
    if (token.type === 'code' || token.type === 'codespan' || token.type === 'html') return [];
    if (token.type === 'table') return cellsOf(token);
    if ('items' in token && Array.isArray(token.items)) return textsOf(token.items as Token[]);
    if ('tokens' in token && token.tokens !== undefined) return textsOf(token.tokens);
    return [token.raw];
  });
}

function cellsOf(table: Token): readonly string[] {
  const { header = [], rows = [] } = table as { header?: readonly Cell[]; rows?: readonly (readonly Cell[])[] };
  return [...header, ...rows.flat()].flatMap((cell) => textsOf(cell.tokens));
}

interface Cell {
  readonly tokens: readonly Token[];
}

/** Where an import leads: from the folder of the file that holds it, from the home folder, or absolute. */
export function importedPath(written: string, from: string, home: string = homedir()): string {
  if (written.startsWith('~/')) return join(home, written.slice(2));
  return isAbsolute(written) ? resolve(written) : resolve(dirname(from), written);
}

/** True when the writer surely meant a file, so that a missing one is worth a word; `@scope/package` may be no import. */
export function isSurelyPath(written: string): boolean {
  return /^(?:\.{1,2}|~)?\//.test(written) || /\.(?:md|markdown|txt)$/i.test(written);
}
