/** Settings files for the command line: read once, and the question whether the repository is trusted. */
import { homedir } from 'node:os';
import { loadSettings } from '../settings/load.ts';
import type { Settings } from '../settings/settings.ts';
import { createTrust } from '../settings/trust.ts';
import { settingsNotices } from '../with-settings.ts';
import { askLine, canAsk } from './ask.ts';
import { type CliIo, UsageError } from './io.ts';
import { visible, visibleProse } from './visible.ts';

/** What the flags say about settings. */
export interface SettingsFlags {
  readonly settings?: string;
  readonly trust: boolean;
}

/**
 * Reads all levels, and asks nobody. What the settings say of the environment holds for this process from now on.
 *
 * @throws UsageError when what `--settings` names cannot be read.
 */
export function readSettings(cwd: string, flags: SettingsFlags, io: CliIo): Settings {
  const settings = load(cwd, flags, io, flags.trust ? true : undefined);
  Object.assign(process.env, settings.env);
  return settings;
}

/** The settings after the user was asked whether to trust the repository, where that matters and a person can be asked. */
export async function askTrust(settings: Settings, cwd: string, flags: SettingsFlags, io: CliIo): Promise<Settings> {
  if (settings.withheld.length === 0 || !canAsk(io)) return settings;
  const { projectFolder, withheld } = settings;
  const wants = withheld.map((part) => `  ${visible(part)}\n`).join('');
  io.screen.write(`\nThe repository ${visible(projectFolder)} was never trusted. It brings:\n${wants}`);
  io.screen.write('Commands of its settings run on your machine, with your rights. See escapement hooks.\n');
  const line = await askLine(io, 'Trust this repository from now on? [y]es, [n]o: ');
  if (!/^y(?:es)?$/i.test(line?.trim() ?? '')) return settings;
  remember(projectFolder, io);
  const trusted = load(cwd, flags, io, true);
  Object.assign(process.env, trusted.env);
  return trusted;
}

function remember(folder: string, io: CliIo): void {
  try {
    createTrust({ home: homeOf(io) }).trust(folder);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Says on the error output what is wrong with the settings, and what does not count. */
export function tellSettings(settings: Settings, mode: Parameters<typeof settingsNotices>[1], io: CliIo): void {
  const remedy = settings.withheld.length === 0 ? '' : ' Say --trust to trust it for this run.';
  const notices = settingsNotices(settings, mode);
  notices.forEach((notice) =>
    io.err(io.colors.dim(`${visibleProse(notice)}${notice.includes('is not trusted') ? remedy : ''}\n`)),
  );
}

function load(cwd: string, flags: SettingsFlags, io: CliIo, trusted: boolean | undefined): Settings {
  try {
    return loadSettings({
      cwd,
      home: homeOf(io),
      sources: ['user', 'project', 'local'],
      ...(flags.settings === undefined ? {} : { settings: flags.settings }),
      ...(trusted === undefined ? {} : { trusted }),
    });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

function homeOf(io: CliIo): string {
  return io.env['HOME'] ?? homedir();
}
