/** Sends a request through the SDK and hands out the raw events of the stream. Retries nothing. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Middleware } from '@anthropic-ai/sdk';
import type { Clock } from '../clock.ts';
import type { WireRequest } from '../core/wire/request-type.ts';
import { checkJsonAnswer, isJsonAnswer } from './json-answer.ts';
import { Liveness } from './liveness.ts';
import { serialiseRequest } from './serialise.ts';

/** Who asks: the loop, its compactor, or the small model's background work. */
export type CallPurpose = 'model' | 'summary' | 'small';

export interface CallIo {
  readonly purpose: CallPurpose;
  /** Aborts the request. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Resolves when the consumer wants more; nothing is read before. */
  readonly ready: () => Promise<void>;
}

/** One event of the stream, in the form of the Messages API. */
export interface StreamEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

/**
 * Sends one request. Contract: yields the events of the stream as they come; throws what went wrong, an error of the
 * SDK where there is one; retries nothing; leaves nothing open after an abort or a `return`.
 */
export type CallModel = (request: WireRequest, io: CallIo) => AsyncIterable<StreamEvent>;

export interface TransportOptions {
  /**
   * Largest silence in milliseconds, before the headers and between two chunks of the body; a ping counts as sound.
   * Default 90,000: the API pings every few seconds. Node's own `fetch` gives up after 300,000 ms of silence: a larger
   * number needs a `fetch` of one's own.
   */
  readonly idleTimeoutMs?: number;
  /** Longest time of a whole request in milliseconds, holds of the consumer left out. Default 600,000, the SDK's own number. */
  readonly deadlineMs?: number;
}

const defaultIdleTimeoutMs = 90_000;
const defaultDeadlineMs = 600_000;

/**
 * Wait for the end of the body after `message_stop`, in milliseconds. A connection can only be used again when its
 * answer was read to the end; a new one costs several round trips, so a short wait pays.
 */
const lingerMs = 100;

/** Tells a scripted server, and whoever reads a log, what a request is for. */
export const purposeHeader = 'x-escapement-purpose';

/** Makes a caller of the Messages API. `client` is called once, at the first request: it may read credentials. */
export function createTransport(client: () => Anthropic, options: TransportOptions = {}): CallModel {
  return async function* callModel(request, io) {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (io.signal.aborted) abort();
    io.signal.addEventListener('abort', abort, { once: true });
    const liveness = new Liveness({
      clock: io.clock,
      ready: io.ready,
      signal: controller.signal,
      idleTimeoutMs: options.idleTimeoutMs ?? defaultIdleTimeoutMs,
      deadlineMs: options.deadlineMs ?? defaultDeadlineMs,
    });
    try {
      const stream = await send(client(), request, io.purpose, liveness, controller.signal);
      yield* eventsOf(stream, io.clock);
    } finally {
      io.signal.removeEventListener('abort', abort);
      controller.abort();
    }
  };
}

async function send(
  client: Anthropic,
  request: WireRequest,
  purpose: CallPurpose,
  liveness: Liveness,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  // The SDK would stringify the whole history; it is given a stub, and the middleware puts the real body in its place.
  // The stub names no model either: for a deprecated one the SDK writes to the console at every request.
  return client.beta.messages.create(
    { model: '', max_tokens: request.max_tokens, messages: [], stream: true },
    {
      signal,
      middleware: [realBody(request), watched(liveness, signal)],
      headers: purpose === 'model' ? {} : { [purposeHeader]: purpose },
    },
  );
}

/** The events as they come; what is no object is no event. `message_stop` comes once the body has ended, or nearly so. */
async function* eventsOf(stream: AsyncIterable<unknown>, clock: Clock): AsyncGenerator<StreamEvent> {
  const iterator = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const result: IteratorResult<unknown, unknown> = await iterator.next();
      if (result.done === true) return;
      const event = result.value;
      if (!isEvent(event)) continue;
      if (event.type === 'message_stop') await letEnd(iterator, clock);
      yield event;
    }
  } finally {
    // Not awaited: a read that is under way ends with the abort that follows, and only then can this.
    iterator.return?.().catch(() => {});
  }
}

function isEvent(value: unknown): value is StreamEvent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Reads what may still come of a message that is over, for a moment. Nothing that goes wrong here matters. */
async function letEnd(iterator: AsyncIterator<unknown>, clock: Clock): Promise<void> {
  let cancel = (): void => {};
  const timeUp = new Promise<void>((resolve) => {
    cancel = clock.schedule(resolve, lingerMs);
  });
  await Promise.race([exhaust(iterator).catch(() => {}), timeUp]);
  cancel();
}

async function exhaust(iterator: AsyncIterator<unknown>): Promise<void> {
  while ((await iterator.next()).done !== true);
}

function realBody(request: WireRequest): Middleware {
  const betas = betasOf(request);
  return (sent, next) => {
    // Appended: the caller's own headers may name betas too.
    for (const beta of betas) sent.headers.append('anthropic-beta', beta);
    return next({ ...sent, body: serialiseRequest(request) });
  };
}

function betasOf({ output_config, context_management, compaction, messages }: WireRequest): readonly string[] {
  const startsCompacted = messages[0]?.content[0]?.type === 'compaction';
  return [
    ...(output_config?.['task_budget'] === undefined ? [] : ['task-budgets-2026-03-13']),
    ...(context_management === undefined ? [] : ['context-management-2025-06-27']),
    ...(compaction === undefined && !startsCompacted ? [] : ['compact-2026-09-04']),
  ];
}

function watched(liveness: Liveness, signal: AbortSignal): Middleware {
  return async (sent, next) => {
    // Our own signal in place of the SDK's, which lets go of ours as soon as a middleware throws: a request that was
    // given up before its headers would stay open, with a timer of the SDK beside it.
    const response = await liveness.watch(next({ ...sent, signal }), 'headers');
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const guarded = new Response(liveness.guard(response.body), { status, statusText, headers });
    return isJsonAnswer(response) ? checkJsonAnswer(guarded) : guarded;
  };
}
