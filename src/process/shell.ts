/** Runs one command line in a shell of its own process group. */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { execa } from 'execa';
import type { Clock } from '../clock.ts';
import { OutputBuffer } from './output-buffer.ts';
import { isGroupAlive, killGroup, trackGroup, untrackGroup } from './process-group.ts';

/** Output that arrives so long after the command's end still counts, in milliseconds; a background child may hold the pipe for ever. */
const drainMs = 100;

/** One command and how it is to be run. */
export interface ShellOrder {
  readonly command: string;
  /** The shell; it gets `-c` and the command. */
  readonly shell: string;
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly killGraceMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told of every piece of output. Default: nobody. */
  readonly onOutput?: (text: string) => void;
  /** What the command reads on its standard input. Default: nothing. */
  readonly stdin?: string;
  /** Characters kept of the beginning and of the end of each output. Default: what `OutputBuffer` keeps. */
  readonly kept?: { readonly head: number; readonly tail: number };
  /** Keeps what stderr printed out of `output`. Default false. */
  readonly errorsApart?: boolean;
}

/** How a command ended. After an abort nobody looks at it. */
export interface ShellResult {
  /** What both streams printed, in the order in which it arrived; with `errorsApart` what stdout did. */
  readonly output: string;
  /** With `errorsApart` what stderr printed, else empty. */
  readonly errors: string;
  /** Null when a signal ended the shell. */
  readonly exitCode: number | null;
  readonly endedBy: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** Something that the command started still runs. */
  readonly leftRunning: boolean;
}

interface Exit {
  readonly exitCode: number | null;
  readonly endedBy: NodeJS.Signals | null;
}

/** Runs a command to its end. At a timeout or an abort the whole group is killed first. Rejects when no shell starts. */
export async function runShell(order: ShellOrder): Promise<ShellResult> {
  const { pid, output, errors, exited, drained, letGo } = startShell(order);
  const stop = await firstOf(exited, order);
  if (stop !== 'exit' && pid !== null) await killGroup(pid, order.clock, order.killGraceMs);
  const exit = await orNull(exited, order.clock);
  await orNull(drained, order.clock);
  const leftRunning = pid !== null && isGroupAlive(pid);
  if (pid !== null && !leftRunning) untrackGroup(pid);
  letGo();
  const printed = { output: output.text(), errors: errors === output ? '' : errors.text() };
  return { ...printed, ...(exit ?? unknownExit), timedOut: stop === 'timeout', leftRunning };
}

interface StartedShell {
  /** Also the id of the group; null when nothing was started. */
  readonly pid: number | null;
  readonly output: OutputBuffer;
  /** The same as `output` unless they are kept apart. */
  readonly errors: OutputBuffer;
  readonly exited: Promise<Exit>;
  /** Resolves when nobody holds the output open any more. */
  readonly drained: Promise<unknown>;
  /** Ends all interest in the processes. */
  readonly letGo: () => void;
}

function startShell(order: ShellOrder): StartedShell {
  const { shell, command, cwd, env, stdin, kept, onOutput = () => {} } = order;
  const started = execa(shell, ['-c', command], {
    cwd,
    env,
    extendEnv: false,
    ...(stdin === undefined ? { stdin: 'ignore' } : { input: stdin }),
    buffer: false,
    reject: false,
    // Puts the shell at the head of a group of its own. The killing itself is ours: it runs on the injected clock.
    killDescendants: true,
    forceKillAfterDelay: false,
  });
  const child = started.nodeChildProcess;
  const pid = child.pid ?? null;
  if (pid !== null) trackGroup(pid);
  const output = new OutputBuffer(kept?.head, kept?.tail);
  const errors = order.errorsApart === true ? new OutputBuffer(kept?.head, kept?.tail) : output;
  const streams = [child.stdout, child.stderr];
  const failure = started.then((result) => result.shortMessage ?? null);
  return {
    pid,
    output,
    errors,
    exited: exitOf(child, failure),
    drained: Promise.all([gather(child.stdout, output, onOutput), gather(child.stderr, errors, onOutput)]),
    letGo() {
      for (const stream of streams) readIntoNothing(stream);
      // A process that not even SIGKILL could end must not keep the host alive.
      child.unref();
    },
  };
}

const unknownExit: Exit = { exitCode: null, endedBy: null };

/** How a process ended. Rejects when it never began: execa's own result is there then, without an exit. */
function exitOf(child: ChildProcess, failure: Promise<string | null>): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('exit', (exitCode, endedBy) => resolve({ exitCode, endedBy }));
    const onFailure = (sentence: string | null): void => {
      if (child.pid === undefined) reject(new Error(sentence ?? 'The shell did not start.'));
    };
    void failure.then(onFailure);
  });
}

/** What ends the wait: the command itself, the time, or an abort. */
function firstOf(
  exited: Promise<Exit>,
  { clock, signal, timeoutMs }: ShellOrder,
): Promise<'exit' | 'timeout' | 'abort'> {
  return new Promise((resolve) => {
    const end = (why: 'exit' | 'timeout' | 'abort'): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      resolve(why);
    };
    const onAbort = (): void => end('abort');
    const cancel = clock.schedule(() => end('timeout'), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) end('abort');
    exited.then(
      () => end('exit'),
      () => end('exit'),
    );
  });
}

/** The value, or null when it does not come within the time for draining. */
function orNull<Value>(promise: Promise<Value>, clock: Clock): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(() => resolve(null), drainMs);
    promise.then(resolve, reject).finally(cancel);
  });
}

/** Reads a stream to its end. Characters that arrive in two halves are put together. */
function gather(stream: Readable | null, output: OutputBuffer, onOutput: (text: string) => void): Promise<void> {
  if (stream === null) return Promise.resolve();
  const decoder = new StringDecoder('utf8');
  const take = (text: string): void => {
    if (text === '') return;
    output.push(text);
    onOutput(text);
  };
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => take(decoder.write(chunk)));
    stream.once('close', () => {
      take(decoder.end());
      resolve();
    });
    stream.once('error', () => resolve());
  });
}

/** What is still open belongs to the background, where nobody shall die of a broken pipe. */
function readIntoNothing(stream: Readable | null): void {
  if (stream === null) return;
  stream.removeAllListeners('data');
  stream.resume();
  // A socket keeps the host alive unless it is told not to; the type does not say that it is one.
  (stream as { unref?: () => void }).unref?.();
}
