/**
 * MCP over the standard streams of a process. The SDK has such a transport; this one puts the server into a process group
 * of its own, so that Ctrl+C interrupts the query and not its servers, and so that what a server has started (npx starts
 * the server proper) ends with it.
 */
import type { ChildProcess } from 'node:child_process';
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { execa } from 'execa';
import { type Clock, sleep } from '../clock.ts';
import { isGroupAlive, killGroup, trackGroup, untrackGroup } from '../process/process-group.ts';

/** A server may end by itself so many milliseconds after its input was closed, and again after SIGTERM. */
const closeGraceMs = 500;
/** How often to look whether it has ended, in milliseconds. */
const lookMs = 20;
/** Output that arrives so long after the end still counts, in milliseconds. */
const drainMs = 100;
/** Of the error stream so many characters are kept. */
const longestErrorTail = 2_000;

/** How the server is started. */
export interface ProcessOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #order: ProcessOrder;
  readonly #buffer = new ReadBuffer();
  #child: ChildProcess | null = null;
  #errorTail = '';
  #ending: Promise<void> | null = null;
  #exit: { readonly code: number | null; readonly signal: string | null } | null = null;

  constructor(order: ProcessOrder) {
    this.#order = order;
  }

  /** The id of the process; null when it does not run. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** How the process ended, and for a failure what it last said on its error stream, in a clause; null while it runs. */
  get lastWords(): string | null {
    if (this.#exit === null) return null;
    const { code, signal } = this.#exit;
    if (code === null) return `it was ended by ${signal}`;
    const line = this.#errorTail.trimEnd().split('\n').at(-1)?.trim() ?? '';
    return `it ended with exit status ${code}${code === 0 || line === '' ? '' : `: ${line}`}`;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#order;
    const started = execa(command, args, {
      cwd,
      env,
      extendEnv: false,
      stdin: 'pipe',
      buffer: false,
      reject: false,
      killDescendants: true,
      forceKillAfterDelay: false,
    });
    const child = started.nodeChildProcess;
    if (child.pid === undefined) {
      const { originalMessage, shortMessage } = await started;
      throw new Error(originalMessage ?? shortMessage ?? 'it could not be run');
    }
    trackGroup(child.pid);
    this.#child = child;
    this.#listen(child);
  }

  #listen(child: ChildProcess): void {
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr?.setEncoding('utf8');
    child.stderr?.on('data', (text: string) => {
      this.#errorTail = (this.#errorTail + text).slice(-longestErrorTail);
    });
    // A write to a server that has just ended fails; its end is told by `exit`.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
    child.once('exit', (code, signal) => {
      this.#exit = { code, signal };
      const cancel = this.#order.clock.schedule(() => void this.close(), drainMs);
      child.once('close', () => {
        cancel();
        void this.close();
      });
    });
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(error as Error);
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // A line that is no message: a server that prints to its output. The next line may be one.
        this.onerror?.(error as Error);
      }
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin == null || !stdin.writable) return Promise.reject(new Error('The server does not run.'));
    return new Promise((resolve) => {
      if (stdin.write(serializeMessage(message))) resolve();
      else {
        stdin.once('drain', resolve);
        stdin.once('close', resolve);
      }
    });
  }

  /** Resolves when nothing of the server is left. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    const { clock } = this.#order;
    if (child?.pid !== undefined) {
      child.stdin?.end();
      for (let waited = 0; waited < closeGraceMs && isGroupAlive(child.pid); waited += lookMs) {
        await sleep(clock, lookMs, new AbortController().signal);
      }
      if (isGroupAlive(child.pid)) await killGroup(child.pid, clock, closeGraceMs);
      untrackGroup(child.pid);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      child.unref();
    }
    this.#child = null;
    this.#buffer.clear();
    this.onclose?.();
  }
}
