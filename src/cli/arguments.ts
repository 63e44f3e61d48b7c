/** The command line as data: flags are read here and nowhere else. */
import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { PermissionMode, WireProfile } from '../core/config.ts';
import { parseTokens } from '../prompt-budget.ts';
import { parseRule } from '../tools/permission-rules.ts';
import type { ExploreFlags } from './explore-command.ts';
import type { HooksFlags } from './hooks-command.ts';
import { UsageError } from './io.ts';
import { ruleFlags, type ToolsFlags } from './rule-flags.ts';

const outputFormats = ['text', 'json', 'stream-json'] as const;
type OutputFormat = (typeof outputFormats)[number];

const permissionModes: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];

export interface RunFlags {
  readonly print: boolean;
  readonly interactive: boolean;
  readonly outputFormat: OutputFormat;
  readonly model?: string;
  readonly fallbackModel: readonly string[];
  readonly baseUrl?: string;
  readonly profile?: WireProfile;
  readonly contextWindow?: number;
  readonly maxTurns?: number;
  readonly budget?: number;
  readonly taskBudget?: number;
  readonly maxCost?: number;
  readonly smallModel?: string;
  readonly jsonSchema?: string;
  readonly permissionMode?: PermissionMode;
  readonly allow: readonly string[];
  readonly mcpConfig: readonly string[];
  readonly agents?: string;
  readonly settings?: string;
  readonly trust: boolean;
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly cwd?: string;
  readonly appendSystemPrompt?: string;
  readonly verbose: boolean;
  readonly demo: boolean;
}

/** How many scenarios `--explore` draws when nothing else is said: some seconds of work. */
const defaultRuns = 1_000;

/** What was asked for. */
export type CliCommand =
  | { readonly name: 'run'; readonly prompt: string; readonly flags: RunFlags }
  | { readonly name: 'simulate'; readonly files: readonly string[]; readonly json: boolean }
  | { readonly name: 'explore'; readonly flags: ExploreFlags }
  | { readonly name: 'bound'; readonly config: string | null }
  | { readonly name: 'hooks'; readonly flags: HooksFlags }
  | { readonly name: 'tools'; readonly flags: ToolsFlags }
  /** Help or the version: the text to print. */
  | { readonly name: 'print'; readonly text: string };

/** The version of the package. */
function packageVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('escapement/package.json') as { readonly version: string }).version;
}

const exitHelp = `
Exit status:
  0    the query completed and the model said that it is done
  1    the query ended in any other way; the last line says which
  2    the command cannot be carried out as it was given
  130  interrupted

Without a key (ANTHROPIC_API_KEY, a token or a profile) and without a base URL a demo runs on a scripted model.
`;

/**
 * Reads the arguments.
 *
 * @throws UsageError with one sentence for a flag or a value that does not exist.
 */
export function parseArguments(argv: readonly string[]): CliCommand {
  let command: CliCommand | null = null;
  const printed: string[] = [];
  const set = (given: CliCommand): void => {
    command = given;
  };
  const program = buildProgram(set);
  quiet(program, printed);
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { name: 'print', text: printed.join('') };
    throw new UsageError(sentenceOf(error.message));
  }
  return command ?? { name: 'print', text: program.helpInformation() };
}

/** Commander must neither print nor leave: both are the caller's. */
function quiet(program: Command, printed: string[]): void {
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => printed.push(text),
      writeErr: () => {},
    });
  }
}

