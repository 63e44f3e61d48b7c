/** From the options of a query to what a run needs: configuration, runners, journal, clock. */
import { realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { ActorOptions, AnyActorRef } from 'xstate';
import type { agentLoop } from '../machines/agent-loop.ts';
import { Background } from './background.ts';
import { type Clock, systemClock } from './clock.ts';
import { defaultConfig, type Layer, type LoopConfig } from './core/config.ts';
import type { LoopEvent } from './core/event.ts';
import type { QueryStart } from './core/initial-state.ts';
import type { LoopState } from './core/state.ts';
import type { PermissionRule } from './core/tools/context.ts';
import { type AttachmentProvider, collectAttachments } from './effects/collect-attachments.ts';
import type { CheckValue } from './effects/check-output.ts';
import { compact } from './effects/compact.ts';
import type { EffectRunner, EffectRunners } from './effects/io.ts';
import { runStopHooks } from './effects/run-stop-hooks.ts';
import { runTool } from './effects/run-tool.ts';
import { streamModel } from './effects/stream-model.ts';
import { summarizeSpan } from './effects/summarize-span.ts';
import { summarizeToolUse } from './effects/summarize-tool-use.ts';
import { type Hooks, noHooks } from './hooks/hook.ts';
import type { McpServerConfig } from './mcp/config.ts';
import { liveRegistry } from './mcp/live-registry.ts';
import { type McpServers, serversOf } from './mcp/servers.ts';
import { type ClientOptions, createClient } from './model/client.ts';
import { findLimits, tableLimits } from './model/limits.ts';
import { type CallModel, createTransport } from './model/transport.ts';
import { checkCompact, loopOptionsOf } from './host-options.ts';
import { checkOptions, type LoopOptions, modelsOf, toLoopConfig } from './options.ts';
import { outputCheck, type OutputSchema } from './output-schema.ts';
import { withPromptBudget } from './prompt-budget.ts';
import { QueryHooks } from './query-hooks.ts';
import { readOwnSettings, type SettingsOptions } from './with-settings.ts';
import { type Journal, memoryJournal, type RecordedQuery } from './session/journal.ts';
import { checkMessages, checkRecorded, checkSession } from './session/schemas.ts';
import { builtInTools } from './tools/builtin/index.ts';
import type { CanUseTool } from './tools/can-use-tool.ts';
import { fitStart } from './tools/fit-images.ts';
import { isOffered } from './tools/offered.ts';
import { parseRule } from './tools/permission-rules.ts';
import type { ToolRegistry } from './tools/registry.ts';
import { createFileStore, type ResultStore } from './tools/result-store.ts';
import { type ScaleImage, scaleWithSharp } from './tools/scale-image.ts';
import type { Agents } from './agents/definition.ts';
import { withoutAgentDenials } from './agents/tools-of.ts';
import { agentToolOf, type StartedAgent, type StartQuery } from './sub-agents.ts';
import type { Tool } from './tools/tool.ts';

/** What a query uses of the world; each may be replaced, for tests and for other runtimes. */
export interface QueryDeps {
  /** Sends a request and reports the stream. Default: the Messages API through its SDK. */
  readonly callModel?: CallModel;
  /** Performs a compaction. Default: one more request through `callModel`. */
  readonly compact?: EffectRunner<'compact'>;
  /** Replaces context layer 2. Must be pure. */
  readonly microcompact?: Layer;
  /** Makes an image smaller that the API would refuse. Default: `sharp`, where that optional package is installed. */
  readonly scaleImage?: ScaleImage;
  /** Called once, for the seed that every id derives from. Default: a random uuid. */
  readonly uuid?: () => string;
  /** Every timer runs on it. Default: the clock of the system. */
  readonly clock?: Clock;
}

export interface QueryOptions
  extends Omit<LoopOptions, 'outputSchema'>,
    ClientOptions,
    SettingsOptions,
    Omit<QueryStart, 'seed' | 'tools'> {
  /** What the final answer must look like: a zod schema, or a JSON schema. Default: any text will do. */
  readonly outputSchema?: OutputSchema | null | undefined;
  /** Default: the built-in tools, which work in `cwd`. */
  readonly tools?: readonly Tool[];
  /**
   * MCP servers whose tools the model gets too, by name, as in `.mcp.json`; they are started and closed with the query. An
   * `McpServers` stays open for the next query, and its host closes it. Default: none.
   */
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>> | McpServers;
  /** Sub-agents by name, beside the built-in `general-purpose`: gives the query the tool Agent. Default: no such tool. */
  readonly agents?: Agents;
  /** The journal of a sub-agent. Default: one in memory, of which nothing is seen. */
  readonly journalOf?: (agent: StartedAgent) => Journal;
  /** Folder that the tools work in. Default: the current one. */
  readonly cwd?: string;
  /** Further folders that tools may touch. */
  readonly additionalRoots?: readonly string[];
  /** Rules that allow, deny or ask: deny beats ask beats allow. */
  readonly rules?: readonly PermissionRule[];
  /** Asks the user; without it nobody is there, and what would be asked is denied. */
  readonly canUseTool?: CanUseTool;
  readonly hooks?: Partial<Hooks>;
  /** What belongs behind the tool results of a turn. */
  readonly attachments?: readonly AttachmentProvider[];
  /** Ends the query: the reason `'submit'` leaves out the note that says so, any other is an interruption. */
  readonly signal?: AbortSignal;
  /** How long the end waits for tools that were cancelled, in milliseconds. Default 2,000. */
  readonly abortGraceMs?: number;
  /** Largest silence of a stream in milliseconds. Default 90,000. */
  readonly idleTimeoutMs?: number;
  /** Longest time of one request in milliseconds. Default 600,000. */
  readonly deadlineMs?: number;
  /** Where results go that are too long for the model. Default: a folder of the session in the temporary folder. */
  readonly resultStore?: ResultStore;
  /** Told of what nobody waits for any more: a late result of a tool that was left behind. Default: nobody. */
  readonly log?: (sentence: string) => void;
  /** Default: a journal in memory, of which nothing is seen. */
  readonly journal?: Journal;
  /** Goes on from a journal instead of beginning. `prompt` and `messages` are not looked at then. */
  readonly resume?: RecordedQuery;
  /** An XState inspector: sees every event and every move of the chart. */
  readonly inspect?: NonNullable<ActorOptions<typeof agentLoop>['inspect']>;
  /** The actor that this query is a child of, `context.actor` of a tool: whoever inspects it sees this query too. */
  readonly parent?: AnyActorRef;
  /** Called before each event is taken, with its index in the journal; may interrupt the query there. */
  readonly beforeEvent?: (index: number, event: LoopEvent, state: LoopState) => void;
  readonly deps?: QueryDeps;
}

/** What `query()` has after its options were checked, before anything was asked of the world. */
export interface Prepared {
  /** Asks the server for the limits of the models and starts the MCP servers, then everything is known. */
  readonly resolve: (signal: AbortSignal) => Promise<Resolved>;
  /** Closes what `resolve` has started. Resolves when nothing is left running. Never rejects. */
  readonly close: () => Promise<void>;
  readonly hooks: QueryHooks;
  readonly background: Background;
  /** The options with what settings files add. */
  readonly options: QueryOptions;
  /** For the consumer, before anything else. */
  readonly notices: readonly string[];
}

interface Resolved {
  readonly config: LoopConfig;
  readonly runners: EffectRunners;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly start: Omit<QueryStart, 'seed'>;
  /** What a person may want to know before the query begins. */
  readonly notices: readonly string[];
}

/**
 * Checks the options and puts the parts together; sends nothing. `startQuery` runs sub-agents.
 *
 * @throws TypeError with one sentence for an option or a tool that cannot be used, or a folder that is not there.
 */
export function prepare(given: QueryOptions, startQuery: StartQuery): Prepared {
  checkOptions(loopOptionsOf(given));
  const { options: read, notices } = readOwnSettings(given);
  const options = withPromptBudget(read);
  const loopOptions = loopOptionsOf(options);
  checkCompact(options);
  if (options.messages !== undefined) checkMessages(options.messages);
  if (options.session !== undefined) checkSession(options.session);
  if (options.resume !== undefined) checkRecorded(options.resume);
  const parts = partsOf(options, startQuery);
  return {
    hooks: parts.queryHooks,
    background: parts.background,
    options,
    notices,
    async resolve(signal) {
      const models = modelsOf(loopOptions);
      const [modelLimits, ofServers] = await Promise.all([
        limitsFor(options, loopOptions, models, parts.client),
        parts.mcp?.start(signal) ?? [],
      ]);
      const config = toLoopConfig(loopOptions, {
        modelLimits,
        stopHooks: stopHooksOf(parts.hooks, loopOptions.querySource).length > 0,
        microcompactor: options.deps?.microcompact ?? null,
      });
      return {
        config,
        runners: runnersOf(options, parts, config.smallModel),
        journal: options.journal ?? memoryJournal(),
        clock: parts.clock,
        start: { ...(await fitStart(startOf(options), parts.scaleImage)), tools: parts.registry().specs() },
        notices: ofServers,
      };
    },
    async close() {
      if (parts.mcp !== options.mcpServers) await parts.mcp?.close();
    },
  };
}

/** How long the end waits for tools that were cancelled, in milliseconds: longer, and Ctrl+C feels dead. */
export const defaultAbortGraceMs = 2_000;

/** What the runners share. */
interface Parts {
  /** The tools of now. */
  readonly registry: () => ToolRegistry;
  readonly mcp: McpServers | null;
  readonly hooks: Hooks;
  readonly queryHooks: QueryHooks;
  readonly background: Background;
  readonly clock: Clock;
  readonly client: () => ReturnType<typeof createClient>;
  readonly callModel: CallModel;
  readonly checkValue: CheckValue | null;
  readonly scaleImage: ScaleImage;
  readonly cwd: string;
  readonly roots: readonly string[];
}

function partsOf(options: QueryOptions, startQuery: StartQuery): Parts {
  for (const rule of options.rules ?? []) parseRule(rule);
  const cwd = folder(options.cwd ?? process.cwd());
  const client = once(() => createClient(options));
  const { idleTimeoutMs, deadlineMs } = options;
  const schema = options.outputSchema ?? options.resume?.config.outputSchema ?? null;
  const transport = (): CallModel =>
    createTransport(client, {
      ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
  const clock = options.deps?.clock ?? systemClock;
  const hooks = { ...noHooks, ...options.hooks };
  const background = new Background(clock, options.log ?? (() => {}));
  const mcp = serversOf(options.mcpServers, { cwd, clock });
  const agentTool = agentToolOf(options, () => registry().tools, startQuery);
  const tools = [...(options.tools ?? builtInTools()), ...(agentTool === null ? [] : [agentTool])];
  const registry = liveRegistry(
    tools.filter((tool) => isOffered(tool, options.rules ?? [])),
    mcp,
  );
  return {
    registry,
    mcp,
    hooks,
    queryHooks: new QueryHooks({ hooks, background, clock, cwd }),
    background,
    clock,
    client,
    callModel: options.deps?.callModel ?? transport(),
    checkValue: schema === null ? null : outputCheck(schema),
    scaleImage: options.deps?.scaleImage ?? scaleWithSharp,
    cwd,
    roots: [cwd, ...(options.additionalRoots ?? []).map(folder)],
  };
}

function runnersOf(options: QueryOptions, parts: Parts, smallModel: string | null): EffectRunners {
  const { registry, mcp, hooks, queryHooks, callModel, checkValue, scaleImage, cwd, roots } = parts;
  const querySource = options.querySource ?? defaultConfig.querySource;
  return {
    streamModel: streamModel({
      callModel,
      verdictOf: (name, input) => registry().verdictOf(name, input),
      checkValue,
    }),
    compact: queryHooks.compacting(options.deps?.compact ?? compact({ callModel })),
    runStopHooks: runStopHooks({ hooks: stopHooksOf(hooks, querySource), cwd, querySource }),
    collectAttachments: collectAttachments({
      providers: options.attachments ?? [],
      registry,
      scaleImage,
      ...(mcp === null ? {} : { refreshed: (signal) => mcp.refreshed(signal) }),
    }),
    runTool: runTool({
      registry,
      hooks,
      rules: withoutAgentDenials(options.rules ?? []),
      canUseTool: options.canUseTool ?? null,
      asking: queryHooks.asking,
      store: options.resultStore ?? createFileStore(join(tmpdir(), 'escapement', randomUUID())),
      scaleImage,
      cwd,
      roots,
      abortGraceMs: options.abortGraceMs ?? defaultAbortGraceMs,
      ...(options.log === undefined ? {} : { log: options.log }),
    }),
    summarizeToolUse: summarizeToolUse({ callModel, smallModel }),
    summarizeSpan: summarizeSpan({ callModel }),
  };
}

/** Sub-agents have SubagentStop in the place of Stop. */
function stopHooksOf(hooks: Hooks, querySource: string | undefined): Hooks['stop'] {
  return querySource?.startsWith('agent:') === true ? hooks.subagentStop : hooks.stop;
}

/** Asks the server unless the caller named the limits, brings its own model caller, or resumes. */
async function limitsFor(
  options: QueryOptions,
  { contextWindow, modelMaxOutput }: LoopOptions,
  models: readonly string[],
  client: () => ReturnType<typeof createClient>,
): Promise<LoopConfig['modelLimits']> {
  const isNamed = contextWindow !== undefined && modelMaxOutput !== undefined;
  if (isNamed || options.resume !== undefined) return {};
  if (options.deps?.callModel !== undefined) return tableLimits(models);
  return findLimits(client, models, options.signal);
}

function startOf({
  prompt,
  messages,
  toolUseContext,
  queued,
  staged,
  session,
  compact: byHand,
}: QueryOptions): Omit<QueryStart, 'seed' | 'tools'> {
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(messages === undefined ? {} : { messages }),
    ...(toolUseContext === undefined ? {} : { toolUseContext }),
    ...(queued === undefined ? {} : { queued }),
    ...(staged === undefined ? {} : { staged }),
    ...(session === undefined ? {} : { session }),
    ...(byHand === undefined ? {} : { compact: byHand }),
  };
}

/** The real path of a folder that is there. */
function folder(path: string): string {
  const absolute = resolve(path);
  if (!(statSync(absolute, { throwIfNoEntry: false })?.isDirectory() ?? false)) {
    throw new TypeError(`The folder ${absolute} is not there: name one that exists.`);
  }
  return realpathSync(absolute);
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}
