/** What went wrong with a request, as one class: read once, where status, headers and texts are at hand. */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { type Failure, type FailureClass, failureOf } from '../core/failure.ts';
import { textIn } from '../core/json.ts';
import { DeadlineError, StallError } from './liveness.ts';
import { retryAfterMs } from './retry-after.ts';

/** What is known of the request that failed. */
export interface RequestFacts {
  /** Size of the body in bytes. */
  readonly bodyBytes: number;
  /** How many of them are images and documents. */
  readonly mediaBytes: number;
  /** Milliseconds since the epoch, to read dates in headers. */
  readonly now: number;
}

/** Largest body that the API takes, in bytes (its documentation of request sizes). */
const largestBody = 32 * 1024 * 1024;

/** Texts of an input that is too long, of the API and of servers that speak its protocol. */
const overflowTexts = [
  /prompt is too long/i,
  /exceeds? the available context size/i,
  /greater than the context length/i,
  /maximum context length is \d+/i,
  /input is too long for requested model/i,
  /exceeds? the (model's )?(maximum )?context (window|length|limit)/i,
  /context length exceeded/i,
  /too many tokens in the (prompt|input)/i,
];

const sumText = /input length and `?max_tokens`? exceed context limit: (\d+) \+ (\d+) > (\d+)/i;
const outputText = /max_tokens: (\d+) > (\d+), which is the maximum/i;
const mediaText =
  /image dimensions exceed|image exceeds .* maximum|many-image requests|(pdf|document|image)[^.]* (too large|exceeds)|too many images/i;
const thinkingText =
  /(thinking|redacted_thinking)`? blocks?|signature[`'"]? in [`'"]?thinking|bound to a different conversation/i;
const spendText = /spend(ing)? limit|credit balance|billing/i;

/** Classifies whatever a model caller threw. */
export function classify(error: unknown, facts: RequestFacts): Failure {
  if (error instanceof StallError) return failureOf('stall', error.message);
  if (error instanceof DeadlineError || error instanceof APIConnectionTimeoutError) {
    return failureOf('timeout', sentence(error));
  }
  if (error instanceof APIConnectionError) return failureOf('connection', connectionSentence(error));
  if (error instanceof APIError) return classifyAnswer(error as APIError, facts);
  if (isBrokenStream(error)) return failureOf('connection', `The connection broke: ${sentence(error)}`);
  if (error instanceof SyntaxError) return failureOf('incomplete', `The stream could not be read: ${sentence(error)}`);
  return failureOf('thrown', sentence(error));
}

function classifyAnswer(error: APIError, facts: RequestFacts): Failure {
  const text = messageOf(error);
  const status = error.status ?? null;
  const kind = classOf(error, text, facts);
  return {
    ...failureOf(kind, text, status),
    retryAfterMs: retryAfterMs(error.headers, facts.now),
    tokens: figuresIn(text),
    mediaPaths: kind === 'media' ? mediaPaths(error, text) : [],
  };
}

function classOf(error: APIError, text: string, facts: RequestFacts): FailureClass {
  if (isSpendLimit(error, text)) return 'billing';
  switch (error.status) {
    case undefined:
      return classOfType(String(error.type));
    case 400:
      return classOf400(error, text);
    case 401:
      return 'authentication';
    case 402:
      return 'billing';
    case 403:
      return 'permission';
    case 404:
      return 'not_found';
    case 408:
    case 504:
      return 'timeout';
    case 409:
      return 'conflict';
    case 413:
      return classOf413(text, facts);
    case 429:
      return 'rate_limit';
    case 529:
      return 'overloaded';
    default:
      return error.status >= 500 ? (error.type === 'overloaded_error' ? 'overloaded' : 'server') : 'invalid_request';
  }
}

/** An error inside a stream has a type and no status. */
function classOfType(type: string): FailureClass {
  switch (type) {
    case 'overloaded_error':
      return 'overloaded';
    case 'rate_limit_error':
      return 'rate_limit';
    case 'timeout_error':
      return 'timeout';
    case 'authentication_error':
      return 'authentication';
    case 'permission_error':
      return 'permission';
    case 'billing_error':
      return 'billing';
    case 'not_found_error':
      return 'not_found';
    case 'invalid_request_error':
      return 'invalid_request';
    default:
      return 'server';
  }
}

function classOf400(error: APIError, text: string): FailureClass {
  if (sumText.test(text) || outputText.test(text)) return 'max_tokens_too_large';
  if (overflowTexts.some((pattern) => pattern.test(text))) return 'overflow';
  if (codeOf(error) === 'image_dimensions_too_large' || mediaText.test(text)) return 'media';
  return thinkingText.test(text) ? 'thinking' : 'invalid_request';
}

/** 413 counts bytes. What made them many decides what can be done. */
function classOf413(text: string, facts: RequestFacts): FailureClass {
  if (facts.mediaBytes > facts.bodyBytes / 2) return 'media';
  const saysSo = overflowTexts.some((pattern) => pattern.test(text));
  return saysSo || facts.bodyBytes > largestBody / 2 ? 'overflow' : 'too_large';
}

/** A limit that somebody set on spending: no wait cures it, whatever its status. */
function isSpendLimit(error: APIError, text: string): boolean {
  if (error.status !== 400 && error.status !== 402 && error.status !== 429) return false;
  return (
    /spend_limit|ramp_limit/.test(codeOf(error)) ||
    (error.status !== 429 && spendText.test(text)) ||
    /spend(ing)? limit/i.test(text)
  );
}

function bodyOf(error: APIError): Readonly<Record<string, unknown>> {
  const body: { readonly error?: unknown } | undefined = error.error;
  const inner = body?.error ?? body;
  return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {};
}

function detailsOf(error: APIError): Readonly<Record<string, unknown>> {
  const details = bodyOf(error)['details'];
  return typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {};
}

function codeOf(error: APIError): string {
  return textIn(detailsOf(error)['error_code']);
}

function messageOf(error: APIError): string {
  const { message } = bodyOf(error);
  const status = error.status === undefined ? '' : ` (HTTP ${error.status})`;
  return typeof message === 'string' && message !== ''
    ? redact(message)
    : `The server answered with an error and no text${status}.`;
}

/** Numbers that stand in the texts of errors. */
function figuresIn(text: string): Failure['tokens'] {
  const sum = sumText.exec(text);
  if (sum !== null) return { input: Number(sum[1]), window: Number(sum[3]), maxOutput: null };
  const output = outputText.exec(text);
  if (output !== null) return { input: null, window: null, maxOutput: Number(output[2]) };
  const prompt = /(\d+) tokens > (\d+) maximum/i.exec(text);
  if (prompt !== null) return { input: Number(prompt[1]), window: Number(prompt[2]), maxOutput: null };
  const length = /maximum context length is (\d+)/i.exec(text);
  return { input: null, window: length === null ? null : Number(length[1]), maxOutput: null };
}

/** `messages.7.content.2` and `messages.7.content.2.content.0` as indexes; also from `details.paths`. */
function mediaPaths(error: APIError, text: string): readonly (readonly number[])[] {
  const { paths } = detailsOf(error);
  const texts = Array.isArray(paths) ? paths.map(String) : [text];
  return texts.flatMap((path) => {
    const found = /messages\.(\d+)\.content\.(\d+)(?:\.(?:tool_result\.)?content\.(\d+))?/.exec(path);
    if (found === null) return [];
    return [[found[1], found[2], found[3]].filter((index) => index !== undefined).map(Number)];
  });
}

function isBrokenStream(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const cause = error.cause as { code?: unknown; name?: unknown } | undefined;
  return /terminated|fetch failed|network|socket/i.test(error.message) || textIn(cause?.code).startsWith('UND_ERR');
}

function connectionSentence(error: Error): string {
  const cause = deepestCause(error);
  return cause === error.message ? `No connection: ${cause}` : `No connection to the server: ${cause}`;
}

function deepestCause(error: Error): string {
  return error.cause instanceof Error ? deepestCause(error.cause) : redact(error.message || error.name);
}

function sentence(error: unknown): string {
  try {
    return redact(error instanceof Error ? error.message || error.name : String(error));
  } catch {
    return 'Something was thrown that cannot be read.';
  }
}

/** Keys and tokens never reach a journal or a log. */
function redact(text: string): string {
  return text
    .replace(/\bsk-[a-zA-Z0-9_-]{8,}/g, '[key]')
    .replace(/\b(authorization|x-api-key|bearer)\b[\s:="']+(bearer\s+)?[^\s"',]+/gi, '$1 [key]')
    .slice(0, 2_000)
    .toWellFormed();
}
