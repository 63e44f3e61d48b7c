/** The options of `query()`, and what it uses of the world. */
import type { ActorOptions, AnyActorRef } from 'xstate';
import type { agentLoop } from '../machines/agent-loop.ts';
import type { Clock } from './clock.ts';
import type { Layer } from './core/config.ts';
import type { LoopEvent } from './core/event.ts';
import type { QueryStart } from './core/initial-state.ts';
import type { LoopState } from './core/state.ts';
import type { PermissionRule } from './core/tools/context.ts';
import type { AttachmentProvider } from './effects/collect-attachments.ts';
import type { EffectRunner } from './effects/io.ts';
import type { Hooks } from './hooks/hook.ts';
import type { McpServerConfig } from './mcp/config.ts';
import type { McpServers } from './mcp/servers.ts';
import type { ClientOptions } from './model/client.ts';
import type { CallModel } from './model/transport.ts';
import type { ContextOptions } from './context-sources.ts';
import type { LoopOptions } from './options.ts';
import type { OutputSchema } from './output-schema.ts';
import type { SettingsOptions } from './with-settings.ts';
import type { Journal, RecordedQuery } from './session/journal.ts';
import type { CanUseTool } from './tools/can-use-tool.ts';
import type { ResultStore } from './tools/result-store.ts';
import type { ScaleImage } from './tools/scale-image.ts';
import type { Agents } from './agents/definition.ts';
import type { StartedAgent } from './sub-agents.ts';
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
    ContextOptions,
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
