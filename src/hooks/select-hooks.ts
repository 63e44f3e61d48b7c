/** Which hooks of a list are asked. */
import type { HookMatcher } from './hook.ts';

interface Selectable {
  readonly name: string;
  readonly sideBySide?: boolean;
  readonly tools?: HookMatcher;
  readonly causes?: HookMatcher;
}

/**
 * The hooks that want to be asked about something that goes by one of these names. Of hooks that are asked side by side
 * and have the same name the first stays: the same command under two matchers is one command.
 */
export function selectHooks<Hook extends Selectable>(
  hooks: readonly Hook[],
  names: readonly string[],
): readonly Hook[] {
  const wanted = hooks.filter((hook) => isMatch(hook.tools ?? hook.causes, names));
  return wanted.filter((hook, index) => hook.sideBySide !== true || firstOf(wanted, hook.name) === index);
}

function firstOf(hooks: readonly Selectable[], name: string): number {
  return hooks.findIndex((hook) => hook.sideBySide === true && hook.name === name);
}

function isMatch(matcher: HookMatcher | undefined, names: readonly string[]): boolean {
  if (matcher === undefined) return true;
  // `search` instead of `test`: it does not depend on where an expression with the flag g stopped last.
  if (matcher instanceof RegExp) return names.some((name) => name.search(matcher) >= 0);
  return names.some((name) => matcher.includes(name));
}
