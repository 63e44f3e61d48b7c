/** `escapement "..."`: a query against a real model, or the demo. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { watchPath } from '../inspect/watch-path.ts';
import { hasBaseUrl, hasCredentials } from '../model/client.ts';
import type { QueryOptions } from '../prepare.ts';
import type { RunFlags } from './arguments.ts';
import { askLine, permissionPrompt } from './ask.ts';
import { runDemo } from './demo/run-demo.ts';
import { exitStatus, statusOf } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';
import { type Renderer, rendererFor } from './render.ts';
import { runQuery, type ShownQuery } from './run-query.ts';

const defaultModel = 'claude-sonnet-5-5';

/** Runs the query and gives the exit status. */
export async function runCommand(prompt: string, flags: RunFlags, io: CliIo): Promise<number> {
  const isReachable = hasCredentials() || hasBaseUrl(flags.baseUrl);
  if (!isReachable) return await withoutModel(prompt, flags, io);
  const asked = prompt === '' ? await readPrompt(io) : prompt;
  if (asked.trim() === '') throw new UsageError('There is no prompt: say what to do, as in escapement "fix the bug".');
  const renderer = rendererFor(flags, io);
  const options = optionsOf(flags, renderer, io);
  let shown = await runQuery({ ...options, prompt: asked }, renderer, io);
  for (let next = await nextPrompt(shown, io); next !== null; next = await nextPrompt(shown, io)) {
    shown = await runQuery({ ...options, ...historyOf(shown), prompt: next }, rendererFor(flags, io), io);
  }
  return statusOf(shown.terminal);
}

async function withoutModel(prompt: string, flags: RunFlags, io: CliIo): Promise<number> {
  const inCi = (io.env['CI'] ?? '') !== '';
  if (flags.demo && !inCi) return await runDemo(prompt, flags, io);
  const why = inCi ? 'and the demo does not run in CI' : 'and the demo was not wanted';
  throw new UsageError(`No model can be reached, ${why}: set ANTHROPIC_API_KEY, or name a server with --base-url.`);
}

function optionsOf(flags: RunFlags, renderer: Renderer, io: CliIo): QueryOptions {
  const canUseTool = permissionPrompt(io, renderer);
  const verbose = (text: string): void => io.err(io.colors.dim(`[${text}]\n`));
  return {
    model: flags.model ?? defaultModel,
    fallbackModels: [...flags.fallbackModel],
    querySource: 'repl',
    cwd: folderOf(flags, io),
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

/** Reads the prompt from what is piped in. */
async function readPrompt(io: CliIo): Promise<string> {
  if (io.stdin.isTTY === true) return '';
  const chunks: string[] = [];
  io.stdin.setEncoding('utf8');
  for await (const chunk of io.stdin) chunks.push(String(chunk));
  return chunks.join('');
}

/** After an interruption at a terminal the conversation can go on from the history that was kept; null ends it. */
async function nextPrompt({ terminal }: ShownQuery, io: CliIo): Promise<string | null> {
  const canGoOn = io.isTerminal && io.stdin.isTTY === true && statusOf(terminal) === exitStatus.interrupted;
  if (!canGoOn) return null;
  const line = await askLine(io, 'What now? (nothing ends) ');
  return line === null || line.trim() === '' ? null : line;
}

function historyOf({ state, query }: ShownQuery): Partial<QueryOptions> {
  return {
    messages: state.carried.messages,
    toolUseContext: state.carried.toolUseContext,
    queued: query.queued,
  };
}
