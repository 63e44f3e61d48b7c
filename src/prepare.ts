/** From the options of a query to what a run needs: configuration, runners, journal, clock. */
import { realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { ActorOptions } from 'xstate';
import type { agentLoop } from '../machines/agent-loop.ts';
import { type Clock, systemClock } from './clock.ts';
import { defaultConfig, type Layer, type LoopConfig } from './core/config.ts';
import type { LoopEvent } from './core/event.ts';
import type { QueryStart } from './core/initial-state.ts';
import type { LoopState, QueuedMessage } from './core/state.ts';
import type { PermissionRule } from './core/tools/context.ts';
import { type AttachmentProvider, collectAttachments } from './effects/collect-attachments.ts';
import { compact } from './effects/compact.ts';
import type { EffectRunner, EffectRunners } from './effects/io.ts';
import { runStopHooks } from './effects/run-stop-hooks.ts';
import { runTool } from './effects/run-tool.ts';
import { streamModel } from './effects/stream-model.ts';
import { summarizeSpan } from './effects/summarize-span.ts';
import { summarizeToolUse } from './effects/summarize-tool-use.ts';
import { type Hooks, noHooks } from './hooks/hook.ts';
import { type ClientOptions, createClient } from './model/client.ts';
import { findLimits, tableLimits } from './model/limits.ts';
import { type CallModel, createTransport } from './model/transport.ts';
import { checkContext, type ContextOptions, type ContextSources, contextSources } from './context-sources.ts';
import { checkCompact, loopOptionsOf } from './host-options.ts';
import { checkOptions, type LoopOptions, toLoopConfig } from './options.ts';
import { type Journal, memoryJournal, type RecordedQuery } from './session/journal.ts';
import { checkMessages, checkRecorded } from './session/schemas.ts';
import { builtInTools } from './tools/builtin/index.ts';
import type { CanUseTool } from './tools/can-use-tool.ts';
import { fitContent, fitStart } from './tools/fit-images.ts';
import { parseRule } from './tools/permission-rules.ts';
import { liveRegistry } from './tools/live-registry.ts';
import type { ToolRegistry } from './tools/registry.ts';
import { createFileStore, type ResultStore } from './tools/result-store.ts';
import { type ScaleImage, scaleWithSharp } from './tools/scale-image.ts';
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

export interface QueryOptions extends LoopOptions, ClientOptions, ContextOptions, Omit<QueryStart, 'seed' | 'tools'> {
  /** Default: the built-in tools, which work in `cwd`. */
  readonly tools?: readonly Tool[];
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
  /** Called before each event is taken, with its index in the journal; may interrupt the query there. */
  readonly beforeEvent?: (index: number, event: LoopEvent, state: LoopState) => void;
  readonly deps?: QueryDeps;
}

/** What `query()` has after its options were checked, before anything was asked of the world. */
export interface Prepared {
  /** Asks the server for the limits of the models, then everything is known. */
  readonly resolve: () => Promise<Resolved>;
  /** What the user says with every image fitted. Never rejects. */
  readonly fit: (message: QueuedMessage) => Promise<QueuedMessage>;
}

interface Resolved {
  readonly config: LoopConfig;
  readonly runners: EffectRunners;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly start: Omit<QueryStart, 'seed'>;
  /** What a person may want to know of the beginning, one sentence each. */
  readonly notices: readonly string[];
}

/**
 * Checks the options and puts the parts together; sends nothing.
 *
 * @throws TypeError with one sentence for an option or a tool that cannot be used, or a folder that is not there.
 */
export function prepare(options: QueryOptions): Prepared {
  const loopOptions = loopOptionsOf(options);
  checkOptions(loopOptions);
  checkCompact(options);
  checkContext(options);
  if (options.messages !== undefined) checkMessages(options.messages);
  if (options.resume !== undefined) checkRecorded(options.resume);
  const parts = partsOf(options);
  return {
    fit: (message) => fitContent(message, parts.scaleImage),
    async resolve() {
      const models = [loopOptions.model ?? defaultConfig.models[0]!, ...(loopOptions.fallbackModels ?? [])];
      const found = await parts.sources.start(loopOptions.system ?? '');
      const config = toLoopConfig(
        { ...loopOptions, system: found.system },
        {
          modelLimits: await limitsFor(options, loopOptions, models, parts.client),
          stopHooks: parts.hooks.stop.length > 0,
          microcompactor: options.deps?.microcompact ?? null,
        },
      );
      return {
        config,
        runners: runnersOf(options, parts, config.smallModel),
        journal: options.journal ?? memoryJournal(),
        clock: options.deps?.clock ?? systemClock,
        start: { ...(await fitStart(startOf(options), parts.scaleImage)), tools: parts.registry().specs() },
        notices: found.notices,
      };
    },
  };
}

/** How long the end waits for tools that were cancelled, in milliseconds: longer, and Ctrl+C feels dead. */
export const defaultAbortGraceMs = 2_000;

/** What the runners share. */
interface Parts {
  /** The tools of now. */
  readonly registry: () => ToolRegistry;
  readonly sources: ContextSources;
  readonly hooks: Hooks;
  readonly client: () => ReturnType<typeof createClient>;
  readonly callModel: CallModel;
  readonly scaleImage: ScaleImage;
  readonly cwd: string;
  readonly roots: readonly string[];
}

function partsOf(options: QueryOptions): Parts {
  for (const rule of options.rules ?? []) parseRule(rule);
  const cwd = folder(options.cwd ?? process.cwd());
  const client = once(() => createClient(options));
  const { idleTimeoutMs, deadlineMs } = options;
  const transport = (): CallModel =>
    createTransport(client, {
      ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
  const roots = [cwd, ...(options.additionalRoots ?? []).map(folder)];
  const sources = contextSources(options, { cwd, roots, rules: options.rules ?? [] });
  const registry = liveRegistry(options.tools ?? builtInTools(), [sources.tools]);
  // Tools that share a name are told of now.
  registry();
  return {
    registry,
    sources,
    hooks: { ...noHooks, ...options.hooks },
    client,
    callModel: options.deps?.callModel ?? transport(),
    scaleImage: options.deps?.scaleImage ?? scaleWithSharp,
    cwd,
    roots,
  };
}

function runnersOf(options: QueryOptions, parts: Parts, smallModel: string | null): EffectRunners {
  const { registry, sources, hooks, callModel, scaleImage, cwd, roots } = parts;
  const { contents, readRoots } = sources;
  return {
    streamModel: streamModel({
      callModel,
      verdictOf: (name, input) => {
        sources.expect(name, input, registry());
        return registry().verdictOf(name, input);
      },
    }),
    compact: options.deps?.compact ?? compact({ callModel }),
    runStopHooks: runStopHooks({ hooks: hooks.stop }),
    collectAttachments: collectAttachments({
      sources: sources.attach,
      providers: options.attachments ?? [],
      registry,
      scaleImage,
    }),
    runTool: runTool({
      registry,
      readRoots,
      ...(contents === null ? {} : { contents }),
      began: (effect) => sources.touch(effect, registry()),
      hooks,
      rules: options.rules ?? [],
      canUseTool: options.canUseTool ?? null,
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

/** What a host of one's own needs to run the loop without `query()`. */
export interface LoopParts {
  readonly config: LoopConfig;
  /** For `initialState`, or for the machine's input. */
  readonly start: QueryStart;
  /** For `loopActors`, or to perform the effects of `step` with `performEffect`. */
  readonly runners: EffectRunners;
}

/**
 * The parts of `query()`: give them to the chart, or to `step` and a loop of your own. Asks the server for the limits
 * of the models unless the options name them.
 *
 * @throws TypeError as `query()` does.
 */
export async function loopParts(
  options: Omit<QueryOptions, 'journal' | 'resume' | 'signal' | 'inspect' | 'beforeEvent'>,
): Promise<LoopParts> {
  const { config, start, runners } = await prepare(options).resolve();
  return { config, start: { ...start, seed: (options.deps?.uuid ?? randomUUID)() }, runners };
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
