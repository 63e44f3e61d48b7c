/** Flags that are permission rules: `--allow`, `--allowed-tools`, `--disallowed-tools`. */
import { InvalidArgumentError, Option } from 'commander';
import type { PermissionMode } from '../core/config.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import type { SettingsFlags } from './settings.ts';
import { parseRule } from '../tools/permission-rules.ts';

interface RuleFlags {
  readonly allow: readonly string[];
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
}

/** Flags of `escapement tools`. */
export interface ToolsFlags extends RuleFlags, SettingsFlags {
  readonly mcpConfig: readonly string[];
  readonly agents?: string;
  readonly cwd?: string;
  readonly permissionMode?: PermissionMode;
  readonly json: boolean;
}

/** A rule and where it was written. */
export interface SourcedRule extends PermissionRule {
  /** A flag, or the path of a settings file. */
  readonly source: string;
}

/** The rules of the command line, each with its flag. */
export function flagRules({ allow, allowedTools, disallowedTools }: RuleFlags): readonly SourcedRule[] {
  return [
    ...allow.map((rule) => ({ behavior: 'allow' as const, rule, source: '--allow' })),
    ...allowedTools.map((rule) => ({ behavior: 'allow' as const, rule, source: '--allowed-tools' })),
    ...disallowedTools.map((rule) => ({ behavior: 'deny' as const, rule, source: '--disallowed-tools' })),
  ];
}

/** The options as commander wants them, a new one at each call since a command keeps it. */
export const ruleFlags = {
  allowedTools: (): Option =>
    listOption('--allowed-tools <rules>', "rules that let tools pass, 'Bash(git *),Edit'; may be repeated"),
  disallowedTools: (): Option =>
    listOption('--disallowed-tools <rules>', 'rules that forbid tools; a bare name hides the tool; may be repeated'),
} as const;

function listOption(flags: string, description: string): Option {
  return new Option(flags, description)
    .default([])
    .argParser<readonly string[]>((value, before) => [...before, ...splitRules(value)]);
}

/**
 * Splits `Bash(git log, x) Edit,Read` at commas and blanks outside of parentheses.
 *
 * @throws InvalidArgumentError for a piece that is no rule.
 */
function splitRules(text: string): readonly string[] {
  const pieces = piecesOf(text);
  for (const rule of pieces) {
    try {
      parseRule({ behavior: 'allow', rule });
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is no permission rule.');
    }
  }
  if (pieces.length === 0) throw new InvalidArgumentError('It must not be empty.');
  return pieces;
}

function piecesOf(text: string): readonly string[] {
  const pieces = [''];
  let depth = 0;
  for (const letter of text) {
    if (depth === 0 && /[\s,]/.test(letter)) {
      pieces.push('');
      continue;
    }
    if (letter === '(') depth += 1;
    if (letter === ')') depth = Math.max(0, depth - 1);
    pieces[pieces.length - 1] += letter;
  }
  return pieces.filter((piece) => piece !== '');
}
