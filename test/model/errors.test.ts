import { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureClass } from '../../src/core/failure.ts';
import type { WireRequest } from '../../src/core/wire/request-type.ts';
import { classify, type RequestFacts } from '../../src/model/errors.ts';
import { requestFacts } from '../../src/model/facts.ts';
import { DeadlineError, NoHeadersError, StallError } from '../../src/model/liveness.ts';

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

function coded(code: string): Error {
  return Object.assign(new Error('x'), { code });
}

function circular(): Error {
  const error = new Error('x');
  error.cause = error;
  return error;
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
    [
      '429 of a ramp limit, which a wait cures',
      answered(429, 'rate_limit_error', 'too fast', { details: { error_code: 'ramp_limit_exceeded' } }),
      'rate_limit',
    ],
    [
      '400 for a limit on use that the user set',
      answered(
        400,
        'invalid_request_error',
        'You have reached your specified API usage limits. You will regain access on 2026-02-01',
      ),
      'billing',
    ],
    [
      '400 for an image that cannot be read',
      answered(400, 'invalid_request_error', 'Could not process image'),
      'media',
    ],
    [
      '400 for pages of a document',
      answered(
        400,
        'invalid_request_error',
        'messages.0.content.0.document: A maximum of 100 PDF pages may be provided.',
      ),
      'media',
    ],
    [
      '400 for a sum whose input alone fills the window',
      answered(
        400,
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 205000 + 8000 > 200000',
      ),
      'overflow',
    ],
    ['422 for a long prompt', answered(422, 'invalid_request_error', 'prompt is too long'), 'overflow'],
    ['500', answered(500, 'api_error', 'oops'), 'server'],
    ['503', answered(503, 'api_error', 'oops'), 'server'],
    ['504', answered(504, 'timeout_error', 'oops'), 'timeout'],
    ['529', answered(529, 'overloaded_error', 'Overloaded'), 'overloaded'],
    ['overloaded inside a stream', inStream('overloaded_error', 'Overloaded'), 'overloaded'],
    ['api_error inside a stream', inStream('api_error', 'oops'), 'server'],
    [
      'overflow inside a stream',
      inStream('invalid_request_error', 'prompt is too long: 9 tokens > 5 maximum'),
      'overflow',
    ],
    [
      'overflow of a type that is not known',
      inStream('exceed_context_size_error', 'context length exceeded'),
      'overflow',
    ],
    ['a body that is too large, inside a stream', inStream('request_too_large', 'x'), 'too_large'],
    ['a rate limit inside a stream', inStream('rate_limit_error', 'too many tokens in the prompt'), 'rate_limit'],
    ['invalid request inside a stream', inStream('invalid_request_error', 'odd'), 'invalid_request'],
    ['no connection', new APIConnectionError({ cause: new TypeError('fetch failed') }), 'connection'],
    ['no headers in time', new APIConnectionTimeoutError(), 'timeout'],
    [
      'a reset in the middle',
      new TypeError('terminated', { cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }) }),
      'connection',
    ],
    ['a line that is no JSON', new SyntaxError('Unexpected token'), 'incomplete'],
    ['a line that is cut', new SyntaxError('Unterminated string in JSON at position 3'), 'incomplete'],
    ['a reset by its code', Object.assign(new Error('read'), { code: 'ECONNRESET' }), 'connection'],
    ['a reset deep below', new Error('odd', { cause: new Error('odder', { cause: coded('EPIPE') }) }), 'connection'],
    [
      'the patience of fetch with a body',
      new TypeError('terminated', { cause: coded('UND_ERR_BODY_TIMEOUT') }),
      'stall',
    ],
    ['the patience of fetch with headers', new TypeError('x', { cause: coded('UND_ERR_HEADERS_TIMEOUT') }), 'timeout'],
    ['a chain of causes that leads back', circular(), 'thrown'],
    ['no headers', new NoHeadersError(90_000), 'timeout'],
    ['silence', new StallError(90_000), 'stall'],
    ['the deadline', new DeadlineError(600_000), 'timeout'],
    ['a bug', new Error('undefined is not a function'), 'thrown'],
    ['a string', 'boom', 'thrown'],
    ['null', null, 'thrown'],
  ])('knows %s', (_name, error, expected, more = {}) => {
    expect(classify(error, { ...facts, ...more }).class).toBe(expected);
  });

  it.each<[string, number | null, number | null, number | null]>([
    ['prompt is too long: 208310 tokens > 200000 maximum', 208_310, 200_000, null],
    ['prompt is too long', null, null, null],
    ['input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000', 178_959, 200_000, null],
    ['max_tokens: 250000 > 128000, which is the maximum', null, null, 128_000],
    ["This model's maximum context length is 32768 tokens", null, 32_768, null],
    [
      "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (3500 in the messages, 1500 in the completion).",
      3_500,
      4_097,
      null,
    ],
    [
      "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 2000 input tokens (5000 > 4096 - 2000)",
      2_000,
      4_096,
      null,
    ],
    [
      "This endpoint's maximum context length is 131,072 tokens. However, you requested about 140,000 tokens (139,000 of text input, 1,000 in the output).",
      139_000,
      131_072,
      null,
    ],
    ['request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it', 5_000, 4_096, null],
    [
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)',
      1_196_265,
      1_048_575,
      null,
    ],
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens", 537_812, 131_072, null],
  ])('adopts the figures of "%s"', (text, input, window, maxOutput) => {
    expect(classify(answered(400, 'invalid_request_error', text), facts).tokens).toEqual({ input, window, maxOutput });
  });

  it('lowers max_tokens only where that helps', () => {
    const kind = (text: string) => classify(answered(400, 'invalid_request_error', text), facts).class;
    const length = (requested: number, output: number) =>
      `maximum context length is 4096 tokens. However, you requested 5000 tokens (${requested} in the messages, ${output} in the completion)`;
    expect(kind(length(3_500, 1_500))).toBe('max_tokens_too_large');
    expect(kind(length(4_500, 500))).toBe('overflow');
  });

  it('adopts the figures that llama.cpp gives beside its text', () => {
    const message = 'the request exceeds the available context size, try increasing it';
    const body = { error: { type: 'exceed_context_size_error', message, n_prompt_tokens: 5_000, n_ctx: 4_096 } };
    const error = APIError.generate(400, body, undefined, new Headers());
    expect(classify(error, facts)).toMatchObject({
      class: 'overflow',
      tokens: { input: 5_000, window: 4_096, maxOutput: null },
    });
  });

  it('adopts no figures from an error of another class', () => {
    const text = 'prompt is too long: 208310 tokens > 200000 maximum';
    expect(classify(answered(429, 'rate_limit_error', text), facts).tokens).toEqual({
      input: null,
      window: null,
      maxOutput: null,
    });
  });

  it.each<[unknown, string]>([
    [{ error: 'model "x" not found' }, 'model "x" not found'],
    [{ detail: 'Not authenticated' }, 'Not authenticated'],
    [{ message: 'plain' }, 'plain'],
    ['words', 'words'],
    [undefined, 'The server answered with an error and no text (HTTP 404).'],
    [{ error: { message: '<html>gone</html>' } }, 'The server answered with an error and no text (HTTP 404).'],
    [[1, 2], 'The server answered with an error and no text (HTTP 404).'],
  ])('says what the body %j says', (body, expected) => {
    const error = APIError.generate(404, body as object, undefined, new Headers());
    expect(classify(error, facts).message).toBe(expected);
  });

  it('makes one plain sentence of whatever a server answers', () => {
    const status = fc.constantFrom(undefined, 400, 413, 429, 500, 529);
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ error: fc.record({ type: fc.jsonValue(), message: fc.jsonValue(), details: fc.jsonValue() }) }),
      fc.record({
        error: fc.record({
          message: fc.constant('too many images'),
          details: fc.record({ error_code: fc.jsonValue(), paths: fc.array(fc.jsonValue()) }),
        }),
      }),
    );
    fc.assert(
      fc.property(status, body, (code, answer) => {
        const error = new APIError(code, answer as object, undefined, new Headers());
        const failure = classify(error, facts);
        expect(failure.message).not.toBe('');
        expect(JSON.parse(JSON.stringify(failure))).toEqual(failure);
      }),
    );
  });

  it('reads a long answer in no time, and shows little of it', () => {
    const text = 'an image of a document '.repeat(100_000);
    expect(classify(answered(400, 'invalid_request_error', text), facts).message.length).toBeLessThanOrEqual(2_000);
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
    [{ 'retry-after': 'soon 5' }, null],
    [{ 'retry-after': '1e3' }, null],
    [{ 'retry-after': '' }, null],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after-ms': '-1', 'retry-after': '9' }, 9_000],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9_000],
    [{ 'retry-after': 'Thursday, 01-Jan-26 00:00:07 GMT' }, 7_000],
    [{ 'retry-after': '999999' }, 999_999_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, null],
    [{}, null],
  ])('reads what %j asks to wait', (headers, expected) => {
    expect(classify(answered(429, 'rate_limit_error', 'slow', { headers }), facts).retryAfterMs).toBe(expected);
  });

  it.each([
    'bad key sk-ant-api03-SECRETSECRET',
    'Authorization: Bearer SECRET.SECRET',
    'Authorization: Basic SECRET==',
    'the header "x-api-key": "SECRET" is refused',
    'invalid api key: SECRET',
    'api_key=SECRET is unknown',
    'cannot reach https://user:SECRET@host/v1',
  ])('shows no key of "%s"', (text) => {
    const failures = [
      classify(answered(401, 'authentication_error', text), facts),
      classify(new Error(text), facts),
      classify(new TypeError('fetch failed', { cause: new Error(text) }), facts),
      classify(new APIConnectionError({ cause: new Error(text) }), facts),
      classify(new APIError(401, undefined, text, new Headers({ 'x-api-key': 'SECRET' })), facts),
    ];
    for (const failure of failures) expect(JSON.stringify(failure)).not.toContain('SECRET');
  });
});

describe('requestFacts', () => {
  it('counts bytes, not characters', () => {
    const request: WireRequest = {
      model: 'm',
      max_tokens: 1,
      messages: [{ role: 'user', content: [{ type: 'text', text: '漢'.repeat(1_000) }] }],
    };
    const bytes = Buffer.byteLength(JSON.stringify({ ...request, stream: true }));
    expect(requestFacts(request, 0)).toEqual({ bodyBytes: bytes, mediaBytes: 0, now: 0 });
  });

  it('finds media inside of tool results too', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(500) } };
    const result = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'x' }, image] };
    const request: WireRequest = {
      model: 'm',
      max_tokens: 1,
      messages: [{ role: 'user', content: [result, image, { type: 'tool_result', content: 'text' }] }],
    };
    expect(requestFacts(request, 0).mediaBytes).toBe(2 * JSON.stringify(image).length);
  });
});
