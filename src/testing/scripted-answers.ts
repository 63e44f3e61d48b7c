/** What a scripted answer is, and those that the API's error bodies have the form of. */
import type { ModelEntry } from './scenario.ts';
import { frame } from './scripted-wire.ts';

/** An answer before a front end sends it. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes in chunks. Throws `ScriptedReset` where the connection breaks. */
  readonly chunks: (signal: AbortSignal) => AsyncIterable<string>;
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

/** Status of an error that a stream would name by its type alone. */
export function statusOfError(type: string): number {
  const found = Object.entries(errorTypes).find(([, name]) => name === type);
  return found === undefined ? 500 : Number(found[0]);
}

/** The error that a script orders. */
export function statusAnswer(entry: Extract<ModelEntry, { status: number }>): ScriptedAnswer {
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

/** An error in the API's own form. */
export function errorAnswer(status: number, type: string, message: string): ScriptedAnswer {
  return jsonAnswer(status, { type: 'error', error: { type, message } });
}

/** A 400 in the API's own form. */
export function invalidRequest(message: string): ScriptedAnswer {
  return errorAnswer(400, 'invalid_request_error', message);
}

/** A JSON body of any status. */
export function jsonAnswer(status: number, body: unknown): ScriptedAnswer {
  return { status, headers: { 'content-type': 'application/json' }, chunks: () => one(JSON.stringify(body)) };
}

/** A 200 whose bytes come as the chunks do. */
export function chunkedAnswer(contentType: string, chunks: ScriptedAnswer['chunks']): ScriptedAnswer {
  return { status: 200, headers: { 'content-type': contentType }, chunks };
}

/** Wire events as a script gives them. */
export async function* rawChunks(
  events: readonly { readonly event: string; readonly data: unknown }[],
): AsyncGenerator<string> {
  for (const { event, data } of events) yield frame(event, data);
}

async function* one(text: string): AsyncGenerator<string> {
  yield text;
}
