/** "Always allow this": keeps rules in the local settings of a project, `.escapement/settings.local.json`. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Path of the local settings of a project. They are meant for one person: keep them out of version control. */
export function localSettingsFile(projectFolder: string): string {
  return join(projectFolder, '.escapement', 'settings.local.json');
}

/**
 * Adds allow rules to the local settings of a project and keeps everything else in the file; creates file and folder. A
 * reader sees the old file or the new one, never a part.
 *
 * @throws Error with one sentence when the file holds something else than settings, or cannot be written.
 */
export async function storeAllowRules(projectFolder: string, rules: readonly string[]): Promise<void> {
  if (rules.length === 0) return;
  const file = localSettingsFile(projectFolder);
  const settings = await readSettings(file);
  const permissions = memberOf(settings, 'permissions', isObject, file) ?? {};
  const allow = memberOf(permissions, 'allow', isList, file) ?? [];
  const added = rules.filter((rule) => !allow.includes(rule));
  if (added.length === 0) return;
  const changed = { ...settings, permissions: { ...permissions, allow: [...allow, ...new Set(added)] } };
  await replaceFile(file, `${JSON.stringify(changed, null, 2)}\n`);
}

type Settings = Readonly<Record<string, unknown>>;

async function readSettings(file: string): Promise<Settings> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw failure(file, 'cannot be read', error);
  }
  try {
    const parsed: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (isObject(parsed)) return parsed;
  } catch (error) {
    throw failure(file, 'is no JSON', error);
  }
  throw failure(file, 'does not hold an object', null);
}

function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** A member of the settings, undefined when it is missing. Somebody's mistake is not written over. */
function memberOf<Value>(
  settings: Settings,
  name: string,
  is: (value: unknown) => value is Value,
  file: string,
): Value | undefined {
  const value = settings[name];
  if (value === undefined || is(value)) return value;
  throw failure(file, `has a member "${name}" of another form`, null);
}

/** Writes beside the file first: a crash in between leaves the old one as it was. */
async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw failure(file, 'cannot be written', error);
  }
}

function failure(file: string, what: string, cause: unknown): Error {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  return new Error(
    `The settings file ${file} ${what}${why}: the rule was not stored, put the file right or remove it.`,
  );
}
