/** `escapement "..."`: a query against a real model, or the demo. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PermissionRule } from '../core/tools/context.ts';
import { sessionFacts } from '../core/session-facts.ts';
import { watchPath } from '../inspect/watch-path.ts';
import type { Agents } from '../agents/definition.ts';
import type { McpServers } from '../mcp/servers.ts';
import { hasBaseUrl, hasCredentials } from '../model/client.ts';
import type { QueryOptions } from '../query-options.ts';
import { agentsFor } from './agents.ts';
import type { Settings } from '../settings/settings.ts';
import { withSettings } from '../with-settings.ts';
import { storeAllowRules } from '../settings/store-rule.ts';
import { describeThrown } from '../tools/thrown.ts';
import { createFileContents } from '../tools/file-contents.ts';
import type { RunFlags } from './arguments.ts';
import { askLine, canAsk, permissionPrompt } from './ask.ts';
import { runDemo } from './demo/run-demo.ts';
import { exitStatus, statusOf } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';
import { capOptions, limitOptions, promptOptions } from './limit-options.ts';
import { whyUnreachable } from './reach.ts';
import { mcpServersFor } from './mcp.ts';
import { isForPeople, type Renderer, rendererFor } from './render.ts';
import { flagRules } from './rule-flags.ts';
import { runQuery, type ShownQuery } from './run-query.ts';
import { askTrust, readSettings, tellSettings } from './settings.ts';
import { skillPrompt } from '../skill-prompt.ts';
import { readPiped } from './stdin.ts';
import { typedLines } from './typed-lines.ts';

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
    const settings = readSettings(cwd, flags, io);
    const isReachable = hasCredentials() || hasBaseUrl(flags.baseUrl);
    return await (isReachable ? withModel(prompt, cwd, settings, flags, io) : withoutModel(prompt, flags, io));
  } finally {
    stopListening();
  }
}

async function withModel(prompt: string, cwd: string, known: Settings, flags: RunFlags, io: CliIo): Promise<number> {
  if (flags.interactive && !(isForPeople(flags) && canAsk(io))) {
    throw new UsageError('--interactive needs a terminal and the output format text.');
  }
  const asked = await firstPrompt(prompt, flags, io);
  if (asked === null) return exitStatus.done;
  const limits = limitOptions(flags, io);
  const agents = agentsFor(cwd, flags.agents, io);
  const settings = await askTrust(known, cwd, flags, io);
  tellSettings(settings, flags, io);
  const { trusted } = settings;
  const mcpServers = mcpServersFor({ cwd, given: flags.mcpConfig, from: io.cwd, trusted }, io);
  try {
    await checkAddress(flags, io);
    return await converse(asked, { cwd, limits, agents, settings, mcpServers }, flags, io);
  } finally {
    await mcpServers?.close();
  }
}

/** What every query of a conversation has. */
interface Ground {
  readonly cwd: string;
  readonly limits: ReturnType<typeof limitOptions>;
  readonly agents: Agents;
  readonly settings: Settings;
  readonly mcpServers: McpServers | null;
}

async function converse(asked: string, ground: Ground, flags: RunFlags, io: CliIo): Promise<number> {
  const { limits, settings, mcpServers } = ground;
  let shown: ShownQuery | null = null;
  let spent = 0;
  const commands: string[] = [];
  const contents = createFileContents();
  for (
    let next: Asks | null = asksFor(asked, shown);
    next !== null;
    next = await nextAsks(shown, commands, flags, io)
  ) {
    const renderer = rendererFor(flags, io);
    const typed = typedLines(flags, io, renderer);
    const own = {
      ...optionsOf(ground, flags, typed ?? renderer, io),
      ...limits,
      fileChanges: contents,
      ...(mcpServers === null ? {} : { mcpServers }),
    };
    const options = withSettings(own, settings);
    const before: Partial<QueryOptions> = shown === null ? {} : historyOf(shown);
    const isFirst = shown === null;
    const asks =
      typeof next.prompt === 'string'
        ? promptOptions(next.prompt, flags, { isFirst, spent })
        : { ...next, ...capOptions(flags.maxCost, spent) };
    const expand = skillExpander(ground.cwd);
    const prompt = typeof asks.prompt === 'string' ? { prompt: await expand(asks.prompt) } : {};
    shown = await runQuery({ ...options, ...before, ...asks, ...prompt }, renderer, io, { typed, expand });
    spent += shown.terminal.cost ?? 0;
    commands.push(...(typed?.commands ?? []));
  }
  return shown === null ? exitStatus.notDone : statusOf(shown.terminal);
}

