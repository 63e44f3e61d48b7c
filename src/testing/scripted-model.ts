/**
 * A model that follows a script and speaks the real wire. It refuses what the real API refuses, so that a broken
 * history fails loudly.
 */
import type { Clock } from '../clock.ts';
import { estimateMessage, estimateText } from '../core/context/tokens.ts';
import { textIn } from '../core/json.ts';
import type { ModelLimits, WireProfile } from '../core/config.ts';
import type { WireMessage, WireRequest } from '../core/wire/request-type.ts';
import { validateRequest } from '../core/wire/validate.ts';
import { type CallPurpose, purposeHeader } from '../model/transport.ts';
import type { ModelEntry } from './scenario.ts';
import { frame, streamChunks } from './scripted-wire.ts';

export interface ScriptedModelOptions {
  /** Answers to the requests of the loop, in order. */
  readonly model: readonly ModelEntry[];
  /** Answers to the compactor. */
  readonly summary?: readonly ModelEntry[];
  /** Answers to the small model's background work. */
  readonly small?: readonly ModelEntry[];
  readonly limits: ModelLimits;
  readonly clock: Clock;
  /** Default `anthropic`. */
  readonly profile?: WireProfile;
  /** Tokens that every request holds beside what stands in it. Default 0. */
  readonly systemTokens?: number;
}

/** A request as it came. */
export interface RecordedRequest {
  readonly purpose: CallPurpose;
  readonly model: string;
  readonly maxTokens: number;
  readonly messages: readonly WireMessage[];
  /** Tokens of the input by the engine's own estimate. */
  readonly estimate: number;
  readonly body: WireRequest;
}

/** A request as a front end hands it over. */
export interface ScriptedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly header: (name: string) => string | null;
  readonly body: string;
}

export interface ScriptedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes in chunks. Throws `ScriptedReset` where the connection breaks. */
  readonly chunks: (signal: AbortSignal) => AsyncIterable<string>;
}

/** Follows its script; ask it through `scriptedFetch` or `listen`. */
export class ScriptedModel {
  readonly requests: RecordedRequest[] = [];
  /** What no run may do: requests that the API would refuse for their form, and requests that no script foresaw. */
  readonly violations: string[] = [];
  readonly #options: ScriptedModelOptions;
  readonly #lists: Readonly<Record<CallPurpose, Script>>;

  constructor(options: ScriptedModelOptions) {
    this.#options = options;
    const { model, summary = [], small = [] } = options;
    this.#lists = { model: new Script(model), summary: new Script(summary), small: new Script(small) };
  }

  answer(request: ScriptedRequest): ScriptedAnswer {
    const { method, path } = request;
    if (method === 'GET' && path.startsWith('/v1/models/')) return this.#modelInfo(decodeURIComponent(path.slice(11)));
    if (method === 'POST' && path === '/v1/messages/count_tokens') return this.#countTokens(request);
    if (method === 'POST' && path === '/v1/messages') return this.#answerMessages(request);
    return errorAnswer(404, 'not_found_error', `The scripted server has no route ${method} ${path}.`);
  }

