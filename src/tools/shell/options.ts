/** Options of programs that run other programs: where the inner command begins. */
import type { ShellWord } from './shell-word.ts';

/** How a program reads its options. */
export interface OptionForm {
  /** Letters of short options as in getopt: `:` behind a letter takes a value, `?` may have one attached. */
  readonly short: string;
  /** Long options without a value; one with a value must be written with `=`. */
  readonly long?: readonly string[];
  /** Words between the options and the command: the seconds of `timeout`. */
  readonly operands?: number;
  /** `NAME=value` before the command belongs to the program (`env`). */
  readonly assignments?: boolean;
}

/** Index of the first word behind the options, or null when they cannot be read with certainty. */
export function afterOptions(words: readonly ShellWord[], form: OptionForm): number | null {
  let index = 1;
  while (index < words.length) {
    const value = words[index]?.value;
    if (value == null) return null;
    if (value === '--') return index + 1 + (form.operands ?? 0);
    const taken = isOption(value) ? takes(value, form) : form.assignments === true && isAssignment(value) ? 1 : 0;
    if (taken === null) return null;
    if (taken === 0) break;
    index += taken;
  }
  return index + (form.operands ?? 0);
}

function isOption(value: string): boolean {
  return value.startsWith('-') && value !== '-';
}

/** `NAME=value`, as `env` and the shell read it. */
export function isAssignment(value: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(value);
}

/** How many words an option takes, itself included; null when that is not known. */
function takes(value: string, { short, long = [] }: OptionForm): number | null {
  if (value.startsWith('--')) return long.includes(value) || value.includes('=') ? 1 : null;
  for (let index = 1; index < value.length; index += 1) {
    const at = short.indexOf(value[index] ?? '');
    if (at < 0 || /[:?]/.test(value[index] ?? '')) return null;
    if (short[at + 1] === '?') return 1;
    if (short[at + 1] === ':') return index === value.length - 1 ? 2 : 1;
  }
  return 1;
}
