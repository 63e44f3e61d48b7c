/** A server on loopback whose answers are written by hand: for what no script can say. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { StreamEvent } from '../../src/model/transport.ts';

export interface RawServer {
  readonly url: string;
  /** Every connection that was made, oldest first. */
  readonly sockets: readonly Socket[];
  readonly close: () => Promise<void>;
}

export async function rawServer(listener: RequestListener): Promise<RawServer> {
  const sockets: Socket[] = [];
  const server = createServer(listener);
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, sockets, close };
}

/** Answers with an event stream once the request was read, and ends it. */
export function answering(text: string): RequestListener {
  return (request, response) => void read(request).then(() => beginStream(response).end(text));
}

/** Answers with an event stream that stays open. */
export function stayingOpen(text: string): RequestListener {
  return (request, response) => void read(request).then(() => beginStream(response).write(text));
}

export function beginStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** The whole body of a request. */
export async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Events in the framing of server-sent events. */
export function frames(...events: readonly StreamEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

export const messageStart: StreamEvent = { type: 'message_start', message: { id: 'm', usage: { input_tokens: 7 } } };

export const textStart: StreamEvent = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'text', text: '' },
};

export function textDelta(text: string): StreamEvent {
  return { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
}

export function stopped(reason: string | null): readonly StreamEvent[] {
  return [
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ];
}

/** A whole answer. */
export const wholeAnswer = frames(messageStart, textStart, textDelta('hi'), ...stopped('end_turn'));
