/** Command hooks as settings name them. */

/** The events of the format, by the names that Claude Code documents, that this loop asks commands about. */
export const hookEvents = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Notification',
  'PreCompact',
  'PostCompact',
  'Stop',
  'SubagentStop',
] as const;

export type HookEvent = (typeof hookEvents)[number];

/** One command, when it is asked, and for how long. */
export interface CommandHook {
  readonly event: HookEvent;
  /** As it stands in the settings: a name, names joined by `|`, an expression; null, `` and `*` for all. */
  readonly matcher: string | null;
  readonly command: string;
  /** Longest run in milliseconds. */
  readonly timeoutMs: number;
}

/** Names that matchers of older files use for tools. */
const otherNames: Readonly<Record<string, string>> = { Task: 'Agent', MultiEdit: 'Edit' };

/**
 * What a matcher means: null for all. Letters, digits, `_`, `-` and `|` are names; anything else is an expression that a
 * part of the name must match. Throws a `SyntaxError` for an expression that is none.
 */
export function readMatcher(matcher: string | null): readonly string[] | RegExp | null {
  const written = matcher?.trim() ?? '';
  if (written === '' || written === '*') return null;
  if (!/^[\w\s|-]+$/.test(written)) return new RegExp(written);
  const names = written.split('|').map((name) => name.trim());
  return names.flatMap((name) => (name in otherNames ? [name, otherNames[name]!] : [name]));
}
