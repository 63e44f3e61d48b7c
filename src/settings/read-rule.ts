/** Permission rules as Claude Code writes them, in the form that this loop reads. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { PermissionRule } from '../core/tools/context.ts';
import { parseRule } from '../tools/permission-rules.ts';

/** Tools whose patterns are paths. */
const pathTools = new Set(['Read', 'Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'NotebookRead', 'Glob', 'Grep', 'LS']);
/** Tools that go by another name here. */
const otherNames: Readonly<Record<string, string>> = { MultiEdit: 'Edit', LS: 'Glob' };

/**
 * A rule of a settings file. A path `//x` is absolute, `~/x` in the home folder, `/x` in `base` (the folder that the file
 * belongs to), any other relative to the working folder. Throws a `TypeError` for a text that is no rule.
 */
export function readRule(
  behavior: PermissionRule['behavior'],
  rule: string,
  base: string,
  home: string = homedir(),
): PermissionRule {
  const { tool, pattern } = parseRule({ behavior, rule });
  const name = otherNames[tool] ?? tool;
  if (pattern === null) return { behavior, rule: name };
  return { behavior, rule: `${name}(${pathTools.has(tool) ? readPath(pattern, base, home) : pattern})` };
}

function readPath(pattern: string, base: string, home: string): string {
  if (pattern.startsWith('//')) return pattern;
  if (pattern.startsWith('/')) return `/${escaped(base)}${pattern}`;
  return pattern.startsWith('~/') ? `/${join(escaped(home), pattern.slice(2))}` : pattern;
}

/** A folder whose name holds characters of a pattern stands for itself. */
function escaped(folder: string): string {
  return folder.replaceAll(/[\\*?[\]!#]/g, '\\$&');
}
