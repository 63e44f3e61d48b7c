import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { WireRequest } from '../../src/core/wire/request-type.ts';
import { createClient, hasCredentials } from '../../src/model/client.ts';
import { classify } from '../../src/model/errors.ts';
import { requestFacts } from '../../src/model/facts.ts';
import { findLimits } from '../../src/model/limits.ts';
import { createTransport, type StreamEvent } from '../../src/model/transport.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts';
import { ScriptedModel } from '../../src/testing/scripted-model.ts';
import { listen, type ScriptedServer } from '../../src/testing/scripted-server.ts';
import { runInVirtualTime, VirtualClock } from '../../src/testing/virtual-clock.ts';

const limits = { contextWindow: 200_000, maxOutput: 64_000 };
const request: WireRequest = {
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
};
const never = new AbortController().signal;
const servers: ScriptedServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Reads a call in process, in virtual time: the events, or the class of what went wrong. */
async function readVirtually(
  entry: ModelEntry,
  options: Parameters<typeof createTransport>[1] = {},
): Promise<string[]> {
  const clock = new VirtualClock();
  const model = new ScriptedModel({ model: [entry], limits, clock });
  const client = createClient({ apiKey: 'k', baseUrl: 'http://x.invalid', fetch: scriptedFetch(model) });
  const call = createTransport(() => client, options);
  const io = { purpose: 'model', signal: never, clock, ready: () => Promise.resolve() } as const;
  const types = runInVirtualTime(clock, outcome(call(request, io), clock.now()));
  const seen = await types;
  expect(clock.pending).toBe(0);
  return seen;
}

async function outcome(events: AsyncIterable<StreamEvent>, now: number): Promise<string[]> {
  const types: string[] = [];
  try {
    for await (const event of events) types.push(event.type);
  } catch (error) {
    types.push(`failed: ${classify(error, requestFacts(request, now)).class}`);
  }
  return types;
}

async function serve(entries: readonly ModelEntry[]): Promise<{ model: ScriptedModel; url: string }> {
  const model = new ScriptedModel({ model: entries, summary: entries, limits, clock: systemClock });
  const server = await listen(model);
  servers.push(server);
  return { model, url: server.url };
}

const whole: ModelEntry = { stream: [{ text: 'hi' }, { stop: 'end_turn' }] };

