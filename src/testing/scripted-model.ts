/**
 * A model that follows a script and speaks the real wire. It refuses what the real API refuses, so that a broken
 * history fails loudly.
 */
import type { Clock } from '../clock.ts';
import type { ModelLimits, WireProfile } from '../core/config.ts';
import { estimateMessage, estimateText } from '../core/context/tokens.ts';
import { textIn } from '../core/json.ts';
import type { WireMessage, WireRequest } from '../core/wire/request-type.ts';
import { validateRequest, type Violation } from '../core/wire/validate.ts';
import { hasShape } from '../core/wire/validate-shape.ts';
import { type CallPurpose, purposeHeader } from '../model/transport.ts';
import type { ModelEntry, ScriptedUsage, StreamItem } from './scenario.ts';
import {
  chunkedAnswer,
  errorAnswer,
  invalidRequest,
  jsonAnswer,
  rawChunks,
  type ScriptedAnswer,
  statusAnswer,
  statusOfError,
} from './scripted-answers.ts';
import { refusalText, sumTooLongText, tooLongText } from './scripted-refusal.ts';
import { largestInput, Script } from './scripted-script.ts';
import { wholeMessage } from './scripted-whole.ts';
import { type AppliedEdit, appliedEdits } from './scripted-clearing.ts';
import { endOf, streamChunks } from './scripted-wire.ts';

/** What a scripted model says, and what it accepts. */
export interface ScriptedModelOptions {
  /** Answers to the requests of the loop, in order. */
  readonly model: readonly ModelEntry[];
  /** Answers to the requests of the loop for models of these names, in place of `model`. Default: none. */
  readonly byModel?: Readonly<Record<string, readonly ModelEntry[]>>;
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
  /** Tokens of a request, as the server counts them. Default: the engine's own estimate, and `systemTokens`. */
  readonly estimate?: (request: WireRequest) => number;
  /** Which list answers a request. Default: what the header `x-escapement-purpose` says, else `model`. */
  readonly purposeOf?: (request: ScriptedRequest) => CallPurpose;
  /** Names that `GET /v1/models` lists; each name can be asked for. Default `scripted-model`. */
  readonly models?: readonly string[];
  /** `counts`: no request is kept. Default `all`. */
  readonly keep?: 'all' | 'counts';
}

/** A request as it came. */
export interface RecordedRequest {
  readonly purpose: CallPurpose;
  readonly model: string;
  readonly maxTokens: number;
  readonly messages: readonly WireMessage[];
  /** Tokens of the input by the engine's own estimate, without what the server cleared. */
  readonly estimate: number;
  /** What the server cleared from the request by itself. */
  readonly edits: readonly AppliedEdit[];
  readonly body: WireRequest;
  /** Everything for which the API would refuse it. */
  readonly violations: readonly Violation[];
}

/** A request as a front end hands it over. */
export interface ScriptedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly header: (name: string) => string | null;
  readonly body: string;
}

/** Follows its script; ask it through `scriptedFetch` or `listen`. */
export class ScriptedModel {
  /** Every request as it came; none when the options keep counts alone. */
  readonly requests: RecordedRequest[] = [];
  /** What no run may do: requests that the API would refuse for their form, and requests that no script foresaw. */
  readonly violations: string[] = [];
  readonly #options: ScriptedModelOptions;
  readonly #lists: Readonly<Record<CallPurpose, Script>>;
  readonly #byModel: ReadonlyMap<string, Script>;
  #answers = 0;
  #recorded = 0;
  /** Purposes whose newest answer since the last user message ended in `pause_turn`: it may be sent back. */
  readonly #paused = new Set<CallPurpose>();
  /** Bodies that were answered with a 400: none of them may come again. */
  readonly #refused = new Set<string>();

  constructor(options: ScriptedModelOptions) {
    this.#options = options;
    const { model, byModel = {}, summary = [], small = [] } = options;
    this.#byModel = new Map(Object.entries(byModel).map(([name, entries]) => [name, new Script(entries)]));
    this.#lists = { model: new Script(model), summary: new Script(summary), small: new Script(small) };
  }

  /** Answers one request. Contract: must not throw, whatever the request holds. */
  answer(request: ScriptedRequest): ScriptedAnswer {
    this.#answers += 1;
    const answer = this.#route(request);
    return { ...answer, headers: { 'request-id': `req_${this.#answers}`, ...answer.headers } };
  }

