/** Puts levels of settings together: rules and hooks add up, of a single value the strongest level holds. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { PermissionMode } from '../core/config.ts';
import { count } from '../core/text.ts';
import { readHooks } from './read-hooks.ts';
import type { ReadSettings } from './load.ts';
import { readRule } from './read-rule.ts';
import type { Settings, SettingsHook, SettingsRule, SettingsValue } from './settings.ts';

/** What is known beside the files. */
export interface CombineFacts {
  readonly home: string;
  readonly projectFolder: string;
  readonly trusted: boolean;
  /** What beside settings files counts only when the repository is trusted, in a few words each. */
  readonly withheld: readonly string[];
  readonly warnings: readonly string[];
}

const modes: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];
/** The mode that lets nothing pass which another would not: the only one that an untrusted repository may choose. */
const strictest = 'plan' satisfies PermissionMode;
const behaviors = ['deny', 'ask', 'allow'] as const;

/** All levels together; `files` stand in the order of their strength. */
export function combine(files: readonly ReadSettings[], facts: CombineFacts): Settings {
  const warnings = [...facts.warnings];
  const counting = files.map((file) => (isTrusted(file, facts) ? file : { ...file, settings: restrained(file) }));
  const rules = files.flatMap((file) => rulesOf(file, facts, warnings));
  return {
    projectFolder: facts.projectFolder,
    trusted: facts.trusted,
    rules: rules.filter((rule) => rule.behavior !== 'allow' || isTrusted(rule, facts)),
    mode: strongest(counting, (file) => modeOf(file, warnings)),
    bypassForbidden: strongest(
      files,
      ({ settings }) => settings.permissions?.disableBypassPermissionsMode === 'disable' || undefined,
    ),
    additionalFolders: foldersOf(counting, facts, warnings),
    env: Object.assign({}, ...counting.toReversed().map(({ settings }) => settings.env ?? {})) as Settings['env'],
    model: strongest(counting, ({ settings }) => settings.model),
    hooks: hooksOf(files, counting, facts, warnings),
    withheld: facts.trusted
      ? []
      : [...files.filter((file) => !isTrusted(file, facts)).flatMap(withheldOf), ...facts.withheld],
    warnings,
  };
}

/** Files of the user and what was given by hand are trusted. */
function isTrusted({ level }: Pick<ReadSettings, 'level'>, { trusted }: CombineFacts): boolean {
  return trusted || level === 'user' || level === 'flag';
}

/** What counts of a repository that is not trusted, apart from its deny and ask rules: what makes the session stricter. */
function restrained({ settings }: ReadSettings): ReadSettings['settings'] {
  return settings.permissions?.defaultMode === strictest ? { permissions: { defaultMode: strictest } } : {};
}

/** What a repository would get if it were trusted. */
function withheldOf({ file, settings }: ReadSettings): readonly string[] {
  const { permissions = {}, hooks = {}, env = {}, model } = settings;
  const commands = Object.values(hooks).flatMap((entries) => entries.flatMap((entry) => entry.hooks)).length;
  const mode = permissions.defaultMode ?? 'default';
  const isLoose = mode !== 'default' && mode !== strictest;
  const allowed = (permissions.allow ?? []).length;
  const parts = [
    commands > 0 ? [count(commands, 'command hook')] : [],
    allowed > 0 ? [count(allowed, 'allow rule')] : [],
    isLoose ? [`the permission mode ${mode}`] : [],
    (permissions.additionalDirectories ?? []).length > 0 ? ['additional folders'] : [],
    Object.keys(env).length > 0 ? ['environment variables'] : [],
    model === undefined ? [] : ['a model'],
  ].flat();
  return parts.map((part) => `${part} of ${file}`);
}

/** The value of the strongest level that has one. */
function strongest<Value>(
  files: readonly ReadSettings[],
  valueOf: (file: ReadSettings) => Value | undefined,
): SettingsValue<Value> | null {
  for (const file of files) {
    const value = valueOf(file);
    if (value !== undefined) return { level: file.level, file: file.file, value };
  }
  return null;
}

function modeOf({ file, settings }: ReadSettings, warnings: string[]): PermissionMode | undefined {
  const written = settings.permissions?.defaultMode;
  const mode = modes.find((known) => known === written);
  if (written !== undefined && mode === undefined) {
    warnings.push(`The settings file ${file} names the permission mode ${written}, which is none: it is ignored.`);
  }
  return mode;
}

/** A rule that cannot be read lets nothing pass; where it may have forbidden something every call is asked. */
function rulesOf({ level, file, base, settings }: ReadSettings, { home }: CombineFacts, warnings: string[]) {
  return behaviors.flatMap((behavior) =>
    (settings.permissions?.[behavior] ?? []).flatMap((rule): readonly SettingsRule[] => {
      try {
        return [{ ...readRule(behavior, rule, base, home), level, file }];
      } catch (error) {
        const meaning = behavior === 'allow' ? 'it lets nothing pass' : 'every call is asked';
        warnings.push(`In the settings file ${file}, ${(error as Error).message} Until then ${meaning}.`);
        return behavior === 'allow' ? [] : [{ behavior: 'ask', rule: '*', level, file }];
      }
    }),
  );
}

function foldersOf(files: readonly ReadSettings[], facts: CombineFacts, warnings: string[]): readonly string[] {
  const folders = files.flatMap(({ file, settings }) =>
    (settings.permissions?.additionalDirectories ?? []).flatMap((written) => {
      const path = written.startsWith('~/')
        ? join(facts.home, written.slice(2))
        : resolve(facts.projectFolder, written);
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return [path];
      warnings.push(`The settings file ${file} adds the folder ${path}, which is not there: it is left out.`);
      return [];
    }),
  );
  return [...new Set(folders)];
}

function hooksOf(
  files: readonly ReadSettings[],
  counting: readonly ReadSettings[],
  facts: CombineFacts,
  warnings: string[],
): readonly SettingsHook[] {
  const disabled = strongest(counting, ({ settings }) => settings.disableAllHooks);
  const all = files.flatMap(({ level, file, settings }): readonly SettingsHook[] => {
    const off = isTrusted({ level }, facts)
      ? disabled?.value === true
        ? `disableAllHooks is on in ${disabled.file}`
        : null
      : 'the repository is not trusted';
    return readHooks(settings, file, warnings).map(({ broken, ...hook }) => ({
      ...hook,
      level,
      file,
      off: off ?? broken,
    }));
  });
  return all.map((hook, index) => (hook.off === null ? { ...hook, off: whyTwice(all.slice(0, index), hook) } : hook));
}

/** The same command for the same event and matcher runs once: that of the stronger file. */
function whyTwice(stronger: readonly SettingsHook[], hook: SettingsHook): string | null {
  const same = stronger.find(
    (one) =>
      one.off === null && one.event === hook.event && one.command === hook.command && one.matcher === hook.matcher,
  );
  return same === undefined ? null : `the same hook of ${same.file} runs`;
}
