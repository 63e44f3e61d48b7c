/** The transport against answers that are odd on the wire, through the real client and a real socket. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { WireRequest } from '../../src/core/wire/request-type.ts';
import { createClient } from '../../src/model/client.ts';
import { classify } from '../../src/model/errors.ts';
import { requestFacts } from '../../src/model/facts.ts';
import { type CallIo, createTransport, type StreamEvent, type TransportOptions } from '../../src/model/transport.ts';
import {
  answering,
  beginStream,
  frames,
  messageStart,
  type RawServer,
  rawServer,
  read,
  stayingOpen,
  textDelta,
  textStart,
  wholeAnswer,
} from './raw-server.ts';

const request: WireRequest = {
  model: 'claude-opus-4-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi 😀' }] }],
};
const servers: RawServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(listener: RequestListener): Promise<RawServer> {
  const server = await rawServer(listener);
  servers.push(server);
  return server;
}

function callTo(
  { url }: RawServer,
  options: TransportOptions = {},
  io: Partial<CallIo> = {},
): AsyncIterable<StreamEvent> {
  const call = createTransport(() => createClient({ apiKey: 'k', baseUrl: url }), options);
  const signal = new AbortController().signal;
  return call(request, { purpose: 'model', signal, clock: systemClock, ready: () => Promise.resolve(), ...io });
}

/** The types of the events, and the class and sentence of a failure as the last entry. */
async function outcome(events: AsyncIterable<StreamEvent>): Promise<readonly string[]> {
  const seen: string[] = [];
  try {
    for await (const event of events) seen.push(event.type);
  } catch (error) {
    const failure = classify(error, requestFacts(request, 0));
    seen.push(`failed: ${failure.class}`, failure.message);
  }
  return seen;
}

describe('transport on odd answers', () => {
  it.each<[string, RequestListener, readonly string[]]>([
    ['an empty 200', (_request, response) => response.writeHead(200).end(), []],
    ['a clean end', answering(frames(messageStart, textStart)), ['message_start', 'content_block_start']],
    [
      'a 200 of JSON with an error inside',
      (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
          .end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
      ['failed: overloaded', 'Overloaded'],
    ],
    [
      'a 200 of JSON that is no error',
      (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"type":"message"}'),
      [],
    ],
    [
      'a line that is no JSON',
      answering(`${frames(messageStart)}event: content_block_delta\ndata: {"a\n\n`),
      ['message_start', 'failed: incomplete', expect.stringMatching(/^The stream could not be read: /) as string],
    ],
    ['data that is no event', answering('event: a\ndata: null\n\nevent: b\ndata: 5\n\nevent: c\ndata: []\n\n'), []],
    [
      'an error inside the stream that says that the input is too long',
      answering(
        `${frames(messageStart)}event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 5 maximum"}}\n\n`,
      ),
      ['message_start', 'failed: overflow', 'prompt is too long: 9 tokens > 5 maximum'],
    ],
    [
      'an error that is plain text',
      (_request, response) => response.writeHead(413).end('prompt is too long'),
      ['failed: overflow', 'prompt is too long'],
    ],
  ])('tells %s', async (_name, listener, expected) => {
    expect(await outcome(callTo(await serve(listener)))).toEqual(expected);
  });

  it('waits no longer for headers than for bytes, and closes the connection', async () => {
    const server = await serve(() => {});
    expect(await outcome(callTo(server, { idleTimeoutMs: 50 }))).toEqual([
      'failed: timeout',
      'The server did not begin to answer within 50 ms.',
    ]);
    await closed(server.sockets[0]!);
  });

  it('closes the connection of a stream that stalls', async () => {
    const server = await serve(stayingOpen(frames(messageStart)));
    expect(await outcome(callTo(server, { idleTimeoutMs: 50 }))).toEqual([
      'message_start',
      'failed: stall',
      'The server sent nothing for 50 ms.',
    ]);
    await closed(server.sockets[0]!);
  });
});

async function closed(socket: Socket): Promise<void> {
  if (!socket.destroyed) await once(socket, 'close');
}

describe('transport, aborted', () => {
  it('sends nothing when it was aborted before', async () => {
    const server = await serve(() => {});
    await outcome(callTo(server, {}, { signal: AbortSignal.abort() }));
    expect(server.sockets).toEqual([]);
  });

  it('closes the connection before the headers', async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort());
    await outcome(callTo(server, {}, { signal: controller.signal }));
    await closed(server.sockets[0]!);
  });

  it.each([
    ['reads', () => Promise.resolve()],
    ['holds', () => new Promise<void>(() => {})],
  ])('closes the connection in the middle while the consumer %s', async (_name, later) => {
    const controller = new AbortController();
    const server = await serve(stayingOpen(frames(messageStart)));
    let ready: () => Promise<void> = () => Promise.resolve();
    const events = callTo(server, {}, { signal: controller.signal, ready: () => ready() })[Symbol.asyncIterator]();
    await events.next();
    ready = later;
    const next = events.next();
    await wait(20);
    controller.abort();
    expect((await next).done).toBe(true);
    await closed(server.sockets[0]!);
  });

  it('leaves no listener on the signal of the caller', async () => {
    const server = await serve(answering(wholeAnswer));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal) as (...args: unknown[]) => void;
    const remove = signal.removeEventListener.bind(signal) as (...args: unknown[]) => void;
    signal.addEventListener = (...args: unknown[]) => ((listeners += 1), add(...args));
    signal.removeEventListener = (...args: unknown[]) => ((listeners -= 1), remove(...args));
    for (let call = 0; call < 5; call += 1) await outcome(callTo(server, {}, { signal }));
    expect(listeners).toBe(0);
  });
});