function sentenceOf(message: string): string {
  const text = message
    .replace(/^error: /, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/\.$/, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. See escapement --help.`;
}

function buildProgram(set: (command: CliCommand) => void): Command {
  const program = new Command('escapement')
    .description('Runs a coding agent whose loop is sure to end.')
    .version(packageVersion(), '-V, --version')
    .addHelpText('after', exitHelp)
    .argument('[prompt...]', 'what to do; read from the standard input when it is piped')
    .option('-p, --print', 'print the final text only', false)
    .option('-i, --interactive', 'ask what to do next after each answer; /compact shortens the conversation', false)
    .addOption(new Option('--output-format <format>', 'how to print').choices(outputFormats).default('text'))
    .option('--model <name>', 'the model to ask', name)
    .option('--fallback-model <name>', 'takes over when the model is overloaded; may be repeated', collect(name), [])
    .option('--base-url <url>', 'a server that speaks the Messages API', url)
    .addOption(
      new Option('--profile <profile>', 'what the server speaks; plain with --base-url').choices([
        'anthropic',
        'plain',
      ]),
    )
    .option('--context-window <tokens>', 'what the model can hold', wholeNumber)
    .option('--max-turns <number>', 'turns that the query may take', wholeNumber)
    .option('--budget <tokens>', 'output tokens that the first prompt should use, 500k; or +500k in a prompt', tokens)
    .option('--task-budget <tokens>', 'tokens that the model is told to make do with', tokens)
    .option('--max-cost <dollars>', 'no request starts once so much is spent', dollars)
    .option('--small-model <name>', 'writes a line on what the tools of a turn did', name)
    .option('--json-schema <file or JSON>', 'what the final answer must look like', name)
    .addOption(new Option('--permission-mode <mode>', 'what needs to be asked').choices(permissionModes))
    .option('--allow <rule>', "a rule that lets tools pass, 'Bash(git status)'; may be repeated", collect(rule), [])
    .option('--mcp-config <file or JSON>', 'MCP servers to start; may be repeated', collect(name), [])
    .option('--agents <json>', 'sub-agents by name, as JSON or in a file, beside those of the agents folders', name)
    .option('--settings <file or JSON>', 'settings that are stronger than those of every settings file', name)
    .option('--trust', 'trust the repository for this run: its settings may run commands', false)
    .addOption(ruleFlags.allowedTools())
    .addOption(ruleFlags.disallowedTools())
    .option('--cwd <folder>', 'the folder to work in', name)
    .option('--append-system-prompt <text>', 'stands at the end of the system prompt', name)
    .option('--verbose', 'show thinking and the path through the chart', false)
    .option('--no-demo', 'never run the demo')
    .action((prompt: readonly string[], flags: RunFlags) => set({ name: 'run', prompt: prompt.join(' '), flags }));
  program
    .command('simulate')
    .description('run scenario files through the real engine in virtual time')
    .argument('[file...]', 'scenario files')
    .option('--json', 'print the whole result as JSON', false)
    .option('--explore', 'draw scenarios at random; the first that breaks a law is made small and written', false)
    .option('--runs <number>', `with --explore: how many; default ${defaultRuns}`, wholeNumber)
    .option('--seed <number>', 'with --explore: the same seed draws the same scenarios; default 1', seedNumber)
    .option('--config <file>', 'with --explore: options of query() as JSON, for every scenario', name)
    .option('--out <file>', 'with --explore: where a failing scenario goes', name)
    .action((files: readonly string[], flags: SimulateFlags) => set(simulateCommand(files, flags)));
  program
    .command('bound')
    .description('print the largest number of model calls that a query can cost')
    .option('--config <file>', 'options of query() as JSON')
    .action(({ config }: { readonly config?: string }) => set({ name: 'bound', config: config ?? null }));
  program
    .command('hooks')
    .description('print the command hooks of the settings: when, from which file, and why one does not run')
    .option('--settings <file or JSON>', 'settings that are stronger than those of every settings file', name)
    .option('--trust', 'show what would run if the repository were trusted', false)
    .option('--cwd <folder>', 'the folder to work in', name)
    .option('--json', 'print them as JSON', false)
    // The options that a query has too are read as those of the query, wherever they stand.
    .action((_flags: object, command: Command) => set(hooksOf(command.optsWithGlobals())));
  program
    .command('tools')
    .description('print the tools that a query would have, and what is decided about each')
    .addOption(new Option('--permission-mode <mode>', 'what needs to be asked').choices(permissionModes))
    .option('--allow <rule>', 'a rule that lets tools pass; may be repeated', collect(rule), [])
    .addOption(ruleFlags.allowedTools())
    .addOption(ruleFlags.disallowedTools())
    .option('--mcp-config <file or JSON>', 'MCP servers to start and ask; may be repeated', collect(name), [])
    .option('--agents <json>', 'sub-agents by name, as JSON or in a file', name)
    .option('--settings <file or JSON>', 'settings that are stronger than those of every settings file', name)
    .option('--trust', 'trust the repository for this run', false)
    .option('--cwd <folder>', 'the folder to look from', name)
    .option('--json', 'print them as JSON', false)
    // The options that a query has too are read as those of the query, wherever they stand.
    .action((_flags: object, given: Command) => set({ name: 'tools', flags: given.optsWithGlobals<ToolsFlags>() }));
  return program;
}

function hooksOf({ settings, trust, cwd, json }: HooksFlags): CliCommand {
  const given = { ...(settings === undefined ? {} : { settings }), ...(cwd === undefined ? {} : { cwd }) };
  return { name: 'hooks', flags: { ...given, trust, json } };
}

interface SimulateFlags {
  readonly json: boolean;
  readonly explore: boolean;
  readonly runs?: number;
  readonly seed?: number;
  readonly config?: string;
  readonly out?: string;
}

/** Files or `--explore`, and its flags with it alone: a flag that does nothing would be a mistake that nobody sees. */
function simulateCommand(files: readonly string[], flags: SimulateFlags): CliCommand {
  const { json, explore, runs = defaultRuns, seed = 1, config = null, out = null } = flags;
  if (explore) {
    if (files.length > 0) throw new UsageError('With --explore scenarios are drawn: give no files.');
    return { name: 'explore', flags: { runs, seed, config, out, json } };
  }
  if (files.length === 0)
    throw new UsageError("Missing required argument 'file': name scenario files, or say --explore.");
  const useless = (['runs', 'seed', 'config', 'out'] as const).find((flag) => flags[flag] !== undefined);
  if (useless !== undefined) throw new UsageError(`--${useless} goes with --explore only.`);
  return { name: 'simulate', files, json };
}

/** For a flag that may be repeated: each value is checked and put behind those before it. */
function collect(check: (value: string) => string): (value: string, before: readonly string[]) => readonly string[] {
  return (value, before) => [...before, check(value)];
}

function name(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}

function rule(value: string): string {
  try {
    parseRule({ behavior: 'allow', rule: value });
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is no permission rule.');
  }
  return value;
}

function wholeNumber(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('It must be a whole number above 0.');
  return number;
}

function tokens(value: string): number {
  const number = parseTokens(value);
  if (number === null) throw new InvalidArgumentError('It must be a number of tokens, such as 50000, 500k or 1.5m.');
  return number;
}

function dollars(value: string): number {
  const number = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || !(number > 0)) {
    throw new InvalidArgumentError('It must be an amount of dollars above 0, such as 0.5.');
  }
  return number;
}

function seedNumber(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError('It must be a whole number, 0 or more.');
  }
  return number;
}

function url(value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new InvalidArgumentError('It must be an address that begins with http:// or https://.');
  }
  return value;
}
