/** Rules that would let calls like one pass: what "always allow this" offers. */
import type { PermissionMode } from '../core/config.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import { shownPart } from './command-rules.ts';
import type { TouchedFile } from './command-target.ts';
import { commandCoverage, type RuleSubject } from './permission-rules.ts';
import { mayBeOffered, type ShellPart } from './shell/read-shell.ts';

/**
 * The rules that together would let the call pass, or none: for a command line one for each part that nothing allows
 * yet, for a file its folder, else the tool. `rules` are those that hold already.
 */
export function suggestRules(
  name: string,
  subject: RuleSubject,
  rules: readonly PermissionRule[],
  mode: PermissionMode,
): readonly PermissionRule[] {
  const { target } = subject;
  // The letters of a name that a pattern reads as nothing but letters.
  if (target.type === 'name') {
    return /^[\w.-]+$/.test(target.name) ? [{ behavior: 'allow', rule: `${name}(${target.name})` }] : [];
  }
  if (target.type === 'none') return [{ behavior: 'allow', rule: name }];
  if (target.type === 'paths') return forPaths(name, target.paths);
  const missing = commandCoverage(rules, subject, mode)?.missing;
  if (missing === undefined || missing.doubts.length > 0) return [];
  const texts = [...missing.parts.map((part) => forPart(name, part)), ...missing.files.map(forFile)];
  // A rule for a part of the line alone would not let it pass, and would be a surprise later.
  if (texts.some((text) => text === null)) return [];
  return [...new Set(texts)].map((text) => ({ behavior: 'allow', rule: text ?? '' }));
}

/** Git commands that change no more than the working folder's own history: any arguments are alike. */
const openGit = new Set('add commit diff log show status branch stash fetch blame'.split(' '));

function forPart(name: string, part: ShellPart): string | null {
  const text = shownPart(part.words);
  // A `*` of the command would be one of the rule.
  if (!mayBeOffered(part) || text.includes('*') || text.includes('\n')) return openedPart(name, part);
  return part.words.length > 3 ? (openedPart(name, part) ?? `${name}(${text})`) : `${name}(${text})`;
}

/** A rule for every use of a subcommand where that is known to be harmless enough, or null. */
function openedPart(name: string, { words, need }: ShellPart): string | null {
  const [program, subcommand] = words.map(({ value }) => value ?? '');
  const isOpen = need === 'rule' && program === 'git' && openGit.has(subcommand ?? '');
  return isOpen ? `${name}(git ${subcommand} *)` : null;
}

function forFile({ access, paths }: TouchedFile): string | null {
  const [path, ...others] = paths ?? [];
  if (path === undefined || others.length > 0 || !isPlainPath(path)) return null;
  return `${access === 'read' ? 'Read' : 'Edit'}(/${path})`;
}

function forPaths(name: string, paths: readonly (readonly string[])[]): readonly PermissionRule[] {
  const [path, ...others] = paths;
  const real = path?.at(-1) ?? '';
  const folder = real.slice(0, real.lastIndexOf('/'));
  const isElsewhere = path?.some((way) => !way.startsWith(`${folder}/`)) ?? true;
  if (isElsewhere || others.length > 0 || !isPlainPath(folder)) return [];
  return [{ behavior: 'allow', rule: `${name}(/${folder}/**)` }];
}

/** A path whose letters a pattern reads as nothing but letters. */
function isPlainPath(path: string): boolean {
  return /^(\/[\w. -]+)+$/.test(path) && !path.endsWith(' ');
}
