/** The scripted model as an HTTP server on loopback. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { ScriptedModel } from './scripted-model.ts';
import { ScriptedReset } from './scripted-wire.ts';

/** A server that listens. */
export interface ScriptedServer {
  /** Base URL for a client: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Ends every connection and the server. */
  readonly close: () => Promise<void>;
}

/** Listens on 127.0.0.1. `port` 0 (the default) takes a free one. */
export async function listen(
  model: ScriptedModel,
  { port = 0 }: { readonly port?: number } = {},
): Promise<ScriptedServer> {
  const server = createServer((request, response) => void serve(model, request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(model: ScriptedModel, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hungUp = new AbortController();
  response.on('close', () => hungUp.abort());
  try {
    await answer(model, request, response, hungUp.signal);
  } catch (error) {
    // What was written before the break arrives, as it does when a real connection breaks in mid-stream.
    if (error instanceof ScriptedReset) await flushed(response);
    else if (!hungUp.signal.aborted) model.violations.push(`The scripted server failed: ${String(error)}`);
    response.destroy();
  }
}

async function answer(
  model: ScriptedModel,
  request: IncomingMessage,
  response: ServerResponse,
  hungUp: AbortSignal,
): Promise<void> {
  const scripted = model.answer({
    method: request.method ?? 'GET',
    path: new URL(request.url ?? '/', 'http://localhost').pathname,
    header: (name) => headerOf(request, name),
    body: await bodyOf(request),
  });
  response.writeHead(scripted.status, scripted.headers);
  response.flushHeaders();
  for await (const chunk of scripted.chunks(hungUp)) {
    if (hungUp.aborted) return;
    if (!response.write(chunk)) await drained(response, hungUp);
  }
  response.end();
}

/** Resolves when the client has read on, or when it is gone. */
function drained(response: ServerResponse, hungUp: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      hungUp.removeEventListener('abort', done);
      resolve();
    };
    if (hungUp.aborted || !response.writableNeedDrain) return resolve();
    response.on('drain', done);
    hungUp.addEventListener('abort', done);
  });
}

/** Resolves when the kernel has everything that was written. */
async function flushed(response: ServerResponse): Promise<void> {
  do await setImmediate();
  while (!response.destroyed && response.writableLength > 0);
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return Array.isArray(value) ? (value[0] ?? null) : (value ?? null);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
