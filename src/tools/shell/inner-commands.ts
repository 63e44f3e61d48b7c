/** Commands inside of a command: programs whose arguments are, or hold, other commands. */
import { afterOptions, isAssignment, type OptionForm } from './options.ts';
import { whyExact } from './risky.ts';
import { baseName, fixedWord, type ShellWord } from './shell-word.ts';

/** What a command runs beside itself. */
export interface InnerCommands {
  /** Commands as words. */
  readonly commands: readonly (readonly ShellWord[])[];
  /** Texts that a shell reads. */
  readonly scripts: readonly string[];
  /** Why not everything that it runs is known, or null. */
  readonly doubt: string | null;
  /** The command only passes on: it needs no rule of its own when what it runs has one. */
  readonly passesOn: boolean;
}

const nothing: InnerCommands = { commands: [], scripts: [], doubt: null, passesOn: false };

/** Programs that run what stands behind their options and change nothing about it. */
const passing: { readonly [name: string]: OptionForm } = {
  time: { short: 'p' },
  nohup: { short: '' },
  nice: { short: 'n:0123456789' },
  timeout: { short: 's:k:v', long: ['--foreground', '--preserve-status', '--verbose'], operands: 1 },
  stdbuf: { short: 'i:o:e:' },
  command: { short: 'p' },
  builtin: { short: '' },
};

/** Programs that run what stands behind their options in another way: each needs a rule of its own as well. */
const changing: { readonly [name: string]: OptionForm } = {
  env: { short: 'i0vu:C:', long: ['--ignore-environment'], assignments: true },
  sudo: { short: 'AbEeHknPSu:g:h:p:C:T:r:t:U:D:', assignments: true },
  doas: { short: 'nLsu:C:' },
  exec: { short: 'cla:' },
  setsid: { short: 'cfw' },
  ionice: { short: 'c:n:t' },
  xargs: { short: '0rtxpI:n:P:L:d:E:a:s:', long: ['--null', '--no-run-if-empty', '--verbose'] },
  busybox: { short: '' },
};

/** Programs that run something else in ways that are not read here: for deny and ask rules every tail is a command. */
const others = new Set(
  'watch parallel ssh su script flock chroot unshare nsenter strace ltrace gdb entr chrt taskset proxychains xvfb-run caffeinate dbus-run-session systemd-run runuser toybox fakeroot'.split(
    ' ',
  ),
);

/** Shells: the text behind `-c`, or what they are given to read. */
const shells: ReadonlySet<string> = new Set('sh bash dash zsh ksh mksh ash fish rbash'.split(' '));

/** True for a program that runs what it is told: a rule `name *` would allow everything. */
export function isCarrier(name: string): boolean {
  const base = baseName(name);
  return (
    base in passing ||
    base in changing ||
    others.has(base) ||
    shells.has(base) ||
    ['eval', 'source', '.', 'trap', 'alias', 'find'].includes(base)
  );
}

/** What a command runs beside itself. `fed`: the fixed texts of its here-documents and here-strings, null for others. */
export function innerCommands(words: readonly ShellWord[], fed: readonly (string | null)[]): InnerCommands {
  const name = baseName(words[0]?.value ?? '');
  if (Object.hasOwn(passing, name)) return passedOn(words, name);
  if (Object.hasOwn(changing, name)) return changed(words, name);
  if (shells.has(name)) return ofShell(words, fed);
  if (others.has(name)) return everything(words);
  switch (name) {
    case 'eval':
      return { ...nothing, ...asScript(words.slice(1)) };
    case 'trap':
      return { ...nothing, ...asScript(words.slice(1, 2)) };
    case 'alias':
      return { ...nothing, scripts: words.slice(1).flatMap((word) => word.value?.replace(/^[^=]*=/, '') ?? []) };
    case 'find':
      return ofFind(words);
    case 'git':
      return ofGit(words);
    case 'sed':
      return words.some(({ value }) => sedExecutes.test(value ?? ''))
        ? { ...nothing, doubt: 'sed may run a command here' }
        : nothing;
    default:
      return nothing;
  }
}

/** The command `e` of sed, and the flag `e` of its `s`: looked for generously. */
const sedExecutes = /(?:^|[;{}\d$/!])\s*e(?:\s|$)|(?:\/|\|)[gpiImM0-9]*e[gpiImM0-9]*(?:;|\s|\}|$)/;

/** `alias.x=!command`, and everything behind what makes git run another program. */
function ofGit(words: readonly ShellWord[]): InnerCommands {
  if (whyExact(words) === null) return nothing;
  const { commands, scripts } = everything(words);
  const aliases = words.flatMap(({ value }) => /^[^!]*!(.*)$/s.exec(value ?? '')?.[1] ?? []);
  return {
    ...nothing,
    commands: commands.filter(([first]) => first?.value != null),
    scripts: [...scripts, ...aliases],
  };
}