describe('transport, in virtual time', () => {
  it('hands out the raw events', async () => {
    expect(await readVirtually(whole)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('lives on pings alone', async () => {
    const pings = Array.from({ length: 20 }, () => [{ wait: 60_000 }, { ping: true as const }]).flat();
    const seen = await readVirtually(
      { stream: [...pings, { text: 'hi' }, { stop: 'end_turn' }] },
      { deadlineMs: 10_000_000 },
    );
    expect(seen.at(-1)).toBe('message_stop');
  });

  it.each<[string, ModelEntry, string]>([
    ['silence', { stream: [{ text: 'a' }, { stall: true }] }, 'failed: stall'],
    [
      'an endless trickle',
      {
        stream: [
          ...Array.from({ length: 30 }, () => [{ wait: 30_000 }, { ping: true as const }]).flat(),
          { stop: 'end_turn' },
        ],
      },
      'failed: timeout',
    ],
    ['a reset', { stream: [{ text: 'a' }, { reset: true }] }, 'failed: connection'],
    ['an error inside the stream', { stream: [{ text: 'a' }, { error: 'overloaded_error' }] }, 'failed: overloaded'],
    ['529', { status: 529 }, 'failed: overloaded'],
    ['an HTML page of a proxy', { status: 413, body: '<html>too large</html>' }, 'failed: too_large'],
  ])('fails by class on %s', async (_name, entry, expected) => {
    expect((await readVirtually(entry)).at(-1)).toBe(expected);
  });

  it('ends without message_stop on a clean end, and says nothing of it', async () => {
    expect(await readVirtually({ stream: [{ text: 'a' }, { eof: true }] })).not.toContain('message_stop');
  });

  it('stands still while the consumer holds', async () => {
    const clock = new VirtualClock();
    const model = new ScriptedModel({
      model: [{ stream: [{ text: 'a' }, { text: 'b' }, { stop: 'end_turn' }] }],
      limits,
      clock,
    });
    const client = createClient({ apiKey: 'k', baseUrl: 'http://x.invalid', fetch: scriptedFetch(model) });
    let release = (): void => {};
    let held = Promise.resolve();
    const call = createTransport(() => client, { idleTimeoutMs: 1_000, deadlineMs: 5_000 });
    const events = call(request, { purpose: 'model', signal: never, clock, ready: () => held })[Symbol.asyncIterator]();
    await events.next();
    held = new Promise((resolve) => (release = resolve));
    const next = events.next();
    for (let round = 0; round < 20; round += 1) await setImmediate();
    // Both guards would have fired long ago.
    clock.schedule(() => {}, 60_000);
    while (clock.advanceToNext()) await setImmediate();
    release();
    expect((await next).done).toBe(false);
    await events.return?.(undefined);
    expect(clock.pending).toBe(0);
  });
});

describe('transport, on loopback', () => {
  const live = (url: string) => createTransport(() => createClient({ apiKey: 'k', baseUrl: url }));

  it('speaks to a server through the real client', async () => {
    const { url, model } = await serve([whole]);
    const io = { purpose: 'summary', signal: never, clock: systemClock, ready: () => Promise.resolve() } as const;
    expect((await outcome(live(url)(request, io), 0)).at(-1)).toBe('message_stop');
    expect(model.requests[0]).toMatchObject({ messages: request.messages, maxTokens: 100, purpose: 'summary' });
  });

  it.each<[ModelEntry, string]>([
    [{ stream: [{ text: 'a' }, { reset: true }] }, 'failed: connection'],
    [{ status: 429, headers: { 'retry-after': '1' } }, 'failed: rate_limit'],
  ])('fails by class', async (entry, expected) => {
    const { url } = await serve([entry]);
    const io = { purpose: 'model', signal: never, clock: systemClock, ready: () => Promise.resolve() } as const;
    expect((await outcome(live(url)(request, io), 0)).at(-1)).toBe(expected);
  });

  it('says that nobody listens', async () => {
    const { url } = await serve([]);
    await Promise.all(servers.splice(0).map((server) => server.close()));
    const io = { purpose: 'model', signal: never, clock: systemClock, ready: () => Promise.resolve() } as const;
    expect(await outcome(live(url)(request, io), 0)).toEqual(['failed: connection']);
  });

  it('lets go of a stalled stream when it is aborted', async () => {
    const { url } = await serve([{ stream: [{ text: 'a' }, { stall: true }] }]);
    const controller = new AbortController();
    const io = {
      purpose: 'model',
      signal: controller.signal,
      clock: systemClock,
      ready: () => Promise.resolve(),
    } as const;
    const types: string[] = [];
    for await (const event of live(url)(request, io)) {
      types.push(event.type);
      if (event.type === 'content_block_delta') controller.abort();
    }
    expect(types).toEqual(['message_start', 'content_block_start', 'content_block_delta']);
  });

  it('asks the server for the limits, else the table', async () => {
    const { url } = await serve([]);
    const client = createClient({ apiKey: 'k', baseUrl: url });
    expect(await findLimits(() => client, ['anything'])).toEqual({
      anything: { ...limits, onDemandCompaction: false },
    });
    const deaf = createClient({ apiKey: 'k', baseUrl: 'http://127.0.0.1:1' });
    expect(await findLimits(() => deaf, ['claude-opus-5-5', 'unknown'])).toEqual({
      'claude-opus-5-5': { contextWindow: 1_000_000, maxOutput: 128_000 },
    });
  });
});

describe('hasCredentials', () => {
  it('goes by the chain of the SDK, not by one variable', () => {
    const names = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_PROFILE', 'HOME', 'XDG_CONFIG_HOME'];
    const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
    try {
      for (const name of names) delete process.env[name];
      process.env['HOME'] = '/nowhere';
      expect(hasCredentials()).toBe(false);
      process.env['ANTHROPIC_AUTH_TOKEN'] = 'token';
      expect(hasCredentials()).toBe(true);
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });
});