  #route(request: ScriptedRequest): ScriptedAnswer {
    const { method, path } = request;
    if (method === 'GET' && path === '/v1/models') return this.#modelList();
    if (method === 'GET' && path.startsWith('/v1/models/')) return jsonAnswer(200, this.#modelInfo(path.slice(11)));
    if (method === 'POST' && path === '/v1/messages/count_tokens') return this.#countTokens(request);
    if (method === 'POST' && path === '/v1/messages') return this.#answerMessages(request);
    return errorAnswer(404, 'not_found_error', `The scripted server has no route ${method} ${path}.`);
  }

  #modelList(): ScriptedAnswer {
    const { models = ['scripted-model'] } = this.#options;
    const data = models.map((id) => this.#modelInfo(id));
    return jsonAnswer(200, { data, first_id: models[0] ?? null, last_id: models.at(-1) ?? null, has_more: false });
  }

  #modelInfo(name: string): Readonly<Record<string, unknown>> {
    const { contextWindow, maxOutput } = this.#options.limits;
    const id = decoded(name);
    const summarize = { supported: this.#options.limits.onDemandCompaction === true };
    const capabilities = { compaction: { ...summarize, summarize } };
    return {
      type: 'model',
      id,
      display_name: id,
      max_input_tokens: contextWindow,
      max_tokens: maxOutput,
      capabilities,
    };
  }

  #countTokens(request: ScriptedRequest): ScriptedAnswer {
    const body = parsed(request.body);
    // To count, the API needs all of a request but `max_tokens`.
    const counted = { max_tokens: 1, ...body };
    if (!hasShape(counted)) return invalidRequest('The request body has not the form of a request.');
    return jsonAnswer(200, { input_tokens: this.#estimate(counted) });
  }

  #answerMessages(request: ScriptedRequest): ScriptedAnswer {
    const body = parsed(request.body);
    if (body === null) return invalidRequest('The request body is not valid JSON.');
    const purpose = this.#options.purposeOf?.(request) ?? purposeOf(request.header(purposeHeader));
    const isRequest = hasShape(body);
    if (isRequest && endsWithUser(body)) this.#paused.delete(purpose);
    const recorded = this.#record(body as unknown as WireRequest, purpose, isRequest ? this.#estimate(body) : 0);
    const answer = this.#refusal(recorded) ?? this.#scripted(recorded);
    this.#watchRefused(request.body, answer.status);
    return answer;
  }

  /** Another query begins, which may not know what the one before was told: it was cut off, or its process died. */
  forgetRefused(): void {
    this.#refused.clear();
  }

