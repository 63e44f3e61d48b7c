/** A word of a shell command: what is fixed in it, and where the shell puts in something that is not known before. */
import type { Word, WordPart } from 'unbash';

/** A word as rules read it. */
export interface ShellWord {
  /** As it was written. */
  readonly source: string;
  /** Without quotes and escapes; null when the shell puts something in that is not known before. */
  readonly value: string | null;
  /** The fixed pieces in order; null stands for anything at all. */
  readonly shape: readonly (string | null)[];
  /** Written in a way that hides what it says (`$'\x72m'`), although the value is known. */
  readonly disguised: boolean;
}

/** Characters that stand for themselves in every shell: such a word is shown to rules without its quotes. */
const plain = /^[A-Za-z0-9_./:@,+=%^~-]+$/;

/** Reads a word of the parser. */
export function readWord(word: Word): ShellWord {
  // Without parts there is nothing but letters, quotes and escapes in it.
  const shape = word.parts === undefined ? [word.value] : word.parts.flatMap(shapeOf);
  const disguised = word.parts?.some((part) => part.type === 'AnsiCQuoted' || part.type === 'LocaleString') ?? false;
  return { source: word.text, value: fixedText(shape), shape, disguised };
}

/** A word that is known to be this text. */
export function fixedWord(value: string): ShellWord {
  return { source: value, value, shape: [value], disguised: false };
}

function fixedText(shape: ShellWord['shape']): string | null {
  return shape.every((piece) => piece !== null) ? shape.join('') : null;
}

function shapeOf(part: WordPart): readonly (string | null)[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [part.value];
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.flatMap(shapeOf);
    default:
      return [null];
  }
}

/** The word as allow rules see it: without quotes where they change nothing, else as it was written. */
export function shownWord({ source, value }: ShellWord): string {
  return value !== null && plain.test(value) ? value : source;
}

/** The name without the folders before it. */
export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
