/**
 * A shell command as permission rules read it. Two readings, each wrong on the safe side: an allow rule sees a command
 * only when it is one plain command; a deny or ask rule sees every part that could possibly be one.
 */

/** Words without any character that a shell might read as more than a letter. */
const plainWords = /^[A-Za-z0-9_./:@,+=%-]+(?:[ \t]+[A-Za-z0-9_./:@,+=%-]+)*$/;
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/** Programs whose arguments are (or hold) commands: every tail of such a part counts as a command too. */
const carriers = new Set(
  'env sudo doas su command builtin exec eval nohup nice ionice time timeout stdbuf setsid busybox xargs parallel watch find ssh sh bash dash zsh ksh fish'.split(
    ' ',
  ),
);
const reservedWords = new Set('if then elif else fi do done while until for case esac in ! time coproc'.split(' '));

/** The words of a plain command joined by single blanks, or null for anything with a shell metacharacter. */
export function plainCommand(command: string): string | null {
  const trimmed = command.trim();
  if (!plainWords.test(trimmed) || assignment.test(trimmed)) return null;
  return trimmed.split(/[ \t]+/).join(' ');
}

/** Every part of a command line that a shell could run as a command: too many rather than one too few. */
export function commandParts(command: string): readonly string[] {
  const joined = command
    .replace(/\\\r?\n/g, '')
    .replace(/[<>]\(/g, ';')
    // `{rm,-r,x}` is the command `rm -r x`.
    .replace(/\{([^{}\s]*)\}/g, (_, inner: string) => inner.replaceAll(',', ' '));
  const parts = joined.replace(/\d*(?:[<>]\|?)+&?[ \t]*[^\s;&|()`$]*/g, ' ').split(/[;&|\n\r(){}`$]/);
  return [...new Set(parts.flatMap(readings))];
}

/** A part without quotes and escapes, without what may stand before the command, and by its bare program name. */
function readings(part: string): readonly string[] {
  const words = part
    .replace(/["'\\]/g, '')
    .split(/\s+/)
    .filter((word) => word !== '');
  const start = words.findIndex((word) => !assignment.test(word) && !reservedWords.has(word));
  if (start < 0) return [];
  const command = words.slice(start);
  const tails = carriers.has(programName(command[0] ?? ''))
    ? command.map((_, index) => command.slice(index))
    : [command];
  return tails.flatMap((tail) => [tail.join(' '), [programName(tail[0] ?? ''), ...tail.slice(1)].join(' ')]);
}

function programName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

/**
 * True when a pattern describes a command: `*` stands for any characters; a blank and `*` (or `:*`) at the end also for
 * nothing, so that `git *` and `git:*` match `git` and `git log` but not `gitk`.
 */
export function matchesCommand(pattern: string, command: string): boolean {
  const words = pattern.trim().split(/\s+/).join(' ').replace(/:\*$/, ' *');
  const open = words.endsWith(' *');
  const source = (open ? words.slice(0, -2) : words)
    .split(/\*+/)
    .map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}${open ? '(?: .*)?' : ''}$`, 's').test(command);
}
