/** The scripted model through the real client of the SDK, in process and over a socket: both must say the same. */
import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import Anthropic, { APIConnectionError, APIError, BadRequestError, RateLimitError } from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts';
import { ScriptedModel, type ScriptedModelOptions } from '../../src/testing/scripted-model.ts';
import { listen } from '../../src/testing/scripted-server.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';

const limits = { contextWindow: 200_000, maxOutput: 64_000 };
const ask = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'go' }] };
const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

interface Wired {
  readonly model: ScriptedModel;
  readonly client: Anthropic;
  /** A `fetch` and the base URL for it, for what the client hides. */
  readonly fetch: typeof fetch;
  readonly url: string;
}

type Script = readonly ModelEntry[] | Partial<ScriptedModelOptions>;

function modelOf(script: Script, clock: Clock): ScriptedModel {
  const options: Partial<ScriptedModelOptions> = 'length' in script ? { model: script } : script;
  return new ScriptedModel({ model: [], limits, clock, ...options });
}

function clientOf(url: string, fetch: typeof globalThis.fetch): Anthropic {
  return new Anthropic({ apiKey: 'k', baseURL: url, fetch, maxRetries: 0, openTelemetry: false, logLevel: 'off' });
}

async function inProcess(script: Script): Promise<Wired> {
  const model = modelOf(script, new VirtualClock());
  const url = 'http://scripted.invalid';
  return { model, client: clientOf(url, scriptedFetch(model)), fetch: scriptedFetch(model), url };
}

async function overLoopback(script: Script): Promise<Wired> {
  const model = modelOf(script, systemClock);
  const { url, close } = await listen(model);
  closing.push(close);
  return { model, client: clientOf(url, fetch), fetch, url };
}

/** Types of the events that arrive, and what ended them when something did. */
async function read(
  { client }: Wired,
  signal?: AbortSignal,
): Promise<{ readonly events: readonly Anthropic.RawMessageStreamEvent[]; readonly error: unknown }> {
  const events: Anthropic.RawMessageStreamEvent[] = [];
  try {
    const stream = await client.messages.create({ ...ask, stream: true }, signal === undefined ? {} : { signal });
    for await (const event of stream) events.push(event);
    return { events, error: null };
  } catch (error) {
    return { events, error };
  }
}

function textOf(events: readonly Anthropic.RawMessageStreamEvent[]): string {
  return events
    .map((event) => (event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : ''))
    .join('');
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  return (response.body as ReadableStream<Uint8Array>).getReader();
}

