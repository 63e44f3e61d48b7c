/** What the settings files of all levels say together; every part knows its file. */
import type { PermissionMode } from '../core/config.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import type { CommandHook } from '../hooks/command/events.ts';
import type { SettingsLevel } from './places.ts';

/** Where a part of the settings stands. */
interface SettingsOrigin {
  readonly level: SettingsLevel;
  /** Absolute path of the file; `--settings` for JSON that was given by hand. */
  readonly file: string;
}

/** A value that one level has set; weaker levels are overridden. */
export interface SettingsValue<Value> extends SettingsOrigin {
  readonly value: Value;
}

/** A rule and its file. */
export interface SettingsRule extends PermissionRule, SettingsOrigin {}

/** A command, its file, and whether it would run. */
export interface SettingsHook extends CommandHook, SettingsOrigin {
  /** Why it does not run, as the end of a sentence; null: it does. */
  readonly off: string | null;
}

/** All levels together. */
export interface Settings {
  /** Real path of the folder whose project settings count: `CLAUDE_PROJECT_DIR`. */
  readonly projectFolder: string;
  /** Whether what the repository's files allow and run counts. */
  readonly trusted: boolean;
  /** Of all levels, those of the strongest first. */
  readonly rules: readonly SettingsRule[];
  readonly mode: SettingsValue<PermissionMode> | null;
  /** Where `bypassPermissions` is forbidden; null: nowhere. */
  readonly bypassForbidden: SettingsOrigin | null;
  /** Absolute paths of folders that are there. */
  readonly additionalFolders: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly model: SettingsValue<string> | null;
  readonly hooks: readonly SettingsHook[];
  /** What is not used because the repository is not trusted, in a few words each; empty when nothing is. */
  readonly withheld: readonly string[];
  /** What is wrong with files, one sentence each. */
  readonly warnings: readonly string[];
}
