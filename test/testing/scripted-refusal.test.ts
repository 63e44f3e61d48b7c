/** What the scripted model refuses, in whose words, and what the engine's own classifier makes of it. */
import Anthropic, { type BadRequestError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { FailureClass } from '../../src/core/failure.ts';
import type { WireBlock, WireMessage, WireRequest } from '../../src/core/wire/request-type.ts';
import { classify } from '../../src/model/errors.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { expandBlocks } from '../../src/testing/scenario-media.ts';
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts';
import { ScriptedModel, type ScriptedModelOptions } from '../../src/testing/scripted-model.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';

const limits = { contextWindow: 1_000, maxOutput: 500 };
const text = (value: string): WireBlock => ({ type: 'text', text: value });
const use = (id: string, name = 'read'): WireBlock => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string, content: unknown = 'x'): WireBlock => ({ type: 'tool_result', tool_use_id: id, content });
const serverUse = (id: string): WireBlock => ({ type: 'server_tool_use', id, name: 'web_search', input: {} });
const thinking: WireBlock = { type: 'thinking', thinking: 'hm', signature: 's' };
const image = (width: number, height: number): WireBlock =>
  expandBlocks([{ image: { width, height } }])[0] as WireBlock;
const user = (...content: WireBlock[]): WireMessage => ({ role: 'user', content });
const assistant = (...content: WireBlock[]): WireMessage => ({ role: 'assistant', content });
const go = user(text('go'));
const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };

function request(messages: readonly WireMessage[], more: Partial<WireRequest> = {}): WireRequest {
  return { model: 'm', max_tokens: 100, messages, ...more };
}

class Scripted {
  readonly model: ScriptedModel;
  readonly #client: Anthropic;

  constructor(options: Partial<ScriptedModelOptions> = {}) {
    this.model = new ScriptedModel({
      model: [{ ...done, repeat: true }],
      limits,
      clock: new VirtualClock(),
      estimate: () => 10,
      ...options,
    });
    this.#client = new Anthropic({
      apiKey: 'k',
      baseURL: 'http://x.invalid',
      fetch: scriptedFetch(this.model),
      maxRetries: 0,
      openTelemetry: false,
      logLevel: 'off',
    });
  }

  /** The error that a request gets, or null. */
  async ask(asked: WireRequest): Promise<BadRequestError | null> {
    try {
      const stream = await this.#client.post('/v1/messages', { body: { ...asked, stream: true }, stream: true });
      const events = (stream as AsyncIterable<unknown>)[Symbol.asyncIterator]();
      while ((await events.next()).done !== true);
      return null;
    } catch (error) {
      return error as BadRequestError;
    }
  }
}

function words(error: BadRequestError | null): string {
  const body: unknown = error?.error;
  return (body as { error?: { message?: string } } | undefined)?.error?.message ?? '';
}

const facts = { bodyBytes: 0, mediaBytes: 0, now: 0 };
const spoken = 'messages.2.content.0';
const pattern = "String should match pattern '^[a-zA-Z0-9_-]";

