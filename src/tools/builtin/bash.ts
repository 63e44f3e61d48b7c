/** Bash: one command line, each in a shell of its own that starts in the working folder. */
import { existsSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { runShell, type ShellResult } from '../../process/shell.ts';
import { oneLine } from '../text.ts';
import { type Tool, tool, type ToolOutput, type ToolRunContext } from '../tool.ts';

/** The numbers that coding agents publish for their shell tools; times in milliseconds, output in characters. */
const bashLimits = {
  timeoutMs: 120_000,
  longestTimeoutMs: 600_000,
  output: 30_000,
  killGraceMs: 1_500,
} as const;

/** Variables that commands do not get: a command that the model writes has no business with our key. */
const secrets = new Set(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN']);

/** What a host may set; read once, when the tool is made. */
export interface BashOptions {
  /** Environment of the commands. Default: the process's own. The keys for the API are taken out of it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Path of the shell. Default: /bin/bash where it exists, else /bin/sh. */
  readonly shell?: string;
  /** Between SIGTERM and SIGKILL, in milliseconds. Default 1,500. */
  readonly killGraceMs?: number;
}

const input = z.strictObject({
  command: z.string().min(1).describe('The command line'),
  timeout: z
    .number()
    .int()
    .min(1)
    .max(bashLimits.longestTimeoutMs)
    .default(bashLimits.timeoutMs)
    .describe('Longest run in milliseconds'),
  description: z.string().optional().describe('What the command does, in a few words, for the user'),
});

type BashInput = z.output<typeof input>;

/** Makes the tool. It is never read-only and never safe beside others: what a command does is not known. */
export function createBashTool(options: BashOptions = {}): Tool {
  const env = withoutSecrets(options.env ?? process.env);
  const shell = options.shell ?? (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh');
  const killGraceMs = options.killGraceMs ?? bashLimits.killGraceMs;
  return tool({
    name: 'Bash',
    isBuiltIn: true,
    description: [
      'Runs a command line in a shell and gives its output, both streams together, and its exit code.',
      'Each call starts in the working folder: a "cd" does not last. There is no input and no terminal.',
      `At the timeout (${bashLimits.timeoutMs / 1_000} seconds by default) the command is killed with everything it started.`,
      'To read, write, find and search files use the other tools.',
    ].join('\n'),
    input,
    maxResultSizeChars: bashLimits.output,
    permissionTarget: ({ command }) => ({ type: 'command', command }),
    validate: ({ command }) => (command.includes('\0') ? 'A command cannot hold a NUL character.' : null),
    summary: ({ command }) => oneLine(command, 120),
    run: (given, context) => run(given, context, { env, shell, killGraceMs }),
  });
}

function withoutSecrets(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name.toUpperCase())));
}

async function run(given: BashInput, context: ToolRunContext, settings: Required<BashOptions>): Promise<ToolOutput> {
  const { cwd, clock, signal, progress } = context;
  const onOutput = (text: string): void => progress(newestLine(text));
  const result = await runShell({
    command: given.command,
    timeoutMs: given.timeout,
    cwd,
    clock,
    signal,
    onOutput,
    ...settings,
  });
  const isError = result.exitCode !== 0;
  const text = stripVTControlCharacters(result.output).trimEnd();
  return {
    content: [text, ...notesOn(result, given.timeout)].filter((part) => part !== '').join('\n'),
    isError,
    cancelsSiblings: isError,
  };
}

function notesOn(result: ShellResult, timeoutMs: number): readonly string[] {
  const running = result.leftRunning
    ? ['(Something started by the command still runs; what it prints from now on is not shown.)']
    : [];
  if (result.timedOut)
    return [`(Timed out after ${timeoutMs / 1_000} seconds; the command and all it started were killed.)`];
  if (result.endedBy !== null) return [`(Killed by ${result.endedBy}.)`, ...running];
  return result.exitCode === 0 ? running : [`(Exit code ${result.exitCode ?? 'unknown'}.)`, ...running];
}

/** The last line of a piece of output that says something. */
function newestLine(text: string): string {
  const lines = stripVTControlCharacters(text.slice(-2_000)).trimEnd();
  return lines.split(/[\r\n]/).at(-1) ?? '';
}