function passedOn(words: readonly ShellWord[], name: string): InnerCommands {
  // `command -v x` only looks for it.
  if (name === 'command' && /^-[pvV]*[vV]/.test(words[1]?.value ?? '')) return nothing;
  const at = afterOptions(words, passing[name]!);
  if (at === null) return { ...nothing, doubt: `what ${name} runs cannot be told` };
  return at < words.length ? { ...nothing, commands: [words.slice(at)], passesOn: true } : nothing;
}

function changed(words: readonly ShellWord[], name: string): InnerCommands {
  const at = afterOptions(words, changing[name]!);
  const tails = everything(words);
  if (at === null) return { ...tails, doubt: `what ${name} runs cannot be told` };
  if (at >= words.length) return nothing;
  const inner = words.slice(at);
  if (name !== 'xargs') return { ...nothing, commands: [inner] };
  const isReplaced = words.slice(1, at).some(({ value }) => /^-[0rtxp]*I/.test(value ?? ''));
  const isUsual = words.slice(1, at).some(({ value }) => value === '{}' || value?.endsWith('I{}') === true);
  const doubt = isReplaced && !isUsual ? 'what xargs runs cannot be told' : null;
  return { ...nothing, commands: [isReplaced ? inner.map(opened) : [...inner, unknown]], doubt };
}

/** A word that is not known. */
const unknown: ShellWord = { source: '…', value: null, shape: [null], disguised: false };

/** `{}` stands for something that is not known before. */
function opened(word: ShellWord): ShellWord {
  return word.value?.includes('{}') === true ? { ...word, value: null, shape: openedShape(word.value) } : word;
}

function openedShape(value: string): ShellWord['shape'] {
  return value.split('{}').flatMap((piece, index) => (index === 0 ? [piece] : [null, piece]));
}

/** Every tail as a command, and every word as a script: too many rather than one too few. */
function everything(words: readonly ShellWord[]): InnerCommands {
  const tails = words.map((_, index) => words.slice(index)).slice(1);
  const scripts = words.slice(1).flatMap(({ value }) => (value !== null && /\s/.test(value) ? [value] : []));
  return { ...nothing, commands: tails.filter(([first]) => !isAssignment(first?.value ?? '')), scripts };
}

function ofShell(words: readonly ShellWord[], fed: readonly (string | null)[]): InnerCommands {
  const options = words.slice(1).filter(({ value }) => value === null || /^[-+]/.test(value));
  if (options.some(({ value }) => value === null))
    return { ...nothing, doubt: 'what the shell runs is not known before' };
  const text = words.findIndex(({ value }) => /^-[A-Za-z]*c[A-Za-z]*$/.test(value ?? ''));
  if (text > 0) {
    const operands = words.slice(text + 1).filter(({ value }) => value === null || !/^[-+]/.test(value));
    // `-o` takes a value, which must not be taken for the script: every operand is one.
    const scripts = operands.flatMap(({ value }) => value ?? []);
    return {
      ...nothing,
      scripts,
      doubt: operands[0]?.value == null ? 'what the shell runs is not known before' : null,
    };
  }
  const readsFile = words
    .slice(1)
    .some(({ value }) => value !== null && !/^[-+]/.test(value) && value !== '/dev/stdin');
  if (readsFile && fed.length === 0) return nothing;
  const known = fed.filter((part) => part !== null);
  const isKnown = fed.length > 0 && known.length === fed.length;
  return { ...nothing, scripts: known, doubt: isKnown ? null : 'what the shell is given to run is not known before' };
}

function asScript(words: readonly ShellWord[]): Pick<InnerCommands, 'scripts' | 'doubt'> {
  const values = words.map(({ value }) => value);
  const scripts = [values.map((value) => value ?? '').join(' ')];
  return { scripts, doubt: values.includes(null) ? 'what is evaluated is not known before' : null };
}

const findRuns = new Set(['-exec', '-execdir', '-ok', '-okdir']);

function ofFind(words: readonly ShellWord[]): InnerCommands {
  const starts = words.flatMap(({ value }, index) => (findRuns.has(value ?? '') ? [index + 1] : []));
  const commands = starts.map((start) => {
    const rest = words.slice(start);
    const end = rest.findIndex(({ value }) => value === ';' || value === '+');
    return (end < 0 ? rest : rest.slice(0, end)).map(opened);
  });
  return { ...nothing, commands: commands.map((command) => (command.length > 0 ? command : [fixedWord('')])) };
}