describe('transport, what it sends', () => {
  it('sends the bytes of JSON.stringify, and their number, and says nothing on the console', async () => {
    const sent: { body: string; headers: IncomingHttpHeaders; url: string | undefined }[] = [];
    const server = await serve((message, response) => {
      const { headers, url } = message;
      void read(message).then((body) => {
        sent.push({ body, headers, url });
        return beginStream(response).end(wholeAnswer);
      });
    });
    const warned: unknown[] = [];
    const before = console.warn;
    console.warn = (...words: unknown[]) => void warned.push(words);
    try {
      await outcome(callTo(server));
    } finally {
      console.warn = before;
    }
    const body = JSON.stringify({ ...request, stream: true });
    expect(sent[0]).toMatchObject({ body, url: '/v1/messages' });
    expect(sent[0]?.headers['content-length']).toBe(String(Buffer.byteLength(body)));
    expect(sent[0]?.headers['anthropic-beta']).toBeUndefined();
    // The model is one that the SDK calls deprecated: it would say so at every request.
    expect(warned).toEqual([]);
  });

  it('adds its beta to those of the caller', async () => {
    const betas: unknown[] = [];
    const server = await serve((message, response) => {
      betas.push(message.headers['anthropic-beta']);
      message.resume();
      beginStream(response).end(wholeAnswer);
    });
    const headers = { 'anthropic-beta': 'mine-2026-01-01' };
    const call = createTransport(() => createClient({ apiKey: 'k', baseUrl: server.url, headers }));
    const { signal } = new AbortController();
    const output_config = { task_budget: { type: 'tokens', total: 9 } };
    const io = { purpose: 'model', signal, clock: systemClock, ready: () => Promise.resolve() } as const;
    await outcome(call({ ...request, output_config }, io));
    expect(betas).toEqual(['mine-2026-01-01, task-budgets-2026-03-13']);
  });

  it('uses a connection again, also when its reader leaves at the end of the message', async () => {
    const server = await serve((message, response) => {
      message.resume();
      beginStream(response).write(wholeAnswer);
      // The end of the body in a packet of its own, as it comes from afar.
      setTimeout(() => response.end(), 5);
    });
    for (let call = 0; call < 8; call += 1) {
      for await (const event of callTo(server)) if (event.type === 'message_stop') break;
    }
    // Node's fetch makes a second one at its start.
    expect(server.sockets.length).toBeLessThanOrEqual(2);
  });
});

describe('transport, while the consumer holds', () => {
  it('takes one chunk at most from the body', async () => {
    const chunk = new TextEncoder().encode(frames(textDelta('x'.repeat(16_000))));
    let taken = 0;
    const body = (): ReadableStream<Uint8Array> =>
      new ReadableStream(
        {
          pull: (controller) => {
            taken += chunk.length;
            controller.enqueue(chunk);
          },
        },
        { highWaterMark: 0 },
      );
    const fetch = (): Promise<Response> =>
      Promise.resolve(new Response(body(), { headers: { 'content-type': 'text/event-stream' } }));
    const call = createTransport(() => createClient({ apiKey: 'k', baseUrl: 'http://x.invalid', fetch }));
    const controller = new AbortController();
    let holds = false;
    const ready = (): Promise<void> => (holds ? new Promise(() => {}) : Promise.resolve());
    const io = { purpose: 'model', signal: controller.signal, clock: systemClock, ready } as const;
    const events = call(request, io)[Symbol.asyncIterator]();
    await events.next();
    holds = true;
    const before = taken;
    const next = events.next();
    await wait(50);
    expect(taken - before).toBeLessThanOrEqual(64 * 1024);
    controller.abort();
    await next;
  });

  it('lets a socket run ahead by no more than the buffers of Node', async () => {
    const piece = frames(textDelta('x'.repeat(2_000)));
    const server = await serve((message, response) => {
      message.resume();
      beginStream(response);
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    });
    const sockets: Socket[] = [];
    const onConnect = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
    subscribe('undici:client:connected', onConnect);
    const controller = new AbortController();
    let holds = false;
    const ready = (): Promise<void> => (holds ? new Promise(() => {}) : Promise.resolve());
    const events = callTo(server, {}, { signal: controller.signal, ready })[Symbol.asyncIterator]();
    try {
      await events.next();
      holds = true;
      const bytes = (): number => sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
      const drained = drain(events);
      const quiet = await untilStill(bytes);
      // The server never stops writing. Our own part of this is one chunk; the rest are buffers of the socket and of
      // fetch, 64 KiB each, which nobody can make smaller from outside.
      expect(quiet).toBeLessThanOrEqual(5 * 64 * 1024);
      controller.abort();
      await drained;
    } finally {
      unsubscribe('undici:client:connected', onConnect);
      controller.abort();
    }
  });
});

async function drain(events: AsyncIterator<StreamEvent>): Promise<void> {
  while ((await events.next()).done !== true);
}

/** The figure once it has not moved for a while. */
async function untilStill(figure: () => number): Promise<number> {
  for (let last = -1, still = 0; still < 5; ) {
    await wait(20);
    still = figure() === last ? still + 1 : 0;
    last = figure();
  }
  return figure();
}
