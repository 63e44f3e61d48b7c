/** Sends a request through the SDK and hands out the raw events of the stream. Retries nothing. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Middleware } from '@anthropic-ai/sdk';
import type { Clock } from '../clock.ts';
import type { WireRequest } from '../core/wire/request-type.ts';
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
  /** Largest silence in milliseconds. Default 90,000: the API pings every few seconds. */
  readonly idleTimeoutMs?: number;
  /** Longest time of a whole request in milliseconds. Default 600,000, the SDK's own number. */
  readonly deadlineMs?: number;
}

const defaultIdleTimeoutMs = 90_000;
const defaultDeadlineMs = 600_000;

/** Tells a scripted server, and whoever reads a log, what a request is for. */
export const purposeHeader = 'x-escapement-purpose';

/** Makes a caller of the Messages API. `client` is called once, at the first request: it may read credentials. */
export function createTransport(client: () => Anthropic, options: TransportOptions = {}): CallModel {
  return async function* callModel(request, io) {
    const liveness = new Liveness({
      clock: io.clock,
      ready: io.ready,
      idleTimeoutMs: options.idleTimeoutMs ?? defaultIdleTimeoutMs,
      deadlineMs: options.deadlineMs ?? defaultDeadlineMs,
    });
    const controller = new AbortController();
    const abort = (): void => controller.abort(io.signal.reason);
    if (io.signal.aborted) abort();
    io.signal.addEventListener('abort', abort, { once: true });
    try {
      yield* send(client(), request, io.purpose, liveness, controller.signal);
    } finally {
      io.signal.removeEventListener('abort', abort);
      controller.abort();
    }
  };
}

async function* send(
  client: Anthropic,
  request: WireRequest,
  purpose: CallPurpose,
  liveness: Liveness,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  // The SDK would stringify the whole history; it is given a stub, and the middleware puts the real body in its place.
  const { model, max_tokens } = request;
  const stream = await client.beta.messages.create(
    { model, max_tokens, messages: [], stream: true },
    {
      signal,
      middleware: [realBody(request), watched(liveness)],
      headers: purpose === 'model' ? {} : { [purposeHeader]: purpose },
    },
  );
  yield* stream as unknown as AsyncIterable<StreamEvent>;
}

function realBody(request: WireRequest): Middleware {
  const betas = betasOf(request);
  return (sent, next) => {
    if (betas.length > 0) sent.headers.set('anthropic-beta', betas.join(','));
    return next({
      ...sent,
      url: sent.url.replace(/\?beta=true$/, betas.length > 0 ? '?beta=true' : ''),
      body: serialiseRequest(request),
    });
  };
}

function betasOf(request: WireRequest): readonly string[] {
  return request.output_config?.['task_budget'] === undefined ? [] : ['task-budgets-2026-03-13'];
}

function watched(liveness: Liveness): Middleware {
  return async (sent, next) => {
    const response = await liveness.watch(next(sent));
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(liveness.guard(response.body), { status, statusText, headers });
  };
}
