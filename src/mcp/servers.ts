/** The MCP servers of a query, or of several queries after one another. */
import type { Tool as McpTool, Transport } from '@modelcontextprotocol/client';
import { type Clock, systemClock } from '../clock.ts';
import type { Tool } from '../tools/tool.ts';
import { type McpServerConfig, type McpServerEntry, readServers } from './config.ts';
import { serverParts, toolNames } from './names.ts';
import { McpServer, orAborted } from './server.ts';
import { toolOf } from './tool.ts';

/** How servers are run. */
export interface McpServersOptions {
  /** Folder that servers run in. Default: the current one. */
  readonly cwd?: string;
  /** Where `${VAR}` comes from. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Longest start of a server in milliseconds, its list of tools included. Default 30,000. */
  readonly startTimeoutMs?: number;
  /** Longest call of a tool in milliseconds, for servers that name no `timeout`. Default 600,000. */
  readonly callTimeoutMs?: number;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
  /** In place of the transport that a configuration asks for: a server in the same process. */
  readonly transport?: (entry: McpServerEntry) => Transport;
}

/** A tool of a server, for people. */
export interface McpToolInfo {
  /** As the model and permission rules know it. */
  readonly name: string;
  readonly server: string;
  /** File, flag or option that named the server. */
  readonly source: string;
  readonly description: string;
}

const defaultStartTimeoutMs = 30_000;
const defaultCallTimeoutMs = 600_000;

interface Listed {
  readonly lists: readonly (readonly McpTool[])[];
  readonly taken: ReadonlySet<string>;
  readonly tools: readonly Tool[];
  readonly infos: readonly McpToolInfo[];
}

/**
 * MCP servers that stay open until `close()`. Give them to one query after another; a query that is given plain
 * configurations makes a set of its own and closes it when it ends. Nothing runs before the first query, or `start()`.
 */
export class McpServers {
  readonly #servers: readonly McpServer[];
  readonly #parts: ReadonlyMap<string, string>;
  readonly #callTimeoutMs: number;
  #listed: Listed | null = null;

  /** Throws a `TypeError` when a time is not above 0. */
  constructor(entries: readonly McpServerEntry[], options: McpServersOptions = {}) {
    for (const name of ['startTimeoutMs', 'callTimeoutMs'] as const) {
      const ms = options[name];
      if (ms !== undefined && !(ms > 0))
        throw new TypeError(`${name} of the MCP servers is ${ms}: give milliseconds above 0.`);
    }
    const deps = {
      clock: options.clock ?? systemClock,
      cwd: options.cwd ?? process.cwd(),
      env: options.env ?? process.env,
      startTimeoutMs: options.startTimeoutMs ?? defaultStartTimeoutMs,
      transport: options.transport ?? null,
    };
    this.#callTimeoutMs = options.callTimeoutMs ?? defaultCallTimeoutMs;
    // By name: neither the order in a file nor that of several files may change the list that the model is sent.
    this.#servers = entries
      .toSorted((left, right) => Number(left.name > right.name) - Number(left.name < right.name))
      .map((entry) => new McpServer(entry, deps));
    this.#parts = serverParts(entries.map(({ name }) => name));
  }

  /**
   * Starts what does not run, side by side; a server that died before is started again. Resolves with a sentence for each
   * that did not start. After an abort nobody waits for those that still do; `close()` ends them. Never rejects.
   */
  async start(signal: AbortSignal = new AbortController().signal): Promise<readonly string[]> {
    if (signal.aborted) return [];
    const begun = Promise.all(this.#servers.map((server) => server.begin()));
    await orAborted(begun, signal).catch(() => {});
    return this.#takeNotices();
  }

  /** Waits for changes of tool lists that are under way; resolves with what a person may want to know. Never rejects. */
  async refreshed(signal: AbortSignal = new AbortController().signal): Promise<readonly string[]> {
    const done = Promise.all(this.#servers.map((server) => server.refreshed()));
    await orAborted(done, signal).catch(() => {});
    return this.#takeNotices();
  }

  /** The tools of now, the same object until one changes. `taken` are the names that other tools have. */
  tools(taken: ReadonlySet<string> = new Set()): readonly Tool[] {
    return this.#list(taken).tools;
  }

  /** The tools of now with where they come from, by name. */
  list(): readonly McpToolInfo[] {
    return this.#list(this.#listed?.taken ?? new Set()).infos;
  }

  /** Ends all servers. Resolves when nothing is left running. Never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  #takeNotices(): readonly string[] {
    return [...new Set(this.#servers.flatMap((server) => server.takeNotices()))];
  }

  #list(taken: ReadonlySet<string>): Listed {
    const known = this.#listed;
    const isSame = known?.taken === taken && this.#servers.every(({ tools }, index) => tools === known.lists[index]);
    if (known !== null && isSame) return known;
    const made = this.#servers.flatMap((server) => this.#toolsOf(server, taken));
    const sorted = made.toSorted(
      (left, right) => Number(left.tool.name > right.tool.name) - Number(left.tool.name < right.tool.name),
    );
    this.#listed = {
      lists: this.#servers.map(({ tools }) => tools),
      taken,
      tools: sorted.map(({ tool }) => tool),
      infos: sorted.map(({ info }) => info),
    };
    return this.#listed;
  }

  #toolsOf(
    server: McpServer,
    taken: ReadonlySet<string>,
  ): readonly { readonly tool: Tool; readonly info: McpToolInfo }[] {
    const { name, source } = server.entry;
    const part = this.#parts.get(name) ?? name;
    const byName = new Map(server.tools.map((listed) => [listed.name, listed]));
    const names = toolNames(part, [...byName.keys()], taken);
    return [...byName.values()].map((listed) => {
      const tool = toolOf(server, listed, names.get(listed.name) ?? listed.name, this.#callTimeoutMs);
      return { tool, info: { name: tool.name, server: name, source, description: tool.description } };
    });
  }
}

/**
 * Servers from plain configurations, as `query()` takes them.
 *
 * @throws TypeError with a sentence for each that cannot be used.
 */
export function createMcpServers(
  servers: Readonly<Record<string, McpServerConfig>>,
  options: McpServersOptions = {},
): McpServers {
  const { entries, problems } = readServers(servers, 'the option mcpServers');
  if (problems.length > 0) throw new TypeError(problems.join(' '));
  return new McpServers(entries, options);
}

/** The servers that a host keeps, or a set made of plain configurations; null for none. Throws as `createMcpServers` does. */
export function serversOf(
  given: Readonly<Record<string, McpServerConfig>> | McpServers | undefined,
  options: McpServersOptions,
): McpServers | null {
  if (given === undefined || given instanceof McpServers) return given ?? null;
  return createMcpServers(given, options);
}
