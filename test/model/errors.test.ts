import { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { FailureClass } from '../../src/core/failure.ts';
import { classify, type RequestFacts } from '../../src/model/errors.ts';
import { DeadlineError, StallError } from '../../src/model/liveness.ts';

const facts: RequestFacts = { bodyBytes: 1_000, mediaBytes: 0, now: Date.UTC(2026, 0, 1) };
const megabyte = 1024 * 1024;

/** An error as the SDK makes it of an answer. */
function answered(
  status: number | undefined,
  type: string,
  message: string,
  more: { details?: object; headers?: Record<string, string> } = {},
): APIError {
  const body = { type: 'error', error: { type, message, ...(more.details ? { details: more.details } : {}) } };
  return APIError.generate(status, body, undefined, new Headers(more.headers));
}

function inStream(type: string, message: string): APIError {
  return new APIError(undefined, { type: 'error', error: { type, message } }, message, new Headers(), type as never);
}

describe('classify', () => {
  it.each<[string, unknown, FailureClass, Partial<RequestFacts>?]>([
    [
      '400 of the API for a long prompt',
      answered(400, 'invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
      'overflow',
    ],
    [
      '400 of llama.cpp',
      answered(400, 'invalid_request_error', 'the request exceeds the available context size, try increasing it'),
      'overflow',
    ],
    [
      '400 of LM Studio',
      answered(
        400,
        'invalid_request_error',
        'Trying to keep the first 5000 tokens when it is greater than the context length',
      ),
      'overflow',
    ],
    [
      '400 of vLLM',
      answered(
        400,
        'invalid_request_error',
        "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens",
      ),
      'overflow',
    ],
    [
      '400 for the sum',
      answered(
        400,
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
      ),
      'max_tokens_too_large',
    ],
    [
      '400 for the output limit',
      answered(
        400,
        'invalid_request_error',
        'max_tokens: 250000 > 128000, which is the maximum allowed number of output tokens for claude-opus-4-7',
      ),
      'max_tokens_too_large',
    ],
    [
      '400 for many images',
      answered(
        400,
        'invalid_request_error',
        'messages.0.content.20.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
      ),
      'media',
    ],
    [
      '400 for a heavy image',
      answered(
        400,
        'invalid_request_error',
        'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 15908784 bytes > 5242880 bytes',
      ),
      'media',
    ],
    [
      '400 with a code for dimensions',
      answered(400, 'invalid_request_error', 'odd words', {
        details: { error_code: 'image_dimensions_too_large', paths: ['messages.3.content.1'] },
      }),
      'media',
    ],
    [
      '400 for a bound thinking block',
      answered(
        400,
        'invalid_request_error',
        'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation',
      ),
      'thinking',
    ],
    [
      '400 for changed thinking',
      answered(
        400,
        'invalid_request_error',
        '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified',
      ),
      'thinking',
    ],
    ['400 with nothing', new APIError(400, undefined, '', new Headers()), 'invalid_request'],
    [
      '400 for a limit on spending',
      answered(400, 'invalid_request_error', 'You have reached your specified API usage spend limit'),
      'billing',
    ],
    [
      '400 of any other kind',
      answered(400, 'invalid_request_error', 'messages: roles must alternate'),
      'invalid_request',
    ],
    ['401', answered(401, 'authentication_error', 'invalid x-api-key'), 'authentication'],
    ['402', answered(402, 'billing_error', 'pay'), 'billing'],
    ['403', answered(403, 'permission_error', 'no'), 'permission'],
    ['404', answered(404, 'not_found_error', 'model: nope'), 'not_found'],
    ['408', answered(408, 'timeout_error', 'late'), 'timeout'],
    ['409', answered(409, 'conflict', 'busy'), 'conflict'],
    ['413 of a small body', answered(413, 'request_too_large', 'Request exceeds the maximum size'), 'too_large'],
    [
      '413 of a large body',
      answered(413, 'request_too_large', 'Request exceeds the maximum size'),
      'overflow',
      { bodyBytes: 17 * megabyte },
    ],
    [
      '413 of media',
      answered(413, 'request_too_large', 'Request exceeds the maximum size'),
      'media',
      { bodyBytes: 17 * megabyte, mediaBytes: 10 * megabyte },
    ],
    ['413 of a proxy', new APIError(413, undefined, '<html>', new Headers()), 'too_large'],
    ['422', answered(422, 'invalid_request_error', 'odd'), 'invalid_request'],
    ['429', answered(429, 'rate_limit_error', 'slow down'), 'rate_limit'],
    [
      '429 that sounds like an overflow',
      answered(429, 'rate_limit_error', 'too many tokens per minute; prompt is too long for your tier'),
      'rate_limit',
    ],
    [
      '429 for a limit on spending',
      answered(429, 'rate_limit_error', 'x', { details: { error_code: 'enforced_spend_limit_reached' } }),
      'billing',
    ],
    ['500', answered(500, 'api_error', 'oops'), 'server'],
    ['503', answered(503, 'api_error', 'oops'), 'server'],
    ['504', answered(504, 'timeout_error', 'oops'), 'timeout'],
    ['529', answered(529, 'overloaded_error', 'Overloaded'), 'overloaded'],
    ['overloaded inside a stream', inStream('overloaded_error', 'Overloaded'), 'overloaded'],
    ['api_error inside a stream', inStream('api_error', 'oops'), 'server'],
    ['invalid request inside a stream', inStream('invalid_request_error', 'odd'), 'invalid_request'],
    ['no connection', new APIConnectionError({ cause: new TypeError('fetch failed') }), 'connection'],
    ['no headers in time', new APIConnectionTimeoutError(), 'timeout'],
    [
      'a reset in the middle',
      new TypeError('terminated', { cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }) }),
      'connection',
    ],
    ['a line that is no JSON', new SyntaxError('Unexpected token'), 'incomplete'],
    ['silence', new StallError(90_000), 'stall'],
    ['the deadline', new DeadlineError(600_000), 'timeout'],
    ['a bug', new Error('undefined is not a function'), 'thrown'],
    ['a string', 'boom', 'thrown'],
    ['null', null, 'thrown'],
  ])('knows %s', (_name, error, expected, more = {}) => {
    expect(classify(error, { ...facts, ...more }).class).toBe(expected);
  });

  it('adopts the figures of an error', () => {
    const tokens = (text: string) => classify(answered(400, 'invalid_request_error', text), facts).tokens;
    expect(tokens('prompt is too long: 208310 tokens > 200000 maximum')).toEqual({
      input: 208_310,
      window: 200_000,
      maxOutput: null,
    });
    expect(tokens('input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000')).toEqual({
      input: 178_959,
      window: 200_000,
      maxOutput: null,
    });
    expect(tokens('max_tokens: 250000 > 128000, which is the maximum')).toEqual({
      input: null,
      window: null,
      maxOutput: 128_000,
    });
    expect(tokens("This model's maximum context length is 32768 tokens")).toEqual({
      input: null,
      window: 32_768,
      maxOutput: null,
    });
  });

  it('reads where media stand', () => {
    const text =
      'messages.7.content.2.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels';
    expect(classify(answered(400, 'invalid_request_error', text), facts).mediaPaths).toEqual([[7, 2]]);
    const inside = answered(400, 'invalid_request_error', 'x', {
      details: {
        error_code: 'image_dimensions_too_large',
        paths: ['messages.1.content.0.content.3', 'messages.2.content.0'],
      },
    });
    expect(classify(inside, facts).mediaPaths).toEqual([
      [1, 0, 3],
      [2, 0],
    ]);
  });

  it.each<[Record<string, string>, number | null]>([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after-ms': '150', 'retry-after': '9' }, 150],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-5' }, null],
    [{ 'retry-after': '999999' }, 999_999_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, null],
    [{}, null],
  ])('reads what %j asks to wait', (headers, expected) => {
    expect(classify(answered(429, 'rate_limit_error', 'slow', { headers }), facts).retryAfterMs).toBe(expected);
  });

  it('shows no key', () => {
    const { message } = classify(
      answered(401, 'authentication_error', 'bad key sk-ant-api03-abcdefghijk, Authorization: Bearer abc.def'),
      facts,
    );
    expect(message).not.toMatch(/abcdefghijk|abc\.def/);
  });
});
