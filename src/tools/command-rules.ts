/** Rules about a command line: what denies or asks for any part of it, and whether all of it is allowed. */
import type { PermissionMode } from '../core/config.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import type { CommandTarget, TouchedFile } from './command-target.ts';
import { formsOf, type ShellPart } from './shell/read-shell.ts';
import { couldMatchCommand, isExact, matchesCommand } from './shell/match-command.ts';
import { type ShellWord, shownWord } from './shell/shell-word.ts';
import { isFileCommand } from './shell/touched-files.ts';

/** Does a deny or ask rule for commands hold? `unclear`: it could, for all that is known. */
export function restrictsCommand(pattern: string, { reading, command }: CommandTarget): 'yes' | 'no' | 'unclear' {
  if (matchesCommand(pattern, command.trim())) return 'yes';
  const forms = reading.parts.flatMap(formsOf);
  if (forms.some((words) => matchesCommand(pattern, filled(words)))) return 'yes';
  return reading.isHidden || forms.some((words) => couldMatchCommand(pattern, gapsOf(words))) ? 'unclear' : 'no';
}

/** A character of no pattern stands for what is not known: only a `*` covers it, and so would it anything else. */
function filled(words: readonly ShellWord[]): string {
  return gapsOf(words)
    .map((piece) => piece ?? '\uffff')
    .join('');
}

function gapsOf(words: readonly ShellWord[]): readonly (string | null)[] {
  return words.flatMap(({ shape }, index) => (index === 0 ? shape : [' ', ...shape]));
}

/** An allow rule, as far as it is about commands or the files that the shell opens. */
export interface CommandAllowance {
  readonly rule: PermissionRule;
  /** Null: the rule is about files. */
  readonly pattern: string | null;
  readonly allowsFile: (file: TouchedFile) => boolean;
}

/** What allow rules and the mode leave of a command line. */
export interface Coverage {
  /** Null: something is missing. */
  readonly by: 'rule' | 'mode' | null;
  /** One sentence: what lets it pass, or what nothing allows. */
  readonly reason: string;
  readonly missing: Missing;
}

/** What would have to be allowed. */
interface Missing {
  readonly parts: readonly ShellPart[];
  readonly files: readonly TouchedFile[];
  /** Why no rule can help. */
  readonly doubts: readonly string[];
}

/** Judges a command line by allow rules and the mode: each part, each file that the shell opens, each `cd`. */
export function coverageOf(
  target: CommandTarget,
  allowances: readonly CommandAllowance[],
  mode: PermissionMode,
): Coverage {
  const whole = allowances.find(
    ({ pattern }) => pattern !== null && isExact(pattern) && pattern === target.command.trim(),
  );
  if (whole !== undefined) return covered('rule', [whole.rule]);
  const used = new Set<PermissionRule>();
  const missing = missingOf(target, allowances, mode, used);
  const { parts, files, doubts } = missing;
  if (parts.length > 0 || files.length > 0 || doubts.length > 0) return { by: null, reason: whyNot(missing), missing };
  if (used.size > 0) return covered('rule', [...used]);
  return target.reading.parts.some(({ need }) => need === 'rule')
    ? { ...covered('mode', []), reason: 'Permission mode acceptEdits lets plain file commands in the workspace pass.' }
    : { by: null, reason: 'No rule is about it.', missing };
}

function missingOf(
  target: CommandTarget,
  allowances: readonly CommandAllowance[],
  mode: PermissionMode,
  used: Set<PermissionRule>,
): Missing {
  const { reading, files, staysInside } = target;
  const moves = reading.folders.length > 0;
  const parts = reading.parts.filter((part) => {
    if (part.need === 'none' || part.need === 'company') return false;
    const found = allowances.find(({ pattern }) => pattern !== null && allows(pattern, part));
    if (found !== undefined && !(moves && dependsOnFolder(part))) used.add(found.rule);
    else
      return !(
        mode === 'acceptEdits' &&
        isFileCommand(part) &&
        files.every((file) => file.part !== part || file.isInside)
      );
    return false;
  });
  const open = files
    .filter(({ part }) => part === null)
    .filter((file) => {
      if (file.isInside && (file.access === 'read' || mode === 'acceptEdits')) return false;
      const found = allowances.find(({ allowsFile }) => allowsFile(file));
      if (found !== undefined) used.add(found.rule);
      return found === undefined;
    });
  const doubts = staysInside ? reading.doubts : [...reading.doubts, 'it goes to a folder outside of the workspace'];
  return { parts, files: open, doubts };
}

function allows(pattern: string, { words, need }: ShellPart): boolean {
  if (need === 'exact' && !isExact(pattern)) return false;
  return matchesCommand(pattern, shownPart(words));
}

/** The words of a command as allow rules and people see them. */
export function shownPart(words: readonly ShellWord[]): string {
  return words.map(shownWord).join(' ');
}

/** After a `cd` a relative program is another one, and git may find hooks that a file of the workspace defines. */
function dependsOnFolder({ words }: ShellPart): boolean {
  const name = words[0]?.value ?? '';
  return name === 'git' || (name.includes('/') && !name.startsWith('/'));
}

function covered(by: 'rule' | 'mode', rules: readonly PermissionRule[]): Coverage {
  const names = rules.map(({ rule }) => `"allow ${rule}"`).join(', ');
  const reason = rules.length === 1 ? `The rule ${names} lets it pass.` : `The rules ${names} let it pass.`;
  return { by, reason, missing: { parts: [], files: [], doubts: [] } };
}

/** Most things that a reason names. */
const mostNamed = 4;

function whyNot({ parts, files, doubts }: Missing): string {
  if (doubts.length > 0) return `What it does cannot be told from its text: ${doubts.slice(0, mostNamed).join('; ')}.`;
  const named = [
    ...parts.map(({ words }) => `"${shownPart(words)}"`),
    ...files.map(({ word, access }) => `${access === 'write' ? 'writing' : 'reading'} ${word.source}`),
  ];
  const more = named.length > mostNamed ? ` and ${named.length - mostNamed} more` : '';
  return `No rule allows ${named.slice(0, mostNamed).join(', ')}${more}.`;
}
