/** The life of one MCP server: started, used, started once more when it died, closed. */
import type { Tool as McpTool, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../core/json.ts';
import { settle } from '../tools/settle.ts';
import { oneLine } from '../tools/text.ts';
import type { ToolOutput } from '../tools/tool.ts';
import type { McpServerEntry } from './config.ts';
import type * as connecting from './connect.ts';
import type { CallOrder, Link } from './connect.ts';
import { serverEnvironment } from './environment.ts';
import { expandServer, redactor } from './expand.ts';
import { outputOf } from './result.ts';

/** Longest reason in a sentence, in characters. */
const longestReason = 300;

/** What is loaded when the first server is started. */
type Sdk = Pick<typeof connecting, 'connect' | 'faultOf' | 'reasonOf'>;

/** What every server of a set shares. */
export interface ServerDeps {
  readonly clock: Clock;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly startTimeoutMs: number;
  /** In place of the transport that the configuration asks for. */
  readonly transport: ((entry: McpServerEntry) => Transport) | null;
}

type Phase =
  /** Never started. */
  | { readonly type: 'idle' }
  | { readonly type: 'ready'; readonly link: Link }
  /** It has run and is gone. */
  | { readonly type: 'ended'; readonly why: string }
  /** It did not start, or not again. */
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'closed' };

export class McpServer {
  readonly entry: McpServerEntry;
  readonly #deps: ServerDeps;
  readonly #closing = new AbortController();
  /** Every connection that there is, and every one that is being made: none may outlive the server. */
  readonly #links = new Set<Link>();
  readonly #opening = new Set<Promise<void>>();
  #phase: Phase = { type: 'idle' };
  #tools: readonly McpTool[] = [];
  #redact = (text: string): string => text;
  #sdk: Sdk | null = null;
  /** Resolves with what went wrong, or null. */
  #starting: Promise<string | null> | null = null;
  #refreshing: Promise<void> | null = null;
  #hasRun = false;
  /** In this query. */
  #restarts = 0;
  #notices: string[] = [];

  constructor(entry: McpServerEntry, deps: ServerDeps) {
    this.entry = entry;
    this.#deps = deps;
  }

  /** As the server listed them last; the same object until they change. They stay when the server dies. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Takes secrets of the configuration out of a text. */
  readonly redact = (text: string): string => this.#redact(text);

  /** Sentences that came up since the last call. */
  takeNotices(): readonly string[] {
    return this.#notices.splice(0);
  }