describe('a request that the API would refuse for its form', () => {
  it.each<[string, WireRequest]>([
    [
      'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
      request([go, go]),
    ],
    ['messages: at least one message is required', request([])],
    ['messages: first message must use the "user" role', request([assistant(text('a')), go])],
    [
      'This model does not support assistant message prefill. The conversation must end with a user message.',
      request([go, assistant(text('a'))]),
    ],
    [
      'messages.1: all messages must have non-empty content except for the optional final assistant message',
      request([go, assistant(), go]),
    ],
    [
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
      request([go, assistant(use('t1')), go]),
    ],
    [
      'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      request([user(result('t9'))]),
    ],
    [
      'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1',
      request([go, assistant(use('t1')), user(result('t1'), result('t1'))]),
    ],
    [
      'messages.1.content.1: `tool_use` ids must be unique',
      request([go, assistant(use('t1'), use('t1')), user(result('t1'))]),
    ],
    [
      'messages.1: `web_search` tool use with id `s1` was found without a corresponding `web_search_tool_result` block',
      request([go, assistant(serverUse('s1'), text('a')), go]),
    ],
    [
      'messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: s1. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.',
      request([go, assistant({ type: 'web_search_tool_result', tool_use_id: 's1', content: [] }, text('a')), go]),
    ],
    ['messages.0: `tool_use` blocks can only be in `assistant` messages', request([user(use('t1'))])],
    ['messages: text content blocks must be non-empty', request([user(text(''))])],
    ['messages: text content blocks must contain non-whitespace text', request([user(text(' \n'))])],
    ['system: text content blocks must contain non-whitespace text', request([go], { system: [text(' ')] })],
    [
      'messages.1: The final block in an assistant message cannot be `thinking`.',
      request([go, assistant(text('a'), thinking), go], { thinking: { type: 'adaptive' } }),
    ],
    [
      'messages.1.content.0: Thinking stands in a request that does not ask for thinking.',
      request([go, assistant(thinking, text('a')), go]),
    ],
    [`messages.1.content.0.tool_use.id: ${pattern}+$'`, request([go, assistant(use('a b')), user(result('a b'))])],
    [
      `messages.1.content.0.tool_use.name: ${pattern}{1,64}$'`,
      request([go, assistant(use('t1', 'ls -la')), user(result('t1'))]),
    ],
    [
      `tools.0.custom.name: ${pattern}{1,64}$'`,
      request([go], { tools: [{ name: 'a.b', description: '', input_schema: {} }] }),
    ],
    [
      'tools: Tool names must be unique.',
      request([go], { tools: ['a', 'a'].map((name) => ({ name, description: '', input_schema: {} })) }),
    ],
    [
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
      request([go, assistant({ ...use('t1'), input: 'x' }), user(result('t1'))]),
    ],
    [
      `${spoken}: all content must be type \`text\` if \`is_error\` is true`,
      request([go, assistant(use('t1')), user({ ...result('t1', [image(1, 1)]), is_error: true })]),
    ],
    ['The request body is not valid JSON: no low surrogate in string', request([user(text('a\uD83D'))])],
    [
      'max_tokens: 501 > 500, which is the maximum allowed number of output tokens for m',
      request([go], { max_tokens: 501 }),
    ],
    ['max_tokens: Input should be a valid integer, greater than or equal to 1', request([go], { max_tokens: 0 })],
    [
      'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
      request([go], { thinking: { type: 'enabled', budget_tokens: 50 } }),
    ],
    [
      '`max_tokens` must be greater than `thinking.budget_tokens`.',
      request([go], { thinking: { type: 'enabled', budget_tokens: 2_000 } }),
    ],
    [
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
      request([
        user(...Array.from({ length: 5 }, () => ({ ...text('a'), cache_control: { type: 'ephemeral' } as const }))),
      ]),
    ],
    [
      'messages.0.role: It should be "user", "assistant" or "system".',
      request([{ role: 'tool' as never, content: [text('a')] }]),
    ],
  ])('%s', async (message, asked) => {
    const scripted = new Scripted();
    const error = await scripted.ask(asked);
    expect([error?.status, error?.type, words(error)]).toEqual([400, 'invalid_request_error', message]);
    expect(scripted.model.violations).not.toEqual([]);
    expect(scripted.model.requests[0]?.violations).not.toEqual([]);
  });

  it('is told before its size, and its violation is never hidden by it', async () => {
    const scripted = new Scripted({ estimate: () => 5_000 });
    expect(words(await scripted.ask(request([go, go])))).toContain('roles must alternate');
    expect(scripted.model.violations).toHaveLength(1);
  });
});

