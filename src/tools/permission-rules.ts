/** Permission rules: `Tool` or `Tool(pattern)`, how they are written and what they match. */
import { homedir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import ignore from 'ignore';
import type { PermissionRule } from '../core/tools/context.ts';
import type { PermissionMode } from '../core/config.ts';
import { type CommandAllowance, type Coverage, coverageOf, restrictsCommand } from './command-rules.ts';
import type { CommandTarget, TouchedFile } from './command-target.ts';
import { isWithin } from './paths.ts';
import type { Tool } from './tool.ts';

/** What a call shows to rules. */
export interface RuleSubject {
  /** Names by which rules may call the tool: its own, its aliases, those of tools whose rules it obeys. */
  readonly names: readonly string[];
  readonly target:
    | {
        readonly type: 'paths';
        /** For each path that the call touches: the path as written (absolute), and where it really leads. */
        readonly paths: readonly (readonly string[])[];
      }
    | CommandTarget
    | { readonly type: 'name'; readonly name: string }
    | { readonly type: 'none' };
  /** Absolute path of the folder that patterns start in. */
  readonly cwd: string;
}

/** A rule that was taken apart. */
export interface ParsedRule extends PermissionRule {
  /** Name of a tool, `mcp__server` or `mcp__server__*` for all tools of a server, or `*` for every tool. */
  readonly tool: string;
  /** Null: the rule is about every call of the tool, for a path tool those outside of the working folder included. */
  readonly pattern: string | null;
}

/** Patterns for everything in the folder that they start in, the folder itself included. */
const everything = new Set(['*', '**', '/**']);

const form = /^(\*|[a-zA-Z0-9_-]{1,64}|mcp__[a-zA-Z0-9_-]{1,58}\*)(?:\((.+)\))?$/s;

/**
 * Takes a rule apart. A pattern of a path tool is read like a line of a .gitignore file: relative to the working
 * folder, or absolute (`/x`, `//x`, `~/x`). Throws a `TypeError` with a hint for a text that is no rule.
 */
export function parseRule(rule: PermissionRule): ParsedRule {
  const found = form.exec(rule.rule.trim());
  const pattern = found?.[2]?.trim() ?? null;
  if (found?.[1] === undefined || pattern?.startsWith('!') === true) {
    throw new TypeError(
      `${JSON.stringify(rule.rule)} is no permission rule: write a tool name, as in "Bash", or a tool name and a pattern, as in "Bash(git *)". A pattern cannot begin with "!".`,
    );
  }
  return { ...rule, tool: found[1], pattern };
}

/** The first rule of a behaviour that matches, or null. */
export function firstMatch(
  rules: readonly PermissionRule[],
  behavior: PermissionRule['behavior'],
  subject: RuleSubject,
): PermissionRule | null {
  return rules.find((rule) => rule.behavior === behavior && matches(rule, subject) === 'yes') ?? null;
}

/** The first deny or ask rule of which nobody can say whether it matches, or null: such a call is asked. */
export function firstUnclear(rules: readonly PermissionRule[], subject: RuleSubject): PermissionRule | null {
  return rules.find((rule) => rule.behavior !== 'allow' && matches(rule, subject) === 'unclear') ?? null;
}

function matches(rule: PermissionRule, subject: RuleSubject): 'yes' | 'no' | 'unclear' {
  const parsed = parseLeniently(rule);
  if (parsed === null) return 'unclear';
  const { target, names, cwd } = subject;
  if (!names.some((name) => isNamed(parsed.tool, name))) return restrictsFiles(parsed, subject);
  if (parsed.pattern === null || (parsed.pattern === '*' && target.type !== 'paths')) return 'yes';
  switch (target.type) {
    case 'paths':
      return matchesPaths(parsed.pattern, rule.behavior, target.paths, cwd) ? 'yes' : 'no';
    case 'command':
      // Allow rules are judged together, since each part of a line may have another one.
      return rule.behavior === 'allow' ? 'no' : restrictsCommand(parsed.pattern, target);
    case 'name':
      return matchesName(parsed.pattern, target.name) ? 'yes' : 'no';
    case 'none':
      return 'unclear';
  }
}

/** `*` stands for any letters. ` *` and `:*` at the end mean any arguments, which are no part of the name. */
function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.replace(/(?: |:)\*$/, '').split('*');
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[^\w]/g, '\\$&')).join('.*')}$`, 's').test(name);
}

const accessNames = { read: 'Read', write: 'Edit' } as const;

/** Deny and ask rules for files hold for those that a command line names, as far as that can be seen. */
function restrictsFiles(
  { tool, pattern, behavior }: ParsedRule,
  { target, cwd }: RuleSubject,
): 'yes' | 'no' | 'unclear' {
  if (target.type !== 'command' || pattern === null || behavior === 'allow') return 'no';
  const files = target.files.filter(({ access }) => accessNames[access] === tool);
  const paths = files.flatMap((file) => (file.paths === null ? [] : [file.paths]));
  if (matchesPaths(pattern, behavior, paths, cwd)) return 'yes';
  // Arguments that are not known are let be: every `grep x *` would be asked. What the shell opens is few and certain.
  return files.some(({ paths: known, part }) => known === null && part === null) ? 'unclear' : 'no';
}

/** What the allow rules and the mode make of a command line; null for any other call. */
export function commandCoverage(
  rules: readonly PermissionRule[],
  { target, names, cwd }: RuleSubject,
  mode: PermissionMode,
): Coverage | null {
  if (target.type !== 'command') return null;
  const allowances = rules.flatMap((rule): readonly CommandAllowance[] => {
    const parsed = rule.behavior === 'allow' ? parseLeniently(rule) : null;
    if (parsed === null) return [];
    const isForCommands = names.some((name) => isNamed(parsed.tool, name));
    const pattern = isForCommands ? parsed.pattern : null;
    return [{ rule, pattern, allowsFile: (file) => !isForCommands && allowsFile(parsed, file, cwd) }];
  });
  return coverageOf(target, allowances, mode);
}

function allowsFile({ tool, pattern }: ParsedRule, { access, paths }: TouchedFile, cwd: string): boolean {
  if (tool !== accessNames[access]) return false;
  return pattern === null || (paths !== null && matchesPaths(pattern, 'allow', [paths], cwd));
}

/** Rules that were added while the query ran are data of a journal: a broken one must not end the query. */
function parseLeniently(rule: PermissionRule): ParsedRule | null {
  try {
    return parseRule(rule);
  } catch {
    return null;
  }
}

/** True when a rule is about a tool that goes by these names. */
export function isAbout(rule: PermissionRule, names: readonly string[]): boolean {
  const parsed = parseLeniently(rule);
  return parsed !== null && names.some((name) => isNamed(parsed.tool, name));
}

function isNamed(inRule: string, name: string): boolean {
  if (inRule === '*' || inRule === name) return true;
  if (!inRule.startsWith('mcp__')) return false;
  // `mcp__server` and `mcp__server__*` are all tools of a server, `mcp__server__get_*` some of them.
  return inRule.endsWith('*') ? name.startsWith(inRule.slice(0, -1)) : name.startsWith(`${inRule}__`);
}

/** An allow rule must cover everything that a call touches, by every name; for the others one hit is enough. */
function matchesPaths(
  pattern: string,
  behavior: PermissionRule['behavior'],
  paths: readonly (readonly string[])[],
  cwd: string,
): boolean {
  const match = pathMatcher(pattern, behavior, cwd);
  if (behavior !== 'allow') return paths.some((names) => names.some(match));
  return paths.length > 0 && paths.every((names) => names.every(match));
}

/** Says of an absolute path whether a pattern covers it. Only allow rules heed the case of letters. */
function pathMatcher(pattern: string, behavior: PermissionRule['behavior'], cwd: string): (path: string) => boolean {
  const { base, lines } = anchored(pattern, cwd);
  const rules = ignore({ ignorecase: behavior !== 'allow' }).add({ pattern: lines });
  return (path) => {
    if (!isWithin(base, path)) return false;
    const way = relative(base, path).split(sep).join('/');
    // The folder itself: only a pattern for everything covers it.
    return way === '' ? everything.has(lines) : rules.ignores(way);
  };
}

/** Where a pattern starts, and the pattern as a line of a .gitignore file there. */
function anchored(pattern: string, cwd: string): { readonly base: string; readonly lines: string } {
  if (pattern.startsWith('~/')) return { base: resolve('/'), lines: join(homedir(), pattern.slice(2)) };
  if (pattern.startsWith('/')) return { base: resolve('/'), lines: pattern.replace(/^\/+/, '/') };
  if (pattern.startsWith('./')) return { base: cwd, lines: pattern.slice(1) };
  return { base: cwd, lines: pattern.startsWith('#') ? `\\${pattern}` : pattern };
}

/** The names by which rules may call a tool. */
export function ruleNames(tool: Tool): readonly string[] {
  return [tool.name, ...tool.aliases, ...tool.rulesOf];
}

/** Says which files the deny and ask rules of a tool keep back, so that a search can leave them out. */
export function hiddenBy(
  rules: readonly PermissionRule[],
  names: readonly string[],
  cwd: string,
): (path: string) => boolean {
  const matchers = rules
    .filter((rule) => rule.behavior !== 'allow')
    .map(parseLeniently)
    .filter((rule) => rule !== null && names.some((name) => isNamed(rule.tool, name)))
    .map((rule) => (rule?.pattern == null ? null : pathMatcher(rule.pattern, rule.behavior, cwd)))
    .filter((matcher) => matcher !== null);
  return (path) => matchers.some((matcher) => matcher(path));
}