function post({ fetch, url }: Wired, body: unknown, init: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${url}/v1/messages`, { method: 'POST', body: text, ...init });
}

const rich: ModelEntry = {
  stream: [
    { thinking: 'hm', signature: 's1' },
    { redacted: 'x' },
    { text: 'a' },
    { text: 'b' },
    { text: 'c', block: true },
    { block: true },
    { text: 'd' },
    { serverTool: 'web_search', id: 's1', input: { query: 'q' } },
    { serverResult: 's1', content: [] },
    { tool: 'read', id: 't1', json: ['{"path":', '"a"}'] },
    { tool: 'read', id: 't2', input: { path: 'b' } },
    { stop: 'tool_use' },
  ],
  usage: { input: 900, output: 20, cacheRead: 5, cacheCreation: 6 },
};

const richContent = [
  { type: 'thinking', thinking: 'hm', signature: 's1' },
  { type: 'redacted_thinking', data: 'x' },
  { type: 'text', text: 'ab' },
  { type: 'text', text: 'c' },
  { type: 'text', text: 'd' },
  { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
  { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
  { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a' } },
  { type: 'tool_use', id: 't2', name: 'read', input: { path: 'b' } },
];

describe.each([
  ['in process', inProcess],
  ['over loopback', overLoopback],
] as const)('the scripted model %s', (_name, wire) => {
  it('streams every kind of block', async () => {
    const { client } = await wire([rich]);
    const message = await client.messages.stream(ask).finalMessage();
    expect(message.content).toMatchObject(richContent);
    expect(message).toMatchObject({ id: 'msg_1', model: 'm', role: 'assistant', stop_reason: 'tool_use' });
    expect(message.usage).toMatchObject({
      input_tokens: 900,
      output_tokens: 20,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 6,
    });
  });

  it('says the same as one message to a request that asks for no stream', async () => {
    const { client } = await wire([rich]);
    const message = await client.messages.create(ask);
    expect(message).toMatchObject({ id: 'msg_1', stop_reason: 'tool_use', content: richContent });
    expect(message.usage).toMatchObject({ input_tokens: 900, output_tokens: 20, cache_read_input_tokens: 5 });
  });

  it('reports its own count of tokens when the script names none', async () => {
    const { client, model } = await wire({ model: [done], estimate: ({ messages }) => 1_000 * messages.length });
    const { usage } = await client.messages.stream(ask).finalMessage();
    expect(usage.input_tokens).toBe(1_000);
    expect(usage.output_tokens).toBeGreaterThan(0);
    expect(model.requests[0]).toMatchObject({
      estimate: 1_000,
      maxTokens: 100,
      model: 'm',
      purpose: 'model',
      violations: [],
    });
    expect((await client.messages.countTokens({ model: 'm', messages: ask.messages })).input_tokens).toBe(1_000);
  });

  it('tells limits of models', async () => {
    const { client } = await wire({ models: ['one', 'two'] });
    expect(await client.models.retrieve('any/thing')).toMatchObject({
      id: 'any/thing',
      max_input_tokens: 200_000,
      max_tokens: 64_000,
    });
    const names: string[] = [];
    for await (const { id } of client.models.list()) names.push(id);
    expect(names).toEqual(['one', 'two']);
  });

  it.each<[number, string, Readonly<Record<string, string>>]>([
    [400, 'invalid_request_error', {}],
    [429, 'rate_limit_error', { 'retry-after': '7' }],
    [500, 'api_error', { 'x-should-retry': 'true' }],
    [529, 'overloaded_error', { 'retry-after-ms': '20' }],
  ])('answers %i as the API does', async (status, type, headers) => {
    const { error } = await read(await wire([{ status, message: 'no', headers }]));
    expect(error).toBeInstanceOf(APIError);
    const failure = error as APIError;
    expect(failure).toMatchObject({ status, type, requestID: 'req_1' });
    expect(failure.error).toEqual({ type: 'error', error: { type, message: 'no' } });
    for (const [name, value] of Object.entries(headers)) expect(failure.headers?.get(name)).toBe(value);
    if (status === 429) expect(failure).toBeInstanceOf(RateLimitError);
  });

  it('answers with a body that is no JSON', async () => {
    const { error } = await read(await wire([{ status: 413, body: '<html></html>' }]));
    expect(error).toMatchObject({ status: 413, type: null });
  });

  it('repeats an entry as often as it says, the last for ever, and is never at a loss', async () => {
    const wired = await wire([{ status: 529, times: 2 }, done]);
    expect((await read(wired)).error).toMatchObject({ status: 529 });
    expect((await read(wired)).error).toMatchObject({ status: 529 });
    expect(textOf((await read(wired)).events)).toBe('done');
    expect(wired.model.violations).toEqual([]);
    expect((await read(wired)).error).toMatchObject({ status: 500 });
    expect(wired.model.violations).toEqual(['The script has no answer left for a model request.']);
    const repeating = await wire([{ ...done, repeat: true }]);
    for (let index = 0; index < 5; index += 1) expect(textOf((await read(repeating)).events)).toBe('done');
  });

  it('fails in mid-stream by the type of the error', async () => {
    const { events, error } = await read(await wire([{ stream: [{ text: 'ab' }, { error: 'overloaded_error' }] }]));
    expect(textOf(events)).toBe('ab');
    expect(error).toMatchObject({ status: undefined, type: 'overloaded_error' });
  });

  it('gives an error in mid-stream a status when there is no stream', async () => {
    const { client } = await wire([{ stream: [{ text: 'ab' }, { error: 'overloaded_error', message: 'busy' }] }]);
    await expect(client.messages.create(ask)).rejects.toMatchObject({ status: 529, type: 'overloaded_error' });
  });

  it('ends without a word', async () => {
    const { events, error } = await read(await wire([{ stream: [{ text: 'ab' }, { eof: true }] }]));
    expect(textOf(events)).toBe('ab');
    expect(error).toBeNull();
    expect(events.map(({ type }) => type)).not.toContain('message_stop');
  });

  it('breaks the connection behind what it has said', async () => {
    const { events, error } = await read(await wire([{ stream: [{ text: 'ab' }, { reset: true }] }]));
    expect(textOf(events)).toBe('ab');
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: 'terminated' });
  });

  it('stalls until it is aborted', async () => {
    const { client, model } = await wire([{ stream: [{ text: 'ab' }, { stall: true }] }, done]);
    const controller = new AbortController();
    const stream = await client.messages.create({ ...ask, stream: true }, { signal: controller.signal });
    let text = '';
    for await (const event of stream) {
      text += textOf([event]);
      if (text !== '') controller.abort();
    }
    expect(text).toBe('ab');
    expect(model.violations).toEqual([]);
  });

  it('is not even asked when the signal is aborted already', async () => {
    const wired = await wire([done]);
    const { error } = await read(wired, AbortSignal.abort());
    expect(error).toMatchObject({ message: 'Request was aborted.' });
    expect(wired.model.requests).toHaveLength(0);
  });

  it('lets go of a stall whose body is cancelled', async () => {
    const wired = await wire([{ stream: [{ text: 'ab' }, { stall: true }] }]);
    const response = await post(wired, { ...ask, stream: true });
    const reader = readerOf(response);
    await reader.read();
    await reader.cancel();
    expect(wired.model.violations).toEqual([]);
  });

  it('sends pings, raw events and figures as bytes of the wire', async () => {
    const wired = await wire([
      { stream: [{ ping: true }, { usage: { output: 3 } }, { blockStop: 4 }, { stop: null }] },
      { raw: [{ event: 'odd', data: { type: 'odd', n: 1 } }] },
    ]);
    const text = await (await post(wired, { ...ask, stream: true })).text();
    expect(text).toContain('event: ping\ndata: {"type":"ping"}\n\n');
    expect(text).toContain('data: {"type":"message_delta","delta":{},"usage":{"output_tokens":3}}\n\n');
    expect(text).toContain('event: content_block_stop\ndata: {"type":"content_block_stop","index":4}\n\n');
    expect(text).toContain('"stop_reason":null');
    const raw = await post(wired, { ...ask, stream: true });
    expect(raw.headers.get('content-type')).toBe('text/event-stream');
    expect(await raw.text()).toBe('event: odd\ndata: {"type":"odd","n":1}\n\n');
  });

  it('interleaves two messages, each with its own indexes', async () => {
    const { events } = await read(
      await wire([
        {
          stream: [
            { text: 'a', message: 'm1' },
            { text: 'b', message: 'm1' },
            { text: 'c', message: 'm2' },
            { text: 'd', message: 'm1' },
            { stop: 'end_turn' },
          ],
        },
      ]),
    );
    const shape = events.flatMap((event): (string | number)[] => {
      if (event.type === 'message_start') return [event.message.id];
      return event.type === 'content_block_start' ? [event.index] : [];
    });
    expect(shape).toEqual(['msg_1', 'm1', 0, 'm2', 0, 'm1', 1]);
  });

  it('tells its three kinds of requests apart', async () => {
    const says = (text: string): readonly ModelEntry[] => [{ text }];
    const wired = await wire({ model: says('main'), summary: says('short'), small: says('tiny') });
    const asking = async (purpose: string): Promise<string> => {
      const headers = { 'x-escapement-purpose': purpose };
      return (await post(wired, { ...ask, stream: true }, { headers })).text();
    };
    expect(await asking('small')).toContain('"text":"tiny"');
    expect(await asking('summary')).toContain('"text":"short"');
    expect(await asking('other')).toContain('"text":"main"');
    expect(wired.model.requests.map(({ purpose }) => purpose)).toEqual(['small', 'summary', 'model']);
  });

  it('has no other route, and takes no other body', async () => {
    const wired = await wire([]);
    const lost = await wired.fetch(`${wired.url}/v1/other`);
    expect([lost.status, await lost.json()]).toMatchObject([404, { error: { type: 'not_found_error' } }]);
    for (const body of ['{', '7', '[]', 'null']) {
      const response = await post(wired, body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { message: 'The request body is not valid JSON.' } });
    }
    await expect(wired.client.messages.countTokens({ model: 'm', messages: 7 as never })).rejects.toBeInstanceOf(
      BadRequestError,
    );
  });

  it('says the same bytes to the same requests', async () => {
    const bytes = async (make: typeof wire): Promise<string> => {
      const wired = await make([rich, { status: 529, message: 'busy' }, done]);
      const answers: string[] = [];
      for (const stream of [true, true, false]) {
        const response = await post(wired, { ...ask, stream });
        answers.push(`${response.status} ${response.headers.get('request-id')}`, await response.text());
      }
      return answers.join('\n');
    };
    expect(await bytes(wire)).toBe(await bytes(inProcess));
  });
});

describe('the scripted model in process', () => {
  it('waits on the clock, and only when it is read', async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel({
      model: [{ stream: [{ text: 'a' }, { wait: 200 }, { text: 'b' }, { stop: 'end_turn' }] }],
      limits,
      clock,
    });
    const body = JSON.stringify({ ...ask, stream: true });
    const response = await scriptedFetch(model)('http://x.invalid/v1/messages', { method: 'POST', body });
    const reader = readerOf(response);
    await reader.read();
    await reader.read();
    await setImmediate();
    expect(clock.pending).toBe(0);
    const next = reader.read();
    await setImmediate();
    expect(clock.pending).toBe(1);
    clock.advanceToNext();
    expect(new TextDecoder().decode((await next).value)).toContain('"text":"b"');
    await reader.cancel();
  });

  it('leaves no timer and no listener behind, however it ends', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const script: ModelEntry[] = [done, { stream: [{ wait: 50 }] }, { stream: [{ reset: true }] }];
    const model = new ScriptedModel({ model: script, limits, clock });
    for (const ending of ['whole', 'cancelled', 'broken']) {
      const body = JSON.stringify({ ...ask, stream: true });
      const response = await scriptedFetch(model)('http://x.invalid/v1/messages', { method: 'POST', body, signal });
      if (ending === 'whole') await response.text();
      if (ending === 'broken') await expect(response.text()).rejects.toThrow('terminated');
      if (ending !== 'cancelled') continue;
      const reader = readerOf(response);
      await reader.read();
      const waiting = reader.read();
      await Promise.resolve();
      expect(clock.pending).toBe(1);
      await reader.cancel();
      await waiting;
    }
    expect(clock.pending).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('takes a Request, and a body of bytes', async () => {
    const model = new ScriptedModel({ model: [done, done], limits, clock: new VirtualClock() });
    const bytes = new TextEncoder().encode(JSON.stringify({ ...ask, stream: true }));
    const url = 'http://x.invalid/v1/messages?beta=true';
    expect((await scriptedFetch(model)(url, { method: 'POST', body: bytes })).status).toBe(200);
    expect((await scriptedFetch(model)(new Request(url, { method: 'POST', body: bytes }))).status).toBe(200);
    expect(model.violations).toEqual([]);
  });

  it('answers anything, and throws at nothing', () => {
    const model = new ScriptedModel({ model: [{ ...done, repeat: true }], limits, clock: new VirtualClock() });
    const part = fc.jsonValue({ maxDepth: 3 });
    const bodies = fc.record({
      model: fc.oneof(fc.constant('m'), part),
      max_tokens: part,
      messages: part,
      stream: part,
      system: part,
    });
    fc.assert(
      fc.property(
        bodies,
        fc.constantFrom('/v1/messages', '/v1/messages/count_tokens', '/v1/models/%'),
        (body, path) => {
          const method = path.startsWith('/v1/models') ? 'GET' : 'POST';
          const answer = model.answer({ method, path, header: () => null, body: JSON.stringify(body) });
          expect([200, 400]).toContain(answer.status);
        },
      ),
    );
  });
});

describe('the scripted model over loopback', () => {
  it('writes no faster than it is read', async () => {
    const clock = new VirtualClock();
    const large = Array.from({ length: 400 }, () => ({ text: 'x'.repeat(64 * 1024) }));
    const model = new ScriptedModel({
      model: [{ stream: [...large, { wait: 1 }, { stop: 'end_turn' }] }],
      limits,
      clock,
    });
    const { url, close } = await listen(model);
    closing.push(close);
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ ...ask, stream: true }),
    });
    const reader = readerOf(response);
    let size = (await reader.read()).value?.length ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 150));
    // The wait stands behind everything: had it all been written, the clock would hold its timer.
    expect(clock.pending).toBe(0);
    while (size < 400 * 64 * 1024) size += (await reader.read()).value?.length ?? 0;
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    clock.advanceToNext();
    while (!(await reader.read()).done);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    expect(model.violations).toEqual([]);
  });

  it('ends every connection when it is closed', async () => {
    const model = new ScriptedModel({
      model: [{ stream: [{ text: 'a' }, { stall: true }] }],
      limits,
      clock: systemClock,
    });
    const { url, close } = await listen(model);
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ ...ask, stream: true }),
    });
    const reader = readerOf(response);
    await reader.read();
    await close();
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow();
    await close();
    const client = clientOf(url, fetch);
    await expect(client.messages.create(ask)).rejects.toBeInstanceOf(APIConnectionError);
  });
});
