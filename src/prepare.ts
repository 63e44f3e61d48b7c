/** From the options of a query to what a run needs: configuration, runners, journal, clock. */
import { realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';
import { Background } from './background.ts';
import { type Clock, systemClock } from './clock.ts';
import { defaultConfig, type LoopConfig } from './core/config.ts';
import type { QueryStart } from './core/initial-state.ts';
import type { QueuedMessage } from './core/state.ts';
import { collectAttachments } from './effects/collect-attachments.ts';
import type { CheckValue } from './effects/check-output.ts';
import { compact } from './effects/compact.ts';
import type { EffectRunners } from './effects/io.ts';
import { runStopHooks } from './effects/run-stop-hooks.ts';
import { runTool } from './effects/run-tool.ts';
import { streamModel } from './effects/stream-model.ts';
import { summarizeSpan } from './effects/summarize-span.ts';
import { summarizeToolUse } from './effects/summarize-tool-use.ts';
import { type Hooks, noHooks } from './hooks/hook.ts';
import { type McpServers, serversOf } from './mcp/servers.ts';
import { createClient } from './model/client.ts';
import { findLimits, tableLimits } from './model/limits.ts';
import { type CallModel, createTransport } from './model/transport.ts';
import { checkContext, type ContextSources, contextSources } from './context-sources.ts';
import { checkCompact, loopOptionsOf } from './host-options.ts';
import { checkOptions, type LoopOptions, modelsOf, toLoopConfig } from './options.ts';
import { outputCheck } from './output-schema.ts';
import { withPromptBudget } from './prompt-budget.ts';
import { QueryHooks } from './query-hooks.ts';
import { readOwnSettings } from './with-settings.ts';
import { type Journal, memoryJournal } from './session/journal.ts';
import { checkMessages, checkRecorded, checkSession } from './session/schemas.ts';
import { builtInTools } from './tools/builtin/index.ts';
import { fitContent, fitStart } from './tools/fit-images.ts';
import { isOffered } from './tools/offered.ts';
import { parseRule } from './tools/permission-rules.ts';
import { liveRegistry } from './tools/live-registry.ts';
import type { ToolRegistry } from './tools/registry.ts';
import { createFileStore } from './tools/result-store.ts';
import { type ScaleImage, scaleWithSharp } from './tools/scale-image.ts';
import { withoutAgentDenials } from './agents/tools-of.ts';
import { agentToolOf, type StartQuery } from './sub-agents.ts';
import type { Tool } from './tools/tool.ts';
import type { QueryOptions } from './query-options.ts';
import { skillToolName } from './skills/skill-tool.ts';

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
  /** What the user says with every image fitted. Never rejects. */
  readonly fit: (message: QueuedMessage) => Promise<QueuedMessage>;
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
  checkContext(options);
  if (options.messages !== undefined) checkMessages(options.messages);
  if (options.session !== undefined) checkSession(options.session);
  if (options.resume !== undefined) checkRecorded(options.resume);
  const parts = partsOf(options, startQuery);
  return {
    hooks: parts.queryHooks,
    background: parts.background,
    options,
    notices,
    fit: (message) => fitContent(message, parts.scaleImage),
    async resolve(signal) {
      const models = modelsOf(loopOptions);
      const [modelLimits, ofServers, found] = await Promise.all([
        limitsFor(options, loopOptions, models, parts.client),
        parts.mcp?.start(signal) ?? [],
        parts.sources.start(loopOptions.system ?? ''),
      ]);
      const config = toLoopConfig(
        { ...loopOptions, system: found.system },
        {
          modelLimits,
          stopHooks: stopHooksOf(parts.hooks, loopOptions.querySource).length > 0,
          microcompactor: options.deps?.microcompact ?? null,
        },
      );
      return {
        config,
        runners: runnersOf(options, parts, config.smallModel),
        journal: options.journal ?? memoryJournal(),
        clock: parts.clock,
        start: { ...(await fitStart(startOf(options), parts.scaleImage)), tools: parts.registry().specs() },
        notices: [...found.notices, ...ofServers],
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
  readonly sources: ContextSources;
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
  const rules = options.rules ?? [];
  const roots = [cwd, ...(options.additionalRoots ?? []).map(folder)];
  const sources = contextSources(options, { cwd, roots, rules });
  const mcp = serversOf(options.mcpServers, { cwd, clock });
  const agentTool = agentToolOf(options, () => registry().tools, startQuery);
  const tools = [...(options.tools ?? builtInTools()), ...(agentTool === null ? [] : [agentTool])];
  const registry = liveRegistry(tools, [sources.tools, mcpTools(mcp, tools)], (tool) => isOffered(tool, rules));
  // Tools that share a name are told of now.
  registry();
  return {
    registry,
    sources,
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
    roots,
  };
}

/** The tools of MCP servers as they are now: none of them takes the name of another tool. */
function mcpTools(servers: McpServers | null, others: readonly Tool[]): () => readonly Tool[] {
  const taken = new Set([skillToolName, ...others.flatMap(({ name, aliases }) => [name, ...aliases])]);
  const none: readonly Tool[] = [];
  return () => servers?.tools(taken) ?? none;
}

function runnersOf(options: QueryOptions, parts: Parts, smallModel: string | null): EffectRunners {
  const { registry, sources, mcp, hooks, queryHooks, callModel, checkValue, scaleImage, cwd, roots } = parts;
  const { contents, readRoots } = sources;
  const querySource = options.querySource ?? defaultConfig.querySource;
  return {
    streamModel: streamModel({
      callModel,
      verdictOf: (name, input) => {
        sources.expect(name, input, registry());
        return registry().verdictOf(name, input);
      },
      checkValue,
    }),
    compact: queryHooks.compacting(options.deps?.compact ?? compact({ callModel })),
    runStopHooks: runStopHooks({ hooks: stopHooksOf(hooks, querySource), cwd, querySource }),
    collectAttachments: collectAttachments({
      sources: sources.attach,
      providers: options.attachments ?? [],
      registry,
      scaleImage,
      ...(mcp === null ? {} : { refreshed: (signal) => mcp.refreshed(signal) }),
    }),
    runTool: runTool({
      registry,
      readRoots,
      ...(contents === null ? {} : { contents }),
      began: (effect) => sources.touch(effect, registry()),
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