describe('a request that is too large', () => {
  it.each<[string, FailureClass, number, WireRequest]>([
    ['prompt is too long: 1001 tokens > 1000 maximum', 'overflow', 1_001, request([go])],
    [
      'input length and `max_tokens` exceed context limit: 901 + 100 > 1000, decrease input length or `max_tokens` and try again',
      'max_tokens_too_large',
      901,
      request([go]),
    ],
    [
      'messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
      'media',
      10,
      request([user(image(8_001, 1))]),
    ],
    [
      'messages.0.content.20.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
      'media',
      10,
      request([user(...Array.from({ length: 20 }, () => image(1, 1)), image(2_162, 322))]),
    ],
    [
      `${spoken}.tool_result.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels`,
      'media',
      10,
      request([go, assistant(use('t1')), user(result('t1', [text('x'), image(1, 8_001)]))]),
    ],
    [
      'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5242884 bytes > 5242880 bytes',
      'media',
      10,
      request([
        user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(5_242_884) } }),
      ]),
    ],
  ])('%s', async (message, kind, tokens, asked) => {
    const scripted = new Scripted({ estimate: () => tokens });
    const error = await scripted.ask(asked);
    expect([error?.status, words(error)]).toEqual([400, message]);
    const failure = classify(error, facts);
    expect(failure.class).toBe(kind);
    if (kind === 'media') {
      const indexes = (/^messages\.\S+?(?=\.image)/.exec(message)?.[0].match(/\d+/g) ?? []).map(Number);
      expect(failure.mediaPaths).toEqual([indexes]);
    } else {
      expect(failure.tokens).toEqual({ input: tokens, window: 1_000, maxOutput: null });
    }
    // The user's own doing, or the network's: the loop has to cope, and has done nothing wrong.
    expect(scripted.model.violations).toEqual([]);
    expect(scripted.model.requests[0]?.violations).not.toEqual([]);
  });

  it('says how much a model may say', async () => {
    const error = await new Scripted().ask(request([go], { max_tokens: 501 }));
    expect(classify(error, facts)).toMatchObject({ class: 'max_tokens_too_large', tokens: { maxOutput: 500 } });
  });

  it.each<ModelEntry>([
    { text: 'short', tooLongOver: 50 },
    { stream: [{ text: 'short' }, { stop: 'end_turn' }], tooLongOver: 50 },
  ])('is refused by a picky entry, which stays for a smaller one: %j', async (entry) => {
    let tokens = 51;
    const scripted = new Scripted({ model: [entry], estimate: () => tokens });
    expect(words(await scripted.ask(request([go])))).toBe('prompt is too long: 51 tokens > 50 maximum');
    expect(words(await scripted.ask(request([go], { max_tokens: 8 })))).toBe(
      'prompt is too long: 51 tokens > 50 maximum',
    );
    tokens = 50;
    expect(await scripted.ask(request([go], { max_tokens: 9 }))).toBeNull();
    expect(scripted.model.violations).toEqual([]);
  });

  it('counts a body that comes again after a 400 as a violation, once per query', async () => {
    const scripted = new Scripted({ model: [{ status: 400, repeat: true }] });
    await scripted.ask(request([go]));
    scripted.model.forgetRefused();
    await scripted.ask(request([go]));
    expect(scripted.model.violations).toEqual([]);
    await scripted.ask(request([go]));
    expect(scripted.model.violations).toEqual(['request 3: the same body was refused with a 400 before.']);
  });
});

describe('an answer that ended in pause_turn', () => {
  const paused = request([go, assistant(text('a'))]);
  const pause: ModelEntry = { stream: [{ text: 'a' }, { stop: 'pause_turn' }] };
  const rawPause: ModelEntry = {
    raw: [{ event: 'message_delta', data: { type: 'message_delta', delta: { stop_reason: 'pause_turn' } } }],
  };

  it.each([pause, rawPause])('may be sent back until the user speaks: %j', async (entry) => {
    const scripted = new Scripted({ model: [entry, { status: 529 }, done, done, done] });
    expect(await scripted.ask(request([go]))).toBeNull();
    expect(await scripted.ask(paused)).toMatchObject({ status: 529 });
    expect(await scripted.ask(paused)).toBeNull();
    expect(scripted.model.violations).toEqual([]);
    expect(await scripted.ask(request([go, assistant(text('a')), go]))).toBeNull();
    expect(words(await scripted.ask(paused))).toContain('must end with a user message');
  });

  it('is not taken for one that did not', async () => {
    const searched = assistant(
      serverUse('s1'),
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
      text('a'),
    );
    const scripted = new Scripted();
    expect(words(await scripted.ask(request([go, searched])))).toContain('must end with a user message');
  });
});
