/** Text for people: one line of it. */
import { cutHead } from '../core/text.ts';

/** A text as one line of at most `length` characters, with `…` where something is left out. */
export function oneLine(text: string, length: number): string {
  const line = text
    .slice(0, length * 4)
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  return line.length <= length ? line : `${cutHead(line, length - 1)}…`;
}
