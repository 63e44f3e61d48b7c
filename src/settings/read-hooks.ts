/** The hooks of one settings file. */
import { type CommandHook, type HookEvent, hookEvents, readMatcher } from '../hooks/command/events.ts';
import { defaultHookTimeoutMs } from '../hooks/hook.ts';
import type { SettingsFile } from './schema.ts';

/** A hook as it stands in a file. */
export interface ReadHook extends CommandHook {
  /** Why it can never run, as the end of a sentence; null: it can. */
  readonly broken: string | null;
}

/** The command hooks in the order of the file. Events and kinds of hooks that are not known here are left out with a warning. */
export function readHooks({ hooks = {} }: SettingsFile, file: string, warnings: string[]): readonly ReadHook[] {
  return Object.entries(hooks).flatMap(([name, entries]) => {
    const event = hookEvents.find((known) => known === name);
    if (event === undefined) {
      warnings.push(`The hooks for ${name} in ${file} never run: there is no such event here.`);
      return [];
    }
    return entries.flatMap(({ matcher = null, hooks: commands }) =>
      commands.flatMap((hook) => readHook(event, matcher, hook, file, warnings)),
    );
  });
}

type Written = NonNullable<SettingsFile['hooks']>[string][number]['hooks'][number];

function readHook(
  event: HookEvent,
  matcher: string | null,
  { type, command, timeout }: Written,
  file: string,
  warnings: string[],
): readonly ReadHook[] {
  if (type !== 'command' || command === undefined || command.trim() === '') {
    warnings.push(`A hook for ${event} in ${file} never runs: only hooks of the type command with a command do.`);
    return [];
  }
  const timeoutMs = timeout === undefined ? defaultHookTimeoutMs : timeout * 1_000;
  return [{ event, matcher, command, timeoutMs, broken: whyBroken(matcher, event, file, warnings) }];
}

function whyBroken(matcher: string | null, event: HookEvent, file: string, warnings: string[]): string | null {
  try {
    readMatcher(matcher);
    return null;
  } catch {
    warnings.push(`The matcher ${JSON.stringify(matcher)} of a hook for ${event} in ${file} is no expression.`);
    return 'its matcher is no expression';
  }
}