/** Puts the instructions of a skill in the place of a line such as `/commit`, which asks for it. */
function skillExpander(cwd: string): (line: string) => Promise<string> {
  return async (line) => {
    try {
      return (await skillPrompt(line, { cwd })) ?? line;
    } catch (error) {
      throw new UsageError(describeThrown(error));
    }
  };
}

/** What the next query does: a prompt, a compaction, or only what was typed before it. */
type Asks = Pick<QueryOptions, 'prompt' | 'compact'>;

function asksFor(line: string, shown: ShownQuery | null): Asks {
  const compact = compactCommand(line);
  if (compact !== null && shown === null) {
    throw new UsageError('There is nothing to compact yet: /compact shortens a conversation that has begun.');
  }
  return compact === null ? { prompt: line } : { compact };
}

/** What to do first; null when the person asked for nothing. */
async function firstPrompt(prompt: string, flags: RunFlags, io: CliIo): Promise<string | null> {
  if (prompt === '' && flags.interactive) return askNext(io);
  const asked = prompt === '' ? await readPiped(io) : prompt;
  if (asked.trim() === '') throw new UsageError('There is no prompt: say what to do, as in escapement "fix the bug".');
  return asked;
}

/** `/compact`, and what the summary should look after; null for anything else. */
function compactCommand(line: string): NonNullable<QueryOptions['compact']> | null {
  const said = /^\/compact(?:\s+(?<instructions>.*))?$/s.exec(line.trim());
  if (said === null) return null;
  const instructions = said.groups?.['instructions']?.trim() ?? '';
  return instructions === '' ? {} : { instructions };
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

function optionsOf(
  { cwd, agents, settings }: Ground,
  flags: RunFlags,
  renderer: Pick<Renderer, 'pause' | 'resume'>,
  io: CliIo,
): QueryOptions {
  const keep = (rules: readonly PermissionRule[]): Promise<void> =>
    storeAllowRules(
      cwd,
      rules.map(({ rule }) => rule),
    );
  const canUseTool = permissionPrompt(io, renderer, keep);
  const verbose = (text: string): void => io.err(io.colors.dim(`[${text}]\n`));
  return {
    model: flags.model ?? settings.model?.value ?? defaultModel,
    fallbackModels: [...flags.fallbackModel],
    querySource: 'repl',
    cwd,
    memory: true,
    skills: true,
    ...(flags.appendSystemPrompt === undefined ? {} : { appendSystem: flags.appendSystemPrompt }),
    rules: flagRules(flags),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
    profile: flags.profile ?? (flags.baseUrl === undefined ? 'anthropic' : 'plain'),
    ...(flags.contextWindow === undefined ? {} : { contextWindow: flags.contextWindow }),
    ...(flags.maxTurns === undefined ? {} : { maxTurns: flags.maxTurns }),
    ...(flags.permissionMode === undefined ? {} : { permissionMode: flags.permissionMode }),
    ...(canUseTool === null ? {} : { canUseTool }),
    agents,
    ...(flags.verbose ? { inspect: watchPath({ onPhase: verbose, onContinue: verbose }) } : {}),
  };
}

function folderOf(flags: RunFlags, io: CliIo): string {
  const folder = resolve(io.cwd, flags.cwd ?? '.');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new UsageError(`The folder ${folder} of --cwd is not there: name one that exists.`);
}

/**
 * What was typed while the query ran goes first. Then, at a terminal, the conversation can go on from the history that
 * was kept: after an interruption, and if it was asked for.
 */
async function nextAsks(
  shown: ShownQuery | null,
  commands: string[],
  flags: RunFlags,
  io: CliIo,
): Promise<Asks | null> {
  const isInterrupted = shown !== null && statusOf(shown.terminal) === exitStatus.interrupted;
  // After an interruption the person says first how to go on; what was typed before stands in front of that.
  if (shown !== null && !isInterrupted && isForPeople(flags)) {
    if (shown.query.queued.length > 0) return {};
    const command = commands.shift();
    if (command !== undefined) return asksFor(command, shown);
  }
  if (!isInterrupted && !flags.interactive) return null;
  const line = isForPeople(flags) && canAsk(io) ? await askNext(io) : null;
  return line === null ? null : asksFor(line, shown);
}

/** One line of the person at the terminal; null ends the conversation. */
async function askNext(io: CliIo): Promise<string | null> {
  const line = await askLine(io, 'What now? (nothing ends) ');
  return line === null || line.trim() === '' ? null : line;
}

function historyOf({ state, query }: ShownQuery): Partial<QueryOptions> {
  return {
    messages: state.carried.messages,
    toolUseContext: state.carried.toolUseContext,
    queued: query.queued,
    staged: state.query.staged,
    session: sessionFacts(state),
  };
}
