/** Reads the settings files and puts their levels together. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { combine } from './combine.ts';
import { type SettingSource, type SettingsPlace, projectFolder, settingsPlaces } from './places.ts';
import { checkSettings, parseSettings, type SettingsFile } from './schema.ts';
import type { Settings } from './settings.ts';
import { createTrust } from './trust.ts';

/** Which settings to read. */
export interface LoadSettingsOptions {
  /** Folder that the session works in. Default: the current one. */
  readonly cwd?: string;
  /** Levels of files to read. Default: none. */
  readonly sources?: readonly SettingSource[];
  /** Given by hand, stronger than every file: a path, JSON that begins with `{`, or its value. */
  readonly settings?: string | object;
  /** May the repository's files run commands and let tools pass? Default: what the user agreed to before. */
  readonly trusted?: boolean;
  /** Default: the home folder of the user. */
  readonly home?: string;
}

/** A file that was read, or given by hand. */
export interface ReadSettings extends SettingsPlace {
  /** The folder that paths `/x` of its rules start in. */
  readonly base: string;
  readonly settings: SettingsFile;
}

/**
 * Reads the files that are there. A broken one is a warning and says nothing else.
 *
 * @throws TypeError with one sentence when what was given by hand cannot be read.
 */
export function loadSettings(options: LoadSettingsOptions = {}): Settings {
  const { cwd = process.cwd(), sources = [], home = homedir() } = options;
  const project = projectFolder(cwd);
  const warnings: string[] = [];
  const read = settingsPlaces(sources, project, home).flatMap((place) => {
    const base = place.level === 'user' ? dirname(place.file) : project;
    const settings = readPlace(place, warnings);
    return settings === null ? [] : [{ ...place, base, settings }];
  });
  const given = options.settings === undefined ? [] : [byHand(options.settings, cwd)];
  const trusted = options.trusted ?? createTrust({ home }).isTrusted(project);
  const servers = join(project, '.mcp.json');
  const bringsServers = sources.includes('project') && existsSync(servers);
  const withheld = bringsServers ? [`MCP servers of ${servers}`] : [];
  return combine([...given, ...read], { home, projectFolder: project, trusted, withheld, warnings });
}

function readPlace({ file }: SettingsPlace, warnings: string[]): SettingsFile | null {
  const text = readText(file);
  if (text === null) return null;
  const settings = typeof text === 'string' ? parseSettings(text) : text.message;
  if (typeof settings !== 'string') return settings;
  warnings.push(`The settings file ${file} is not used, ${settings.replace(/\.?$/, '.')}`);
  return null;
}

/** The text of a file; null when it is not there. */
function readText(file: string): string | Error | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : (error as Error);
  }
}

function byHand(given: string | object, cwd: string): ReadSettings {
  const isFile = typeof given === 'string' && !given.trimStart().startsWith('{');
  const file = isFile ? resolve(cwd, given) : '--settings';
  const settings = isFile ? readGiven(file) : typeof given === 'string' ? parseSettings(given) : checkSettings(given);
  if (typeof settings === 'string') {
    const what = isFile ? `The settings file ${file}` : 'What was given as settings';
    throw new TypeError(`${what} cannot be used, ${settings.replace(/\.?$/, '.')}`);
  }
  return { level: 'flag', file, base: isFile ? dirname(file) : cwd, settings };
}

function readGiven(file: string): SettingsFile | string {
  const text = readText(file);
  if (text === null) return 'it is not there';
  return typeof text === 'string' ? parseSettings(text) : text.message;
}
