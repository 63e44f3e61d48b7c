/** What makes a known command run or change more than its name says: a rule with `*` must not cover it. */
import { baseName, type ShellWord } from './shell-word.ts';

/** Variables that no program takes for a command, a file to load, or a place to connect to. */
const harmlessVariables = new Set(
  'CI NODE_ENV TZ LANG LANGUAGE TERM COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE DEBUG VERBOSE RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GOOS GOARCH CGO_ENABLED'.split(
    ' ',
  ),
);

/** True for a variable that may be set before a command without changing what runs. */
export function isHarmlessVariable(name: string): boolean {
  return harmlessVariables.has(name) || /^LC_[A-Z]+$/.test(name);
}

/** True for a name that programs do not look at: a short one in small letters, as loops use. */
export function isLoopVariable(name: string): boolean {
  return /^[a-z][a-z0-9]*$/.test(name) || isHarmlessVariable(name);
}

/** Git: options before the subcommand that name programs or another repository. */
const gitGlobal = /^(?:-c|--config-env|--exec-path|--git-dir|--work-tree|--namespace|--super-prefix)(?:=|$)|^-c./;
/** Git: options of subcommands that name programs, or a file to write; git takes any beginning of a name. */
const gitOption = /^--(?:exec|upload|receive|ext|textc|open|outp|config|templ|tool)|^ext::/;
const gitShort: { readonly [subcommand: string]: RegExp } = {
  rebase: /^-[a-z]*x/,
  grep: /^-[a-z]*O/,
  difftool: /^-[a-z]*x/,
  clone: /^-[a-z]*[uc]/,
};
const gitSettings =
  /alias|pager|editor|command|cmd|hook|fsmonitor|helper|filter|driver|program|tool|proxy|include|url\./i;

/** Why a rule with `*` must not cover this command, or null. */
export function whyExact(words: readonly ShellWord[]): string | null {
  const name = baseName(words[0]?.value ?? '');
  const rest = words.slice(1);
  switch (name) {
    case 'git':
      return ofGit(rest);
    case 'find':
      if (rest.some(couldBeOption)) return 'find may be given an option that is not known before';
      return rest.some(({ value }) => /^-(?:delete|fprint0?|fprintf|fls)$/.test(value ?? ''))
        ? 'find changes files here'
        : null;
    case 'printf':
    case 'test':
    case '[':
      return rest.some((word) => /^-[vR]/.test(word.value ?? '') || (name === 'printf' && couldBeOption(word)))
        ? `${name} works on a variable here`
        : null;
    case 'sort':
    case 'uniq':
      return rest.some(({ value }) => /^(?:-[A-Za-z]*o|--output|--compress-program)/.test(value ?? ''))
        ? `${name} writes a file or runs a program here`
        : null;
    case 'sed':
      return sedRuns(rest) ? 'sed changes files here' : null;
    default:
      return null;
  }
}

/** A word that the shell could make into an option. */
function couldBeOption({ shape, value }: ShellWord): boolean {
  return value === null && (shape[0] === null || shape[0] === '' || shape[0]?.startsWith('-') === true);
}

function ofGit(words: readonly ShellWord[]): string | null {
  let at = 0;
  for (; at < words.length; at += 1) {
    const value = words[at]?.value;
    if (value == null) return 'what git is told to do is not known before';
    if (!value.startsWith('-')) break;
    if (gitGlobal.test(value)) return 'git may run another program here';
    if (value === '-C') {
      at += 1;
      if (/^(?:\/|~|.*\.\.)/.test(words[at]?.value ?? '/')) return 'git works in another folder here';
    }
  }
  const subcommand = words[at]?.value ?? '';
  return runsMore(subcommand, words.slice(at + 1)) ? 'git may run another program here' : null;
}

function runsMore(subcommand: string, words: readonly ShellWord[]): boolean {
  if (/^(?:filter-branch|config-env|instaweb|daemon|shell)$/.test(subcommand)) return true;
  const values = words.map(({ value }) => value ?? '');
  if (values.some((value) => gitOption.test(value) || gitShort[subcommand]?.test(value) === true)) return true;
  // An unquoted word could become any option; a quoted one is at most one word, and begins with a letter in practice.
  if (words.some((word) => couldBeOption(word) && !word.source.startsWith('"'))) return true;
  if (subcommand === 'config') return words.some(({ value }) => value === null || gitSettings.test(value));
  return (subcommand === 'bisect' && values[0] === 'run') || (subcommand === 'submodule' && values.includes('foreach'));
}

/** `-i`, a script from a file, and the commands and flags that write: looked for generously. */
function sedRuns(words: readonly ShellWord[]): boolean {
  return words.some(({ value }) => {
    if (value === null) return true;
    return (
      /^(?:-[A-Za-z]*i|--in-place|-[A-Za-z]*f|--file)/.test(value) ||
      /(?:^|[;{}\d$/!\s])[wW](?:\s|$)|\/[gpiIm0-9]*w/.test(value)
    );
  });
}