  /** What was wrong with a request is wrong with the same request. */
  #watchRefused(body: string, status: number): void {
    if (this.#refused.has(body)) {
      this.violations.push(`request ${this.#recorded}: the same body was refused with a 400 before.`);
    }
    if (status === 400) this.#refused.add(body);
  }

  #record(body: WireRequest, purpose: CallPurpose, whole: number): RecordedRequest {
    const { limits, profile = 'anthropic' } = this.#options;
    const edits = whole === 0 ? [] : appliedEdits(body, whole);
    const estimate = edits.reduce((left, edit) => left - edit.cleared_input_tokens, whole);
    const facts = { ...limits, estimate, profile, mayEndWithAssistant: this.#paused.has(purpose) };
    const violations = validateRequest(body, facts);
    const { model, max_tokens: maxTokens, messages } = body;
    const recorded = { purpose, model, maxTokens, messages, estimate, edits, body, violations };
    this.#recorded += 1;
    if (this.#options.keep !== 'counts') this.requests.push(recorded);
    return recorded;
  }

  /** What the real API would refuse: form before size, since it reads a request before it counts it. */
  #refusal({ body, estimate, violations }: RecordedRequest): ScriptedAnswer | null {
    const { contextWindow, maxOutput } = this.#options.limits;
    // A request that is too large, in tokens or in pixels, is no fault of the loop: the loop must cope with the refusal.
    const ofForm = violations.filter(({ rule }) => rule !== 'window' && !rule.startsWith('image_'));
    for (const { path, message } of ofForm) {
      this.violations.push(`request ${this.#recorded}, ${path}: ${message}`);
    }
    if (ofForm[0] !== undefined) return invalidRequest(refusalText(ofForm[0], body, maxOutput));
    if (estimate > contextWindow) return invalidRequest(tooLongText(estimate, contextWindow));
    const [first] = violations;
    if (first === undefined) return null;
    return invalidRequest(
      first.rule === 'window'
        ? sumTooLongText(estimate, body.max_tokens, contextWindow)
        : refusalText(first, body, maxOutput),
    );
  }

  #scripted(request: RecordedRequest): ScriptedAnswer {
    const { purpose, estimate } = request;
    const own = purpose === 'model' ? this.#byModel.get(request.model) : undefined;
    const entry = (own ?? this.#lists[purpose]).next(estimate);
    if (entry === null) {
      this.violations.push(`The script has no answer left for a ${purpose} request.`);
      return errorAnswer(500, 'api_error', `The script has no answer left for a ${purpose} request.`);
    }
    if (estimate > largestInput(entry)) return invalidRequest(tooLongText(estimate, largestInput(entry)));
    if ('status' in entry) return statusAnswer(entry);
    if ('raw' in entry) return this.#raw(request, entry.raw);
    return this.#spoken(request, 'stream' in entry ? entry.stream : itemsOf(entry, request.body), entry.usage ?? {});
  }

  #raw(request: RecordedRequest, events: RawEvents): ScriptedAnswer {
    if (JSON.stringify(events).includes('"stop_reason":"pause_turn"')) this.#paused.add(request.purpose);
    return this.#streamed(request, () => rawChunks(events));
  }

  #spoken(request: RecordedRequest, items: readonly StreamItem[], usage: ScriptedUsage): ScriptedAnswer {
    const end = endOf(items);
    if (end !== null && 'stop' in end && end.stop === 'pause_turn') this.#paused.add(request.purpose);
    if (end !== null && 'error' in end && !isStreamed(request.body)) {
      return errorAnswer(statusOfError(end.error), end.error, end.message ?? end.error);
    }
    const id = `msg_${this.#recorded}`;
    const { model, estimate: inputTokens, edits } = request;
    const script = { id, model, items, usage, inputTokens, edits };
    return this.#streamed(request, (signal) => streamChunks(script, this.#options.clock, signal));
  }

  /** The events as they come, or as one message for a request that asks for no stream. */
  #streamed({ body }: RecordedRequest, chunks: ScriptedAnswer['chunks']): ScriptedAnswer {
    if (isStreamed(body)) return chunkedAnswer('text/event-stream', chunks);
    return chunkedAnswer('application/json', (signal) => wholeMessage(chunks(signal)));
  }

  #estimate(body: WireRequest): number {
    const { estimate, systemTokens = 0 } = this.#options;
    return estimate === undefined ? systemTokens + estimateRequest(body) : estimate(body);
  }
}

type RawEvents = Extract<ModelEntry, { raw: unknown }>['raw'];

function estimateRequest({ system, tools, messages }: WireRequest): number {
  const blocks: unknown = system ?? [];
  const texts = Array.isArray(blocks) ? (blocks as NonNullable<typeof system>).map((block) => block['text']) : [blocks];
  const said = texts.reduce((sum: number, text) => sum + estimateText(textIn(text)), 0);
  const listed = tools === undefined || tools.length === 0 ? 0 : estimateText(JSON.stringify(tools));
  return said + listed + messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

/** A text as an answer, or as the block of a request for a compaction. */
function itemsOf({ text, stop }: TextEntry, { compaction }: WireRequest): readonly StreamItem[] {
  if (compaction === undefined) return [{ text }, { stop: stop ?? 'end_turn' }];
  return [{ compaction: text }, { stop: stop ?? 'compaction' }];
}

type TextEntry = Extract<ModelEntry, { text: unknown }>;

function isStreamed(body: WireRequest): boolean {
  return 'stream' in body && body.stream === true;
}

function endsWithUser({ messages }: WireRequest): boolean {
  return messages.findLast(({ role }) => role !== 'system')?.role === 'user';
}

function purposeOf(header: string | null): CallPurpose {
  return header === 'summary' || header === 'small' ? header : 'model';
}

/** The JSON object of a body, or null. */
function parsed(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
