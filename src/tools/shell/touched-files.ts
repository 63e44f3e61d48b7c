/** Files that the commands of a line are told to read or write, as far as their words say so. */
import type { ShellPart, ShellReading } from './read-shell.ts';
import { baseName, type ShellWord } from './shell-word.ts';

/** A file as the line names it. */
export interface NamedFile {
  readonly word: ShellWord;
  readonly access: 'read' | 'write';
  /** The command that is given it; null: the shell itself opens it. */
  readonly part: ShellPart | null;
}

const readers = new Set(
  'cat head tail less more nl tac wc sort uniq cut grep egrep fgrep rg diff cmp comm xxd od hexdump strings base64 file stat jq sed awk source .'.split(
    ' ',
  ),
);
const writers = new Set('tee touch mkdir rmdir rm mv truncate shred chmod chown'.split(' '));
const copiers = new Set('cp ln install'.split(' '));
/** Files that are none: what goes there is gone, or is the output itself. */
const nowhere = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/stdin']);

/** Every file that the line names. */
export function namedFiles({ parts, redirected }: ShellReading): readonly NamedFile[] {
  const opened = redirected.map((file) => ({ ...file, part: null }));
  return [...opened, ...parts.flatMap(filesOf)].filter(({ word }) => !nowhere.has(word.value ?? ''));
}

function filesOf(part: ShellPart): readonly NamedFile[] {
  const name = baseName(part.words[0]?.value ?? '');
  const words = part.words.slice(1).filter(({ value }) => value === null || !value.startsWith('-'));
  if (copiers.has(name)) {
    return words.map((word, index) => ({ word, part, access: index < words.length - 1 ? 'read' : 'write' }));
  }
  const isInPlace = name === 'sed' && part.words.some(({ value }) => /^-[A-Za-z]*i/.test(value ?? ''));
  if (writers.has(name) || isInPlace) return words.map((word) => ({ word, part, access: 'write' }));
  return readers.has(name) ? words.map((word) => ({ word, part, access: 'read' })) : [];
}

/** Options with which these commands do no more than they say; without them nothing is known. */
const fileCommands: { readonly [name: string]: RegExp } = {
  mkdir: /^-[pv]+$/,
  touch: /^-[acm]+$/,
  mv: /^-[finv]+$/,
  cp: /^-[finpv]+$/,
};

/** True for a plain `mkdir`, `touch`, `mv` or `cp`: mode `acceptEdits` lets it pass where its files are in the workspace. */
export function isFileCommand({ words }: ShellPart): boolean {
  const name = words[0]?.value ?? '';
  const options = Object.hasOwn(fileCommands, name) ? fileCommands[name] : undefined;
  if (options === undefined) return false;
  const rest = words.slice(1);
  return (
    rest.some(({ value }) => value !== null && !value.startsWith('-')) &&
    rest.every(({ value }) => value !== null && (!value.startsWith('-') || options.test(value)))
  );
}
