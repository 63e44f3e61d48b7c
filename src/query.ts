/** `query()`: the loop as a lazy async generator with back-pressure. Joins the chart, the effects and the journal. */
import { randomUUID } from 'node:crypto';
import { idAt } from './core/ids.ts';
import { initialState } from './core/initial-state.ts';
import type { Json } from './core/json.ts';
import type { Emitted } from './core/output.ts';
import type { LoopState, QueuedMessage, Terminal } from './core/state.ts';
import type { UserBlock } from './core/message.ts';
import { defaultAbortGraceMs, prepare } from './prepare.ts';
import type { QueryOptions } from './query-options.ts';
import { Run } from './run.ts';
import { withinCap } from './sub-agents.ts';
import { replay, startedCommands, withMicrocompactor } from './session/journal.ts';

/** A query under way. Iterate it; the value that it returns is the terminal. */
export interface Query extends AsyncGenerator<Emitted, Terminal, void> {
  /** The state after the newest event; null before the first `next()` has begun. */
  readonly state: LoopState | null;
  /** How the query ended; null while it has not. For consumers whose `for await` drops the return value. */
  readonly terminal: Terminal | null;
  /** The final answer as data when it fits `outputSchema`; null before the end, and for an answer that does not fit. */
  readonly output: Json;
  /** Resolves when the hooks that nobody waits for have ended, those after the answer included. Never rejects. */
  readonly background: Promise<void>;
  /** User messages that were accepted and are not in the history: hand them to the next query as `queued`. */
  readonly queued: readonly QueuedMessage[];
  /** Says something without interrupting: it is delivered behind the next tool results, or left in `queued`. */
  send(content: string | readonly UserBlock[]): string;
  /** Says something and wants it heard now: the query ends, the message waits in `queued`. */
  submit(content: string | readonly UserBlock[]): string;
  /** Cancels everything that runs, at once, even while a `next()` waits. Nothing more is handed out. */
  return(value?: Terminal | PromiseLike<Terminal>): Promise<IteratorResult<Emitted, Terminal>>;
  /** Stops the query at once; its history stays one that the API accepts. */
  interrupt(): void;
}

/**
 * Runs the loop from a user's message to a terminal. Nothing happens before the first `next()`; while the consumer
 * holds, no new effect starts and no further chunk of the stream (at most 64 KiB) is taken from `fetch`. `.return()`
 * cancels everything at once.
 *
 * @throws TypeError at once when an option is wrong; the iteration itself throws only for a bug of the host.
 */
export function query(options: QueryOptions): Query {
  return new LoopQuery(options);
}

/** Ids of what the user says count from here, so that they never meet those that the loop draws. */
const firstMessageId = 0x8000_0000_0000;

/** Why a signal was aborted: `submit` leaves the note about the interruption out. */
function abortKind(signal: AbortSignal): 'interrupt' | 'submit' {
  return signal.reason === 'submit' ? 'submit' : 'interrupt';
}

/** The ids of what the user said in earlier queries and in earlier processes of this one. */
function givenIds({ resume, messages = [], queued = [] }: QueryOptions): ReadonlySet<string> {
  const recorded = resume === undefined ? [] : [...resume.initial.carried.messages, ...resume.initial.query.queued];
  const events = (resume?.events ?? []).flatMap((event) =>
    (event.type === 'message.queued' || event.type === 'abort') && event.message !== null ? [event.message] : [],
  );
  return new Set([...messages, ...queued, ...recorded, ...events].map(({ id }) => id));
}

class LoopQuery implements Query {
  readonly #options: QueryOptions;
  readonly #prepared: ReturnType<typeof prepare>;
  #run: Promise<Run> | null = null;
  #started: Run | null = null;
  /** Messages and aborts that came before the run began. */
  readonly #early: ((run: Run) => void)[] = [];
  /** Messages that came before the run began; none of them is lost if it never does. */
  readonly #said: QueuedMessage[] = [];
  /** Aborts what happens before the first call: servers that start, hooks that are asked. */
  readonly #starting = new AbortController();
  /** Messages whose images are being scaled, in their order. */
  readonly #fitting: QueuedMessage[] = [];
  #lastFit: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #drawnSeed: string | null = null;
  #messages = 0;
  /** Ids of the messages that were given: with a seed that is always the same, none of them is drawn once more. */
  readonly #taken: ReadonlySet<string>;

  constructor(options: QueryOptions) {
    this.#prepared = prepare(options, (child) => query(withinCap(child, this.state)));
    this.#options = this.#prepared.options;
    this.#taken = givenIds(options);
  }

  get state(): LoopState | null {
    return this.#started?.state ?? null;
  }

  get terminal(): Terminal | null {
    return this.state?.terminal ?? null;
  }

  get output(): Json {
    return this.terminal?.output ?? null;
  }

  get background(): Promise<void> {
    return this.#prepared.background.settled();
  }

