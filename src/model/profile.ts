/** What the SDK's credential chain finds beyond a key or a token: profiles on disk and federation by environment. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An environment variable as the SDK reads it: trimmed, and absent when nothing is left. */
export function readEnvironment(name: string): string | null {
  return process.env[name]?.trim() || null;
}

/**
 * True when the chain will use a profile or a federation rule. The SDK looks for them in the background after its
 * client was made, so a client cannot be asked; this follows the order that `core/credentials` of the SDK documents.
 * What is named but broken counts as there: the first request then says what is wrong with it.
 *
 * @throws Error when the file that names the active profile is there and cannot be read.
 */
export function hasProfile(): boolean {
  if (readEnvironment('ANTHROPIC_PROFILE') !== null) return true;
  if (
    readEnvironment('ANTHROPIC_FEDERATION_RULE_ID') !== null &&
    readEnvironment('ANTHROPIC_ORGANIZATION_ID') !== null
  ) {
    return true;
  }
  const folder = configFolder();
  return folder !== null && existsSync(join(folder, 'configs', `${activeProfile(folder)}.json`));
}

function configFolder(): string | null {
  const named = readEnvironment('ANTHROPIC_CONFIG_DIR');
  if (named !== null) return named;
  return process.platform === 'win32' ? windowsFolder() : unixFolder();
}

function windowsFolder(): string | null {
  const appData = readEnvironment('APPDATA');
  if (appData !== null) return join(appData, 'Anthropic');
  const profile = readEnvironment('USERPROFILE');
  return profile === null ? null : join(profile, 'AppData', 'Roaming', 'Anthropic');
}

function unixFolder(): string | null {
  const configHome = readEnvironment('XDG_CONFIG_HOME');
  if (configHome !== null) return join(configHome, 'anthropic');
  const home = readEnvironment('HOME');
  return home === null ? null : join(home, '.config', 'anthropic');
}

function activeProfile(folder: string): string {
  const file = join(folder, 'active_config');
  return (existsSync(file) && readFileSync(file, 'utf8').trim()) || 'default';
}
