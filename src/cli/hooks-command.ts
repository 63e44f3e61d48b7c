/** `escapement hooks`: which commands the settings would run, when, from which file, and why one does not. */
import { resolve } from 'node:path';
import type { Settings, SettingsHook } from '../settings/settings.ts';
import { exitStatus } from './exit-status.ts';
import type { CliIo } from './io.ts';
import { readSettings, type SettingsFlags, tellSettings } from './settings.ts';
import { visible } from './visible.ts';

/** What the flags of the command say. */
export interface HooksFlags extends SettingsFlags {
  readonly cwd?: string;
  readonly json: boolean;
}

/** Prints the hooks in the order in which the settings name them; runs nothing. */
export function hooksCommand(flags: HooksFlags, io: CliIo): number {
  const settings = readSettings(resolve(io.cwd, flags.cwd ?? '.'), flags, io);
  io.out(flags.json ? `${JSON.stringify(settings.hooks, null, 2)}\n` : hooksText(settings));
  tellSettings(settings, {}, io);
  return exitStatus.done;
}

function hooksText({ hooks, projectFolder }: Settings): string {
  if (hooks.length === 0) return `No settings file of ${visible(projectFolder)} or of the user names a command hook.\n`;
  return hooks.map(hookText).join('\n');
}

function hookText({ event, matcher, command, timeoutMs, file, level, off }: SettingsHook): string {
  const about = matcher === null || matcher === '' ? '*' : matcher;
  const lines = [
    `${event} ${visible(about)}`,
    `  runs   ${visible(command)}`,
    `  from   ${visible(file)} (${level})`,
    `  within ${timeoutMs / 1_000} seconds`,
  ];
  return [...lines, ...(off === null ? [] : [`  OFF    ${visible(off)}`])].map((line) => `${line}\n`).join('');
}