  /** Begins a query: starts what does not run, unless it never did. It may die once more from now on. */
  async begin(): Promise<void> {
    this.#restarts = 0;
    const hasRun = this.#phase.type === 'ended' || (this.#phase.type === 'failed' && this.#hasRun);
    if (this.#phase.type !== 'idle' && !hasRun) return;
    const why = await this.#start();
    if (why !== null) this.#notices.push(`${this.#name} did not start: ${why}. The query goes on without its tools.`);
  }

  /** Waits for a change of the tool list that is under way. */
  async refreshed(): Promise<void> {
    await this.#refreshing;
  }

  /** Calls a tool. What the server refuses, and its death, come back as error results; throws only after an abort. */
  async call(tool: string, input: JsonObject, order: CallOrder): Promise<ToolOutput> {
    const progress = (text: string): void => order.progress(this.#redact(text));
    for (;;) {
      const link = await this.#linkFor(order.signal);
      if (typeof link === 'string') return failed(link);
      try {
        return outputOf(await link.callTool(tool, input, { ...order, progress }), this.#redact);
      } catch (error) {
        if (order.signal.aborted) throw error;
        const sentence = await this.#explain(link, tool, error);
        if (sentence !== null) return failed(sentence);
      }
    }
  }

  /** Ends it and everything that was begun. Never rejects. */
  async close(): Promise<void> {
    this.#phase = { type: 'closed' };
    this.#closing.abort();
    await this.#starting;
    await Promise.allSettled(this.#opening);
    await this.#closeLinks();
  }

  get #name(): string {
    return `The MCP server ${this.entry.name}`;
  }

  /** The connection to call on, after a restart where one is due; or a sentence on why there is none. */
  async #linkFor(signal: AbortSignal): Promise<Link | string> {
    if (this.#phase.type === 'ended' && (this.#restarts === 0 || this.#starting !== null)) await this.#restart(signal);
    switch (this.#phase.type) {
      case 'ready':
        return this.#phase.link;
      case 'ended':
        return `${this.#name} has ended a second time (${this.#phase.why}), so it is not started again: go on without its tools.`;
      case 'failed':
        return `${this.#name} had ended and could not be started again: ${this.#phase.why}. Go on without its tools.`;
      case 'idle':
      case 'closed':
        return `${this.#name} is closed.`;
    }
  }

  /** Several calls share one restart; each of them stops waiting at its own abort. */
  async #restart(signal: AbortSignal): Promise<void> {
    const isFirst = this.#starting === null;
    if (isFirst) this.#restarts += 1;
    const why = await orAborted(this.#start(), signal);
    if (isFirst && why === null) this.#notices.push(`${this.#name} had ended and was started again.`);
  }

  #start(): Promise<string | null> {
    this.#starting ??= this.#tryStart().finally(() => (this.#starting = null));
    return this.#starting;
  }

  async #tryStart(): Promise<string | null> {
    const { clock, startTimeoutMs } = this.#deps;
    const settled = await settle((signal) => this.#track(this.#open(signal)), {
      clock,
      signal: this.#closing.signal,
      timeoutMs: startTimeoutMs,
    });
    if (this.#closing.signal.aborted || settled.type === 'value') return null;
    const why =
      settled.type === 'thrown' ? settled.message : `it did not answer within ${startTimeoutMs / 1_000} seconds`;
    this.#phase = { type: 'failed', why };
    await this.#closeLinks();
    return why;
  }

  /** Remembers a connection that is being made: after an abort it still has a process to end. */
  async #track(opening: Promise<void>): Promise<void> {
    this.#opening.add(opening);
    try {
      await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }

  /** Connects and lists the tools. A connection that comes after the time is up is closed by itself. */
  async #open(signal: AbortSignal): Promise<void> {
    const { config, secrets } = expandServer(this.entry.config, {
      CLAUDE_PROJECT_DIR: this.#deps.cwd,
      ...this.#deps.env,
    });
    this.#redact = redactor(secrets);
    const sdk = (this.#sdk ??= await import('./connect.ts'));
    let link: Link | null = null;
    try {
      link = await sdk.connect({
        config,
        env: serverEnvironment(this.#deps.env, config.type === 'http' ? {} : (config.env ?? {}), this.#deps.cwd),
        cwd: this.#deps.cwd,
        clock: this.#deps.clock,
        transport: this.#deps.transport?.(this.entry) ?? null,
        signal,
        onEnd: () => this.#onEnd(link),
        onToolsChanged: () => this.#refresh(link),
      });
      this.#links.add(link);
      const tools = await link.listTools(signal);
      signal.throwIfAborted();
      this.#tools = tools;
      this.#hasRun = true;
      this.#phase = { type: 'ready', link };
    } catch (error) {
      await link?.close().catch(() => {});
      if (link !== null) this.#links.delete(link);
      throw new Error(this.#reason(error), { cause: error });
    }
  }

  #onEnd(link: Link | null): void {
    if (link === null || this.#phase.type !== 'ready' || this.#phase.link !== link) return;
    this.#phase = { type: 'ended', why: this.#clause(link.lastWords() ?? 'the connection was closed') };
  }

  /** The list is asked for at once, so that it is there when the turn ends; one change after the other. */
  #refresh(link: Link | null): void {
    if (link === null || this.#phase.type === 'closed') return;
    this.#refreshing = this.#listAgain(link, this.#refreshing);
  }

  async #listAgain(link: Link, before: Promise<void> | null): Promise<void> {
    await before;
    const { clock, startTimeoutMs } = this.#deps;
    const settled = await settle((signal) => link.listTools(signal), {
      clock,
      signal: this.#closing.signal,
      timeoutMs: startTimeoutMs,
    });
    if (settled.type === 'value') this.#tools = settled.value;
    else if (settled.type !== 'aborted' && this.#phase.type === 'ready') {
      this.#notices.push(`${this.#name} has changed its tools and did not list them: the list before is kept.`);
    }
  }

  /** A sentence on a call that failed; null when the server never saw it, so that it may be made again after a restart. */
  async #explain(link: Link, tool: string, error: unknown): Promise<string | null> {
    const fault = this.#sdk?.faultOf(error);
    if (fault === 'refused') return this.#reason(error);
    const why = this.#clause(link.lastWords() ?? this.#reason(error));
    if (this.#phase.type === 'ready' && this.#phase.link === link) this.#phase = { type: 'ended', why };
    // Of this connection alone: another call may have started the server again by now.
    this.#links.delete(link);
    await link.close().catch(() => {});
    if (fault === 'undelivered') return null;
    const next = this.#restarts === 0 ? 'The next call starts it once more.' : 'It is not started again.';
    return `${this.#name} ended while ${tool} ran (${why}); what the call has done is not known. ${next}`;
  }

  async #closeLinks(): Promise<void> {
    const links = [...this.#links];
    this.#links.clear();
    await Promise.allSettled(links.map((link) => link.close()));
  }

  #reason(error: unknown): string {
    const reason = this.#sdk?.reasonOf(error) ?? (error instanceof Error ? error.message : String(error));
    return this.#clause(reason);
  }

  #clause(text: string): string {
    return oneLine(this.#redact(text), longestReason);
  }
}

function failed(text: string): ToolOutput {
  return { content: text, isError: true };
}

/** The promise, or a rejection as soon as the signal aborts. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
