/** A text file as an edit sees it: line endings and byte order mark are kept, whatever the model writes. */

/** A decoded file. */
export interface TextFile {
  readonly text: string;
  /** The file begins with a byte order mark, which is no part of `text`. */
  readonly hasMark: boolean;
}

const mark = '\uFEFF';

/** The text of UTF-8 bytes, or null for bytes that are none: writing them back would change what was not edited. */
export function decodeText(content: Buffer): TextFile | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    return text.startsWith(mark) ? { text: text.slice(1), hasMark: true } : { text, hasMark: false };
  } catch {
    return null;
  }
}

/** The bytes of a text file, with its mark where it had one. */
export function encodeText({ text, hasMark }: TextFile): Buffer {
  return Buffer.from((hasMark ? mark + text : text).toWellFormed());
}

/** What came of a replacement. */
export interface Replaced {
  /** The new text; null when the old one was not found, or more than once and not all were meant. */
  readonly text: string | null;
  /** How often the old text stands in the file. */
  readonly found: number;
}

/**
 * Replaces `wanted` by `put`. In a file of CRLF lines both are read with CRLF, since models write LF; when that is not
 * found, `wanted` is looked for as it is.
 */
export function replaceText(file: TextFile, wanted: string, put: string, all: boolean): Replaced {
  if (!usesCrlf(file.text)) return replaceExact(file.text, wanted, put, all);
  const replaced = replaceExact(file.text, toCrlf(wanted), toCrlf(put), all);
  return replaced.found > 0 ? replaced : replaceExact(file.text, wanted, toCrlf(put), all);
}

function replaceExact(text: string, wanted: string, put: string, all: boolean): Replaced {
  const pieces = text.split(wanted);
  const found = pieces.length - 1;
  if (found === 0 || (found > 1 && !all)) return { text: null, found };
  return { text: pieces.join(put), found };
}

/** Most of the lines end in CRLF. */
function usesCrlf(text: string): boolean {
  const lines = text.split('\n').length - 1;
  return lines > 0 && text.split('\r\n').length - 1 > lines / 2;
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}