  get queued(): readonly QueuedMessage[] {
    return [...(this.#started?.queued ?? this.#said), ...this.#fitting];
  }

  async next(): Promise<IteratorResult<Emitted, Terminal>> {
    if (this.#isClosed) return { done: true, value: undefined as never };
    let isOver = true;
    try {
      this.#run ??= this.#begin();
      const run = await this.#run;
      const result = await run.next();
      isOver = result.done === true;
      if (result.done === true) this.#end(run);
      else this.#prepared.hooks.shown(result.value, run.state);
      return result;
    } finally {
      if (isOver) await this.#prepared.close();
    }
  }

  return(value?: Terminal | PromiseLike<Terminal>): Promise<IteratorResult<Emitted, Terminal>> {
    this.#close();
    const closed = this.#prepared.close();
    return Promise.resolve(value).then(async (terminal) => {
      await closed;
      return { done: true, value: terminal as Terminal };
    });
  }

  async throw(error: unknown): Promise<IteratorResult<Emitted, Terminal>> {
    this.#close();
    await this.#prepared.close();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  send(content: string | readonly UserBlock[]): string {
    const message = this.#message(content);
    const hasImage = message.content.some(({ type }) => type !== 'text');
    // What is said later stands behind it, so that the order stays.
    if (hasImage || this.#fitting.length > 0) void this.#fit(message);
    else this.#queue(message);
    return message.id;
  }

  submit(content: string | readonly UserBlock[]): string {
    const message = this.#message(content);
    this.#starting.abort();
    // It ends the query at once: its images are fitted by the next one, which takes it from `queued`.
    if (this.#started === null) this.#said.push(message);
    this.#tell((run) => run.abort('submit', message));
    return message.id;
  }

  interrupt(): void {
    this.#starting.abort();
    this.#tell((run) => run.abort('interrupt', null));
  }

  #message(content: string | readonly UserBlock[]): QueuedMessage {
    const blocks: readonly UserBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    let id: string;
    do {
      this.#messages += 1;
      id = idAt(this.#seed(), firstMessageId + this.#messages);
    } while (this.#taken.has(id));
    return { id, content: blocks };
  }

  #queue(message: QueuedMessage): void {
    if (this.#started === null) this.#said.push(message);
    this.#tell((run) => run.post({ type: 'message.queued', message }));
  }

  /** Scaling an image takes a while: until then the message counts as queued, and may still be when the query ends. */
  async #fit(message: QueuedMessage): Promise<void> {
    this.#fitting.push(message);
    const fitted = this.#prepared.fit(message);
    const inTurn = this.#lastFit.then(() => fitted);
    this.#lastFit = inTurn;
    const ready = await inTurn;
    this.#fitting.shift();
    this.#queue(ready);
  }

  #tell(what: (run: Run) => void): void {
    if (this.#started === null) this.#early.push(what);
    else what(this.#started);
  }

  /** Drawn once, when the first id is needed. */
  #seed(): string {
    this.#drawnSeed ??= (this.#options.deps?.uuid ?? randomUUID)();
    return this.#drawnSeed;
  }

  async #begin(): Promise<Run> {
    const { resume: given, signal, deps } = this.#options;
    const resume = given === undefined ? undefined : withMicrocompactor(given, deps?.microcompact);
    const seed = this.#seed();
    const stops = signal === undefined ? [this.#starting.signal] : [this.#starting.signal, signal];
    const resolved = await this.#prepared.resolve(AbortSignal.any(stops));
    const { config, runners, journal, clock, start, notices } = resolved;
    const state = resume === undefined ? initialState({ seed, ...start }, config) : replay(resume);
    const run = new Run({
      config: resume?.config ?? config,
      state,
      resumes: resume !== undefined,
      consumed: resume === undefined ? [] : startedCommands(resume),
      runners,
      journal,
      clock,
      graceMs: this.#options.abortGraceMs ?? defaultAbortGraceMs,
      ...(this.#options.inspect === undefined ? {} : { inspect: this.#options.inspect }),
      ...(this.#options.parent === undefined ? {} : { parent: this.#options.parent }),
      ...(this.#options.beforeEvent === undefined ? {} : { beforeEvent: this.#options.beforeEvent }),
    });
    if (this.#isClosed) {
      run.close();
      return run;
    }
    this.#started = run;
    for (const notice of [...this.#prepared.notices, ...notices]) run.notice(notice);
    this.#prepared.background.reportTo((text) => run.notice(text));
    this.#subscribe(run);
    await this.#openQuery(run);
    return run;
  }

  /** The hooks before the first call are asked while the query can be aborted already. */
  async #openQuery(run: Run): Promise<void> {
    const said = await this.#prepared.hooks.beforePrompt(this.#options, run.state, this.#starting.signal);
    for (const notice of said?.notices ?? []) run.notice(notice);
    if (this.#options.resume !== undefined) run.start({ type: 'query.resumed' });
    else if (said === null) run.start({ type: 'query.started', blocked: null });
    else run.start({ type: 'query.started', blocked: said.blocked, contexts: said.contexts });
  }

  #end(run: Run): void {
    this.#unsubscribe();
    const { background } = this.#prepared;
    // Nobody reads what the query shows any more.
    background.reportTo(this.#options.log ?? (() => {}));
    const { terminal } = run.state;
    if (terminal === null || terminal.reason.startsWith('aborted_')) background.stop();
    else this.#prepared.hooks.ended(run.state, this.#options.querySource);
  }

  /** Aborts and messages that came before the start are told first: an aborted query makes no call. */
  #subscribe(run: Run): void {
    const { signal } = this.#options;
    run.open();
    for (const told of this.#early.splice(0)) told(run);
    if (signal === undefined) return;
    if (signal.aborted) run.abort(abortKind(signal), null);
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => {
    const { signal } = this.#options;
    this.#starting.abort();
    if (signal !== undefined) this.#started?.abort(abortKind(signal), null);
  };

  #unsubscribe(): void {
    this.#isClosed = true;
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }

  #close(): void {
    this.#starting.abort();
    // What was started after the answer outlives a generator that is closed when it is done already.
    if (!this.#isClosed) this.#prepared.background.stop();
    this.#unsubscribe();
    this.#started?.close();
  }
}
