/** Settings files as options of a query. */
import { defaultConfig } from './core/config.ts';
import { systemClock } from './clock.ts';
import { createCommandHooks } from './hooks/command/create-command-hooks.ts';
import { Transcript } from './hooks/command/transcript.ts';
import { type Hooks, joinHooks } from './hooks/hook.ts';
import type { QueryOptions } from './query-options.ts';
import { loadSettings, type LoadSettingsOptions } from './settings/load.ts';
import type { Settings } from './settings/settings.ts';
import { builtInTools } from './tools/builtin/index.ts';

/** Options of `query()` about settings files. */
export interface SettingsOptions {
  /** Levels of settings files to read. Default: none, no file is read that nobody asked for. */
  readonly settingSources?: NonNullable<LoadSettingsOptions['sources']>;
  /** Settings by hand, stronger than every file: the path of a file, JSON that begins with `{`, or its value. */
  readonly settings?: NonNullable<LoadSettingsOptions['settings']>;
  /** May the repository's settings run commands and let tools pass? Default: what the user agreed to on the command line. */
  readonly trusted?: boolean;
}

/** Options with what the settings say, and what a person should know about these. */
export interface SettledOptions {
  readonly options: QueryOptions;
  readonly notices: readonly string[];
}

/**
 * Reads the settings that the options ask for.
 *
 * @throws TypeError with one sentence when settings by hand cannot be read.
 */
export function readOwnSettings(given: QueryOptions): SettledOptions {
  const { settingSources, settings, trusted, ...options } = given;
  if (settingSources === undefined && settings === undefined) return { options, notices: [] };
  const loaded = loadSettings({
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(settingSources === undefined ? {} : { sources: settingSources }),
    ...(settings === undefined ? {} : { settings }),
    ...(trusted === undefined ? {} : { trusted }),
  });
  return { options: withSettings(options, loaded), notices: settingsNotices(loaded, options) };
}

/** The options with what settings say: rules, folders and hooks come beside those of the options, single values behind. */
export function withSettings(options: QueryOptions, settings: Settings): QueryOptions {
  const { env, model } = settings;
  const mode = modeOf(options, settings);
  const transcript = new Transcript();
  const variables = { ...process.env, ...env };
  return {
    ...options,
    rules: [...(options.rules ?? []), ...settings.rules.map(({ behavior, rule }) => ({ behavior, rule }))],
    additionalRoots: [...(options.additionalRoots ?? []), ...settings.additionalFolders],
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(options.model === undefined && model !== null ? { model: model.value } : {}),
    ...(options.tools === undefined && Object.keys(env).length > 0
      ? { tools: builtInTools({ bash: { env: variables } }) }
      : {}),
    hooks: joinHooks(options.hooks ?? {}, commandHooks(options, settings, transcript, variables)),
    beforeEvent: (index, event, state) => {
      transcript.follow(state.carried.messages);
      options.beforeEvent?.(index, event, state);
    },
  };
}

function commandHooks(
  options: QueryOptions,
  { hooks, projectFolder }: Settings,
  transcript: Transcript,
  env: Readonly<Record<string, string | undefined>>,
): Hooks {
  const commands = hooks.filter(({ off }) => off === null);
  return createCommandHooks(commands, {
    clock: options.deps?.clock ?? systemClock,
    projectFolder,
    env,
    transcriptPath: (sessionId, cwd) => transcript.pathOf(sessionId, cwd),
  });
}

/** The mode, unless settings forbid it. Undefined: nobody named one. */
function modeOf(options: QueryOptions, { mode, bypassForbidden }: Settings): QueryOptions['permissionMode'] {
  const wanted = options.permissionMode ?? mode?.value;
  return wanted === 'bypassPermissions' && bypassForbidden !== null ? defaultConfig.permissionMode : wanted;
}

/** What a person should know: broken files, what an untrusted repository does not get, a mode that is forbidden. */
export function settingsNotices(settings: Settings, options: Pick<QueryOptions, 'permissionMode'>): readonly string[] {
  const { warnings, withheld, projectFolder, bypassForbidden, mode } = settings;
  const isForbidden = (options.permissionMode ?? mode?.value) === 'bypassPermissions' && bypassForbidden !== null;
  return [
    ...warnings,
    ...(withheld.length === 0
      ? []
      : [`The repository ${projectFolder} is not trusted, so these count for nothing: ${withheld.join('; ')}.`]),
    ...(isForbidden
      ? [`The permission mode bypassPermissions is forbidden by ${bypassForbidden.file}: the mode is default.`]
      : []),
  ];
}