  #modelInfo(id: string): ScriptedAnswer {
    const { contextWindow, maxOutput } = this.#options.limits;
    return jsonAnswer(200, {
      type: 'model',
      id,
      display_name: id,
      max_input_tokens: contextWindow,
      max_tokens: maxOutput,
    });
  }

  #countTokens(request: ScriptedRequest): ScriptedAnswer {
    const body = parseBody(request.body);
    if (body === null) return errorAnswer(400, 'invalid_request_error', 'The body is no JSON object.');
    return jsonAnswer(200, { input_tokens: this.#estimate(body) });
  }

  #answerMessages(request: ScriptedRequest): ScriptedAnswer {
    const body = parseBody(request.body);
    if (body === null) return errorAnswer(400, 'invalid_request_error', 'The body is no JSON object.');
    const purpose = purposeOf(request.header(purposeHeader));
    const estimate = this.#estimate(body);
    this.requests.push({
      purpose,
      model: body.model,
      maxTokens: body.max_tokens,
      messages: body.messages,
      estimate,
      body,
    });
    return this.#refusal(body, estimate) ?? this.#scripted(purpose, body, estimate);
  }

  /** What the real API would refuse. */
  #refusal(body: WireRequest, estimate: number): ScriptedAnswer | null {
    const { limits, profile = 'anthropic' } = this.#options;
    const { contextWindow } = limits;
    if (estimate > contextWindow) return tooLong(estimate, contextWindow);
    if (estimate + body.max_tokens > contextWindow) return sumTooLong(estimate, body.max_tokens, contextWindow);
    const violations = validateRequest(body, { ...limits, estimate: null, profile });
    const first = violations[0];
    if (first === undefined) return null;
    // Media that are too large are the user's, not a fault of the loop: the loop must cope with the refusal.
    for (const { rule, path, message } of violations) {
      if (!rule.startsWith('image_')) this.violations.push(`request ${this.requests.length}, ${path}: ${message}`);
    }
    return errorAnswer(400, 'invalid_request_error', `${first.path}: ${first.message}`);
  }

  #scripted(purpose: CallPurpose, body: WireRequest, estimate: number): ScriptedAnswer {
    const script = this.#lists[purpose];
    const entry = script.next(estimate);
    if (entry === null) {
      this.violations.push(`The script has no answer left for a ${purpose} request.`);
      return errorAnswer(500, 'api_error', `The script has no answer left for a ${purpose} request.`);
    }
    if ('tooLongOver' in entry && estimate > entry.tooLongOver) return tooLong(estimate, entry.tooLongOver);
    if ('status' in entry) return statusAnswer(entry);
    if ('raw' in entry) return streamAnswer(() => rawChunks(entry.raw));
    const items =
      'stream' in entry
        ? entry.stream
        : [{ text: entry.text }, { stop: 'stop' in entry ? (entry.stop ?? 'end_turn') : 'end_turn' }];
    const usage = entry.usage ?? {};
    const stream = { id: `msg_${this.requests.length}`, model: body.model, items, usage, inputTokens: estimate };
    return streamAnswer((signal) => streamChunks(stream, this.#options.clock, signal));
  }

  #estimate(body: WireRequest): number {
    const system = (body.system ?? []).reduce((sum, block) => sum + estimateText(textIn(block['text'])), 0);
    const tools = body.tools === undefined || body.tools.length === 0 ? 0 : estimateText(JSON.stringify(body.tools));
    const messages = body.messages.reduce((sum, message) => sum + estimateMessage(message), 0);
    return (this.#options.systemTokens ?? 0) + system + tools + messages;
  }
}

/** One list of answers. */
class Script {
  readonly #entries: readonly ModelEntry[];
  #index = 0;
  #used = 0;

  constructor(entries: readonly ModelEntry[]) {
    this.#entries = entries;
  }

  /** The next answer; null when the list is used up. An entry that refuses an input as too long stays. */
  next(estimate: number): ModelEntry | null {
    const entry = this.#entries[this.#index] ?? null;
    if (entry === null || entry.repeat === true || ('tooLongOver' in entry && estimate > entry.tooLongOver))
      return entry;
    this.#used += 1;
    if (this.#used >= (entry.times ?? 1)) {
      this.#index += 1;
      this.#used = 0;
    }
    return entry;
  }
}

function purposeOf(header: string | null): CallPurpose {
  return header === 'summary' || header === 'small' ? header : 'model';
}

function parseBody(body: string): WireRequest | null {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && 'messages' in parsed ? (parsed as WireRequest) : null;
  } catch {
    return null;
  }
}

function tooLong(tokens: number, limit: number): ScriptedAnswer {
  return errorAnswer(400, 'invalid_request_error', `prompt is too long: ${tokens} tokens > ${limit} maximum`);
}

function sumTooLong(input: number, output: number, window: number): ScriptedAnswer {
  const text = `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${window}, decrease input length or \`max_tokens\` and try again`;
  return errorAnswer(400, 'invalid_request_error', text);
}

/** Types of the API's errors by status, for a script that names none. */
const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function statusAnswer(entry: Extract<ModelEntry, { status: number }>): ScriptedAnswer {
  const type = entry.type ?? errorTypes[entry.status] ?? 'api_error';
  const details = entry.details === undefined ? {} : { details: entry.details };
  const json = { type: 'error', error: { type, message: entry.message ?? type, ...details } };
  const text = entry.body ?? JSON.stringify(json);
  return {
    status: entry.status,
    headers: { 'content-type': 'application/json', ...entry.headers },
    chunks: () => one(text),
  };
}

function errorAnswer(status: number, type: string, message: string): ScriptedAnswer {
  return jsonAnswer(status, { type: 'error', error: { type, message } });
}

function jsonAnswer(status: number, body: unknown): ScriptedAnswer {
  return { status, headers: { 'content-type': 'application/json' }, chunks: () => one(JSON.stringify(body)) };
}

function streamAnswer(chunks: ScriptedAnswer['chunks']): ScriptedAnswer {
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, chunks };
}

async function* one(text: string): AsyncGenerator<string> {
  yield text;
}

async function* rawChunks(
  events: readonly { readonly event: string; readonly data: unknown }[],
): AsyncGenerator<string> {
  for (const { event, data } of events) yield frame(event, data);
}
