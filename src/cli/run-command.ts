/** `escapement "..."`: a query against a real model, or the demo. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { sessionFacts } from '../core/session.ts';
import { watchPath } from '../inspect/watch-path.ts';
import { hasBaseUrl, hasCredentials } from '../model/client.ts';
import type { QueryOptions } from '../prepare.ts';
import type { RunFlags } from './arguments.ts';
import { askLine, canAsk, permissionPrompt } from './ask.ts';
import { runDemo } from './demo/run-demo.ts';
import { exitStatus, statusOf } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';
import { whyUnreachable } from './reach.ts';
import { isForPeople, type Renderer, rendererFor } from './render.ts';
import { runQuery, type ShownQuery } from './run-query.ts';
import { readPiped } from './stdin.ts';

const defaultModel = 'claude-sonnet-5-5';

/** Runs the query and gives the exit status. */
export async function runCommand(prompt: string, flags: RunFlags, io: CliIo): Promise<number> {
  // A query takes Ctrl+C for itself; between queries it ends the process, and with it what the tools left running.
  const stopListening = io.interrupts.handle(() => {
    io.screen.write('\n');
    io.exit(exitStatus.interrupted);
  });
  try {
    const cwd = folderOf(flags, io);
    const isReachable = hasCredentials() || hasBaseUrl(flags.baseUrl);
    return await (isReachable ? withModel(prompt, cwd, flags, io) : withoutModel(prompt, flags, io));
  } finally {
    stopListening();
  }
}

async function withModel(prompt: string, cwd: string, flags: RunFlags, io: CliIo): Promise<number> {
  const asked = prompt === '' ? await readPiped(io) : prompt;
  if (asked.trim() === '') throw new UsageError('There is no prompt: say what to do, as in escapement "fix the bug".');
  await checkAddress(flags, io);
  let shown: ShownQuery | null = null;
  for (let next: string | null = asked; next !== null; next = await nextPrompt(shown, flags, io)) {
    const renderer = rendererFor(flags, io);
    const options = optionsOf(cwd, flags, renderer, io);
    const before: Partial<QueryOptions> = shown === null ? {} : historyOf(shown);
    shown = await runQuery({ ...options, ...before, prompt: next }, renderer, io);
  }
  return shown === null ? exitStatus.notDone : statusOf(shown.terminal);
}

/** The API itself is not looked at: that it does not answer is no fault of the command. */
async function checkAddress(flags: RunFlags, io: CliIo): Promise<void> {
  const address = flags.baseUrl ?? io.env['ANTHROPIC_BASE_URL']?.trim() ?? '';
  if (address === '') return;
  if (!URL.canParse(address)) {
    throw new UsageError(`ANTHROPIC_BASE_URL is "${address}": write an address that begins with http:// or https://.`);
  }
  const unreachable = await whyUnreachable(address, io.env);
  if (unreachable !== null) throw new UsageError(unreachable);
}

async function withoutModel(prompt: string, flags: RunFlags, io: CliIo): Promise<number> {
  const inCi = (io.env['CI'] ?? '') !== '';
  if (flags.demo && !inCi) return await runDemo(prompt, flags, io);
  const why = inCi ? 'and the demo does not run in CI' : 'and the demo was not wanted';
  throw new UsageError(`No model can be reached, ${why}: set ANTHROPIC_API_KEY, or name a server with --base-url.`);
}

function optionsOf(cwd: string, flags: RunFlags, renderer: Renderer, io: CliIo): QueryOptions {
  const canUseTool = permissionPrompt(io, renderer);
  const verbose = (text: string): void => io.err(io.colors.dim(`[${text}]\n`));
  return {
    model: flags.model ?? defaultModel,
    fallbackModels: [...flags.fallbackModel],
    querySource: 'repl',
    cwd,
    rules: flags.allow.map((rule) => ({ behavior: 'allow', rule })),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
    profile: flags.profile ?? (flags.baseUrl === undefined ? 'anthropic' : 'plain'),
    ...(flags.contextWindow === undefined ? {} : { contextWindow: flags.contextWindow }),
    ...(flags.maxTurns === undefined ? {} : { maxTurns: flags.maxTurns }),
    ...(flags.permissionMode === undefined ? {} : { permissionMode: flags.permissionMode }),
    ...(canUseTool === null ? {} : { canUseTool }),
    ...(flags.verbose ? { inspect: watchPath({ onPhase: verbose, onContinue: verbose }) } : {}),
  };
}

function folderOf(flags: RunFlags, io: CliIo): string {
  const folder = resolve(io.cwd, flags.cwd ?? '.');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new UsageError(`The folder ${folder} of --cwd is not there: name one that exists.`);
}

/** After an interruption at a terminal the conversation can go on from the history that was kept; null ends it. */
async function nextPrompt(shown: ShownQuery | null, flags: RunFlags, io: CliIo): Promise<string | null> {
  const isInterrupted = shown !== null && statusOf(shown.terminal) === exitStatus.interrupted;
  if (!isInterrupted || !isForPeople(flags) || !canAsk(io)) return null;
  const line = await askLine(io, 'What now? (nothing ends) ');
  return line === null || line.trim() === '' ? null : line;
}

function historyOf({ state, query }: ShownQuery): Partial<QueryOptions> {
  return {
    messages: state.carried.messages,
    toolUseContext: state.carried.toolUseContext,
    queued: query.queued,
    session: sessionFacts(state),
  };
}
