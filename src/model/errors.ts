/** What went wrong with a request, as one class: read once, where status, headers and texts are at hand. */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { type Failure, type FailureClass, failureOf } from '../core/failure.ts';
import { textIn } from '../core/json.ts';
import { bodyOf, codeOf, detailsOf, rawTextOf, sentenceOf, thrownText } from './error-text.ts';
import { DeadlineError, NoHeadersError, StallError } from './liveness.ts';
import { type Overflow, readOverflow } from './overflow.ts';
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

/** Media that a smaller or an absent copy cures: too large, too many, or unreadable. */
const mediaText =
  /image dimensions exceed|image exceeds .* maximum|many-image requests|(pdf|document|image)[^.]* (too large|exceeds)|too many images|maximum of \d+ pdf pages|could not process (image|pdf)|image does not match the provided media type/i;
const thinkingText =
  /(thinking|redacted_thinking)`? blocks?|thinking\.signature|signature[`'"]? in [`'"]?thinking|bound to a different conversation/i;
const spendText = /spend(ing)? limit|credit balance|billing|reached your specified (api )?usage limit/i;

/** Codes of Node and of its `fetch` for a connection that could not be made or that broke. */
const connectionCodes: ReadonlySet<string> = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/**
 * Classifies whatever a model caller threw. `x-should-retry` is not looked at: the class says what happened, and how
 * often a class is asked again is bounded by the rules, not by a header.
 */
export function classify(error: unknown, facts: RequestFacts): Failure {
  if (error instanceof StallError) return failureOf('stall', error.message);
  if (error instanceof DeadlineError || error instanceof NoHeadersError) return failureOf('timeout', error.message);
  if (error instanceof APIConnectionTimeoutError) return failureOf('timeout', thrownText(error));
  if (error instanceof APIConnectionError) return failureOf('connection', connectionSentence(error));
  if (error instanceof APIError) return classifyAnswer(error as APIError, facts);
  return classifyThrown(error);
}

/** What `fetch`, the stream or a caller of one's own throws: no answer of the API. */
function classifyThrown(error: unknown): Failure {
  if (error instanceof SyntaxError)
    return failureOf('incomplete', `The stream could not be read: ${thrownText(error)}`);
  const codes = causesOf(error).map((cause) => textIn((cause as { code?: unknown }).code));
  if (codes.includes('UND_ERR_BODY_TIMEOUT')) return failureOf('stall', 'The server sent nothing for too long.');
  if (codes.includes('UND_ERR_HEADERS_TIMEOUT')) return failureOf('timeout', 'The server did not begin to answer.');
  const isBroken = error instanceof Error && /\bterminated\b|fetch failed|network|socket/i.test(error.message);
  if (isBroken || codes.some((code) => connectionCodes.has(code) || code.startsWith('UND_ERR'))) {
    return failureOf('connection', `The connection broke: ${thrownText(error)}`);
  }
  if (error instanceof SyntaxError)
    return failureOf('incomplete', `The stream could not be read: ${thrownText(error)}`);
  return failureOf('thrown', thrownText(error));
}

function classifyAnswer(error: APIError, facts: RequestFacts): Failure {
  const text = rawTextOf(error);
  const overflow = readOverflow(text);
  const kind = classOf(error, text, overflow, facts);
  return {
    ...failureOf(kind, sentenceOf(error), error.status ?? null),
    retryAfterMs: retryAfterMs(error.headers, facts.now),
    tokens: kind === 'overflow' || kind === 'max_tokens_too_large' ? tokensOf(error, overflow) : noFigures,
    mediaPaths: kind === 'media' ? mediaPaths(error, text) : [],
  };
}

function classOf(error: APIError, text: string, overflow: Overflow | null, facts: RequestFacts): FailureClass {
  if (isSpendLimit(error, text)) return 'billing';
  switch (error.status) {
    case undefined:
      return classOfType(error, text, overflow, facts);
    case 400:
    case 422:
      return classOf400(error, text, overflow);
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
      return classOf413(overflow, facts);
    case 429:
      // Whatever it says of tokens: they are tokens a minute.
      return 'rate_limit';
    case 529:
      return 'overloaded';
    default:
      return error.status >= 500 ? (error.type === 'overloaded_error' ? 'overloaded' : 'server') : 'invalid_request';
  }
}

/** An error inside a stream, or in the body of a success, has a type and no status. */
function classOfType(error: APIError, text: string, overflow: Overflow | null, facts: RequestFacts): FailureClass {
  switch (textIn(error.type)) {
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
      return classOf400(error, text, overflow);
    case 'request_too_large':
      return classOf413(overflow, facts);
    default:
      return overflow?.kind ?? 'server';
  }
}

function classOf400(error: APIError, text: string, overflow: Overflow | null): FailureClass {
  if (overflow !== null) return overflow.kind;
  if (codeOf(error) === 'image_dimensions_too_large' || mediaText.test(text)) return 'media';
  return thinkingText.test(text) ? 'thinking' : 'invalid_request';
}

/** 413 counts bytes. What made them many decides what can be done. */
function classOf413(overflow: Overflow | null, facts: RequestFacts): FailureClass {
  if (facts.mediaBytes > facts.bodyBytes / 2) return 'media';
  return overflow !== null || facts.bodyBytes > largestBody / 2 ? 'overflow' : 'too_large';
}

/**
 * A limit that somebody set on spending: no wait cures it, whatever its status. A ramp limit is none: it limits how fast
 * use may grow, and the SDK says of it that a wait helps.
 */
function isSpendLimit(error: APIError, text: string): boolean {
  const { status } = error;
  if (status !== 400 && status !== 402 && status !== 429) return false;
  if (codeOf(error).includes('spend_limit')) return true;
  return status === 429 ? /spend(ing)? limit/i.test(text) : spendText.test(text);
}

const noFigures: Failure['tokens'] = { input: null, window: null, maxOutput: null };

/** The figures of the text; llama.cpp says them in members of their own. */
function tokensOf(error: APIError, overflow: Overflow | null): Failure['tokens'] {
  const said = overflow?.tokens ?? noFigures;
  const { n_prompt_tokens: input, n_ctx: window } = bodyOf(error);
  return { ...said, input: said.input ?? numberIn(input), window: said.window ?? numberIn(window) };
}

function numberIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** `messages.7.content.2` and `messages.7.content.2.content.0` as indexes; also from `details.paths`. */
function mediaPaths(error: APIError, text: string): readonly (readonly number[])[] {
  const { paths } = detailsOf(error);
  const texts = Array.isArray(paths) ? paths.map(textIn) : [text];
  return texts.flatMap((path) => {
    const found = /messages\.(\d+)\.content\.(\d+)(?:\.(?:tool_result\.)?content\.(\d+))?/.exec(path);
    if (found === null) return [];
    return [[found[1], found[2], found[3]].filter((index) => index !== undefined).map(Number)];
  });
}

function connectionSentence(error: Error): string {
  const cause = thrownText(causesOf(error).at(-1));
  return cause === error.message ? `No connection: ${cause}` : `No connection to the server: ${cause}`;
}

/** Deeper than any library nests causes; a chain may lead back to its start. */
const mostCauses = 8;

/** The error and the errors that caused it, outermost first. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  let next = error;
  while (next instanceof Error && causes.length < mostCauses && !causes.includes(next)) {
    causes.push(next);
    next = next.cause;
  }
  return causes;
}
