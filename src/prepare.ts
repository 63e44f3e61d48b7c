/** From the options of a query to what a run needs: configuration, runners, journal, clock. */
import { realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { ActorOptions } from 'xstate';
import type { agentLoop } from '../machines/agent-loop.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Layer, LoopConfig } from './core/config.ts';
import type { LoopEvent } from './core/event.ts';
import type { QueryStart } from './core/initial-state.ts';
import type { LoopState } from './core/state.ts';
import type { PermissionRule } from './core/tools/context.ts';
import { type AttachmentProvider, collectAttachments } from './effects/collect-attachments.ts';
import { compact } from './effects/compact.ts';
import type { EffectRunner, EffectRunners } from './effects/io.ts';
import { runStopHooks } from './effects/run-stop-hooks.ts';
import { runTool } from './effects/run-tool.ts';
import { streamModel } from './effects/stream-model.ts';
import { summarizeToolUse } from './effects/summarize-tool-use.ts';
import { type Hooks, noHooks } from './hooks/hook.ts';
import { type ClientOptions, createClient } from './model/client.ts';
import { findLimits } from './model/limits.ts';
import { type CallModel, createTransport } from './model/transport.ts';
import { checkOptions, type LoopOptions, toLoopConfig } from './options.ts';
import { type Journal, memoryJournal, type RecordedQuery } from './session/journal.ts';
import { builtInTools } from './tools/builtin/index.ts';
import type { CanUseTool } from './tools/can-use-tool.ts';
import { createRegistry } from './tools/registry.ts';
import { createFileStore, type ResultStore } from './tools/result-store.ts';
import type { Tool } from './tools/tool.ts';

/** What a query uses of the world; each may be replaced, for tests and for other runtimes. */
export interface QueryDeps {
  /** Sends a request and reports the stream. Default: the Messages API through its SDK. */
  readonly callModel?: CallModel;
  /** Performs a compaction. Default: one more request through `callModel`. */
  readonly compact?: EffectRunner<'compact'>;
  /** Replaces context layer 2. Must be pure. */
  readonly microcompact?: Layer;
  /** Called once, for the seed that every id derives from. Default: a random uuid. */
  readonly uuid?: () => string;
  /** Every timer runs on it. Default: the clock of the system. */
  readonly clock?: Clock;
}

export interface QueryOptions extends LoopOptions, ClientOptions, Omit<QueryStart, 'seed' | 'tools'> {
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
