/** Patterns of rules for commands: what they match, and what they could match where words are not known. */

/** A text with gaps: null stands for any characters. */
export type Gapped = readonly (string | null)[];

/**
 * True when a pattern describes a command: `*` stands for any characters; a blank and `*` (or `:*`) at the end also for
 * nothing, so that `git *` and `git:*` match `git` and `git log` but not `gitk`.
 */
export function matchesCommand(pattern: string, command: string): boolean {
  return alternatives(pattern).some((pieces) => couldBeEqual(pieces, [command]));
}

/** True when some text in place of the gaps would make the pattern describe the command. */
export function couldMatchCommand(pattern: string, command: Gapped): boolean {
  return alternatives(pattern).some((pieces) => couldBeEqual(pieces, command));
}

/** True when the pattern describes this one command and no other. */
export function isExact(pattern: string): boolean {
  return !pattern.includes('*');
}

function alternatives(pattern: string): readonly Gapped[] {
  const words = pattern.trim().split(/\s+/).join(' ').replace(/:\*$/, ' *');
  return words.endsWith(' *') ? [gapped(words), gapped(words.slice(0, -2))] : [gapped(words)];
}

function gapped(pattern: string): Gapped {
  return pattern.split(/(\*+)/).map((piece) => (piece.startsWith('*') ? null : piece));
}

/** Do two texts with gaps have a text in common? Time is the product of their lengths, whatever they hold. */
function couldBeEqual(left: Gapped, right: Gapped): boolean {
  const others = symbols(right);
  let row = [true];
  for (const other of others) row.push(other === null && row.at(-1) === true);
  for (const symbol of symbols(left)) {
    const next = [symbol === null && row[0] === true];
    for (const [index, other] of others.entries()) {
      const isGap = symbol === null || other === null;
      next.push(isGap ? row[index + 1] === true || next[index] === true : symbol === other && row[index] === true);
    }
    row = next;
  }
  return row.at(-1) === true;
}

function symbols(text: Gapped): readonly (string | null)[] {
  return text.flatMap((piece) => (piece === null ? [null] : piece.split('')));
}
