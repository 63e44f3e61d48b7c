/** One query under way: the chart, its effects and its journal behind a queue that the consumer pulls from. */
import { type Actor, createActor } from 'xstate';
import { agentLoop, snapshotOf } from '../machines/agent-loop.ts';
import { sleep } from './clock.ts';
import type { LoopEvent } from './core/event.ts';
import type { Emitted, Observation, Output } from './core/output.ts';
import type { LoopState, QueuedMessage, Terminal, Unfinished } from './core/state.ts';
import { loopActors } from './effects/actors.ts';
import { enqueueObservation } from './effects/coalesce.ts';
import type { RunOptions } from './run-options.ts';

type Result = IteratorResult<Emitted, Terminal>;

/** What `next()` gives once the terminal was handed out, as every generator does. */
const closed: Result = { done: true, value: undefined as never };

interface Waiter {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Events that only record something: they are taken even while the consumer holds, right before an abort. */
const recording: ReadonlySet<LoopEvent['type']> = new Set([
  'model.blockEnded',
  'tool.ended',
  'tool.decided',
  'message.queued',
]);

const isBlock = ({ type }: LoopEvent): boolean => type === 'model.blockEnded';

export class Run {
  readonly #options: RunOptions;
  readonly #actor: Actor<typeof agentLoop>;
  readonly #outputs: Emitted[] = [];
  readonly #inbox: LoopEvent[] = [];
  readonly #waiters: Waiter[] = [];
  readonly #readers: (() => void)[] = [];
  readonly #effects = new Set<Promise<void>>();
  readonly #consumed: string[];
  readonly #lateMessages: QueuedMessage[] = [];
  #eventCount = 0;
  /** The newest block that was shown, until the event of its end is taken. */
  #shown: { messageId: string; index: number; parts: string[]; kind: Unfinished['type']; ended: boolean } | null = null;
  #aborting = false;
  /** `over`: the terminal is reached; `closed`: nothing more will be handed out. */
  #phase: 'open' | 'over' | 'closed' = 'open';
  /** The terminal may be handed out: nothing that the query started is waited for any more. */
  #settled = false;
  #error: { readonly error: unknown } | null = null;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#consumed = [...options.consumed];
    const { config, state, runners, clock } = options;
    const actors = loopActors(runners, {
      post: (event) => this.post(event),
      observe: (observation) => this.#observe(observation),
      ready: () => this.#ready(),
      clock,
      track: (_effect, ended) => this.#track(ended),
      mayStart: () => !this.#aborting && this.#phase === 'open',
    });
    const machine = agentLoop.provide({ actors });
    this.#actor = createActor(machine, {
      input: { config, start: state, autoStart: false },
      ...(options.resumes ? { snapshot: snapshotOf(state, config) } : {}),
      ...(options.inspect === undefined ? {} : { inspect: options.inspect }),
      ...(options.parent === undefined ? {} : { parent: options.parent, id: config.querySource }),
    });
    this.#actor.on('*', (output) => this.#emit(output));
    this.#actor.subscribe({ complete: () => this.#finish(), error: (error) => this.#fail(error) });
  }

  /** The state after the newest event. */
  get state(): LoopState {
    return this.#actor.getSnapshot().context.state;
  }

  /** Starts the chart, which waits for its first event. */
  open(): void {
    this.#options.journal.begin(this.#options.config, this.#options.state);
    this.#actor.start();
  }

  /** Takes the first event, unless the query was aborted before it. */
  start(event: LoopEvent): void {
    if (this.#phase !== 'open') return;
    this.#inbox.unshift(event);
    this.#pump();
  }

  /** Shows the consumer a sentence that no event carries. */
  notice(text: string): void {
    this.#observe({ type: 'notice', text });
  }

  next(): Promise<Result> {
    if (this.#phase === 'closed') return Promise.resolve(closed);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#pump();
    });
  }

  /** Takes an event from outside or from an effect; it waits while the consumer holds. */
  post(event: LoopEvent): void {
    if (this.#phase !== 'open') {
      this.#takeLate(event);
      return;
    }
    if (event.type === 'model.blockEnded' && this.#shown !== null) this.#shown.ended = true;
    this.#inbox.push(event);
    this.#pump();
  }

  /** User messages that were accepted and are not in the history, those included that came after the end. */
  get queued(): readonly QueuedMessage[] {
    return [...this.state.query.queued, ...this.#lateMessages];
  }

  /** What comes when the query is over changes nothing, but no message of the user is lost. */
  #takeLate(event: LoopEvent): void {
    if (event.type === 'message.queued') this.#lateMessages.push(event.message);
    else if (event.type === 'abort' && event.message !== null) this.#lateMessages.push(event.message);
    else this.#options.journal.late?.(event);
  }

  /** Ends the query at once, whether or not the consumer holds. What was reported before is recorded first. */
  abort(kind: 'interrupt' | 'submit', message: QueuedMessage | null): void {
    this.#aborting = this.#phase === 'open';
    const decisive = this.#inbox.findIndex(({ type }) => !recording.has(type) && type !== 'toolUse.summarized');
    const reported = this.#inbox.splice(0, decisive < 0 ? this.#inbox.length : decisive);
    for (const event of reported) if (recording.has(event.type)) this.#deliver(event);
    this.#deliver({ type: 'abort', kind, message, unfinished: this.#unfinished() });
  }

  /** Stops everything at once and hands out nothing more. */
  close(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    // A child has no stop of its own: its chart is brought to its end, which stops what it runs.
    if (this.#options.parent === undefined) this.#actor.stop();
    else this.#actor.send({ type: 'abort', kind: 'interrupt', message: null, unfinished: null });
    this.#outputs.length = 0;
    this.#release();
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(closed);
  }

  /** Hands out what is there; takes further events only while the consumer waits for something. */
  #pump(): void {
    this.#handOut();
    while (this.#phase === 'open' && this.#isWanted() && this.#inbox.length > 0) {
      this.#deliver(this.#inbox.shift()!);
      this.#handOut();
    }
    if (this.#isWanted()) this.#release();
  }

  #isWanted(): boolean {
    return this.#waiters.length > 0 && this.#outputs.length === 0;
  }

  #deliver(event: LoopEvent): void {
    this.#announce(event);
    if (this.#phase !== 'open') {
      this.#takeLate(event);
      return;
    }
    this.#eventCount += 1;
    if (event.type === 'model.blockEnded' && this.#shown?.ended === true && !this.#inbox.some(isBlock))
      this.#shown = null;
    this.#options.journal.append(event);
    this.#actor.send(event);
  }

  /** Tells of an event that will be taken, again when it is no longer the next one: the host may say something before it. */
  #announce(event: LoopEvent): void {
    for (let told = -1; told !== this.#eventCount && this.#phase === 'open'; ) {
      told = this.#eventCount;
      this.#options.beforeEvent?.(told, event, this.state);
    }
  }

  #emit(output: Output): void {
    if (output.type === 'command' && output.status === 'started') this.#consumed.push(output.messageId);
    this.#outputs.push(output);
    this.#handOut();
  }

  #observe(observation: Observation): void {
    if (this.#phase !== 'open') return;
    this.#noteShown(observation);
    enqueueObservation(this.#outputs, observation);
    this.#handOut();
  }

  #handOut(): void {
    while (this.#outputs.length > 0 && this.#waiters.length > 0) {
      this.#waiters.shift()!.resolve({ done: false, value: this.#outputs.shift()! });
    }
    if (this.#settled && this.#outputs.length === 0 && this.#waiters.length > 0) this.#handOutEnd();
  }

  #handOutEnd(): void {
    this.#phase = 'closed';
    const [first, ...others] = this.#waiters.splice(0);
    const { terminal } = this.state;
    if (this.#error !== null) first?.reject(this.#error.error);
    else if (terminal !== null) first?.resolve({ done: true, value: terminal });
    for (const other of others) other.resolve(closed);
  }

  /** Resolves as soon as the consumer waits for something that is not there yet. */
  #ready(): Promise<void> {
    if (this.#isWanted() || this.#phase !== 'open') return Promise.resolve();
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  #release(): void {
    for (const reader of this.#readers.splice(0)) reader();
  }

  #track(ended: Promise<void>): void {
    const settled = ended.finally(() => this.#effects.delete(settled));
    this.#effects.add(settled);
  }

  #noteShown(observation: Observation): void {
    if (observation.type !== 'delta') return;
    const { messageId, index, delta } = observation;
    const kind = delta.type === 'tool_input' ? 'tool_use' : delta.type;
    if (this.#shown?.messageId !== messageId || this.#shown.index !== index) {
      this.#shown = { messageId, index, parts: [], kind, ended: false };
    }
    if (delta.type === 'text') this.#shown.parts.push(delta.text);
  }

  /** What the attempt under way has shown of a block that is not taken; of a dropped attempt nothing comes back. */
  #unfinished(): Unfinished | null {
    const { phase, scratch } = this.state;
    if (phase !== 'streaming' || this.#shown === null || this.#shown.messageId !== scratch.attempt?.messageId)
      return null;
    const { kind, parts } = this.#shown;
    return kind === 'text' ? { type: 'text', text: parts.join('').toWellFormed() } : { type: kind };
  }

  /** The chart is done. Effects that were cancelled get a grace period, so that nothing is left running. */
  #finish(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'over';
    for (const event of this.#inbox.splice(0)) this.#takeLate(event);
    this.#release();
    void this.#settleEffects().then(() => this.#hangUp());
  }

  async #settleEffects(): Promise<void> {
    if (this.#effects.size === 0) return;
    const waiting = new AbortController();
    const grace = sleep(this.#options.clock, this.#options.graceMs, waiting.signal).catch(() => {});
    await Promise.race([Promise.allSettled(this.#effects), grace]);
    waiting.abort();
  }

  /** The loop returned, so the commands that it took are completed; then the terminal is handed out. */
  #hangUp(): void {
    if (this.#phase !== 'over') return;
    for (const messageId of this.#consumed) this.#outputs.push({ type: 'command', messageId, status: 'completed' });
    this.#settled = true;
    this.#handOut();
  }

  /** A bug of the rows or of an actor: what was shown stays shown, then the consumer gets the error. */
  #fail(error: unknown): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'over';
    this.#error = { error };
    this.#settled = true;
    this.#release();
    this.#handOut();
  }
}
