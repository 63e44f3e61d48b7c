/** The words of an error, fit to be shown and kept. */
import type { APIError } from '@anthropic-ai/sdk';
import { textIn } from '../core/json.ts';

/** Longest sentence of a failure, in characters; some servers answer with a page. */
const longest = 2_000;
/** Rules look for words in so many characters of an answer: a pattern over a page of megabytes takes its time. */
const longestRead = 10_000;

type Body = Readonly<Record<string, unknown>>;

/** The error object inside the answer: `error` of the body, or the body itself; empty when there is none. */
export function bodyOf(error: APIError): Body {
  const body = asObject(error.error);
  const inner = asObject(body['error']);
  return Object.keys(inner).length > 0 ? inner : body;
}

export function detailsOf(error: APIError): Body {
  return asObject(bodyOf(error)['details']);
}

/** The machine-readable code that the API gives some errors; empty when it gave none. */
export function codeOf(error: APIError): string {
  return textIn(detailsOf(error)['error_code']);
}

/** What the answer says, as it came: for rules that look for words. Never shown. */
export function rawTextOf(error: APIError): string {
  const body = bodyOf(error);
  const said = textIn(body['message']) || textIn(body['error']) || textIn(body['detail']) || textIn(error.error);
  // A body that is no JSON is handed on by the SDK in its own message, behind the status.
  const text = said || (error.error === undefined ? error.message.replace(/^\d{3} /, '') : '');
  return text.slice(0, longestRead);
}

/** What the answer says, in a form that may be shown. A page of a proxy says nothing to a person. */
export function sentenceOf(error: APIError): string {
  const text = rawTextOf(error).trim();
  const status = error.status === undefined ? '' : ` (HTTP ${error.status})`;
  const isEmpty = text === '' || /^<|status code \(no body\)|\(no status code or body\)/i.test(text);
  return isEmpty ? `The server answered with an error and no text${status}.` : redact(text);
}

/** What was thrown, in a form that may be shown; never throws itself. */
export function thrownText(error: unknown): string {
  try {
    return redact(error instanceof Error ? error.message || error.name : String(error));
  } catch {
    return 'Something was thrown that cannot be read.';
  }
}

/** Takes out keys, tokens and passwords: what is said of a failure reaches journals and logs. */
function redact(text: string): string {
  return text
    .replace(/\bsk-[a-zA-Z0-9_-]{8,}/g, '[key]')
    .replace(/\b(authorization|x-api-key|bearer)\b[\s:="']+((bearer|basic)\s+)?[^\s"',]+/gi, '$1 [key]')
    .replace(/\b(api[-_ ]?key)["']?\s*[:=]\s*["']?[^\s"',]+/gi, '$1 [key]')
    .replace(/:\/\/[^/\s@]+@/g, '://[key]@')
    .slice(0, longest)
    .toWellFormed();
}

function asObject(value: unknown): Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : {};
}
