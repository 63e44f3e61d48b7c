/**
 * Why a model call gave no whole answer. The model side classifies once, where status, headers and body are at hand;
 * the rules only read the class.
 */
export type FailureClass =
  /** 529, or `overloaded_error` inside a stream: three in a row move on to the next model. */
  | 'overloaded'
  /** 429 that time cures. */
  | 'rate_limit'
  /** 5xx other than 529. */
  | 'server'
  /** 408, 504, no headers in time, or the deadline of the request. */
  | 'timeout'
  /** 409. */
  | 'conflict'
  /** No connection, or one that broke before or during the stream. */
  | 'connection'
  /** No byte for longer than `idleTimeoutMs`. */
  | 'stall'
  /** The stream ended without `message_stop` or without a known stop reason. */
  | 'incomplete'
  /** The input is larger than the context window (400 texts of the API and of other servers, 413). */
  | 'overflow'
  /** The input fits, but not together with `max_tokens`. */
  | 'max_tokens_too_large'
  /** An image or document is too large, or there are too many. */
  | 'media'
  /** A thinking block was refused: wrong signature, other model, changed prefix. */
  | 'thinking'
  /** 400 or 422 of any other kind. */
  | 'invalid_request'
  | 'authentication'
  /** 402, or a spend limit whatever its status. */
  | 'billing'
  | 'permission'
  | 'not_found'
  /** 413 that is neither overflow nor media. */
  | 'too_large'
  /** Something was thrown that is no answer of the API: a bug, a bad option, a failing host function. */
  | 'thrown';

export interface Failure {
  readonly class: FailureClass;
  /** HTTP status; null for an error inside a stream or without an answer. */
  readonly status: number | null;
  /** One sentence for a person; never holds a key or a header. */
  readonly message: string;
  /** What the server asked to wait, in milliseconds from the failure on; null when it asked nothing usable. */
  readonly retryAfterMs: number | null;
  /** Figures that stood in the error text, adopted as truth; each null when the text did not say. */
  readonly tokens: { readonly input: number | null; readonly window: number | null; readonly maxOutput: number | null };
  /** Where the offending media stand: indexes of the message, of the block and, inside a tool result, of its part. */
  readonly mediaPaths: readonly (readonly number[])[];
}

/** A failure with every figure absent; the starting point of classifiers and tests. */
export function failureOf(kind: FailureClass, message: string, status: number | null = null): Failure {
  return {
    class: kind,
    status,
    message,
    retryAfterMs: null,
    tokens: { input: null, window: null, maxOutput: null },
    mediaPaths: [],
  };
}
