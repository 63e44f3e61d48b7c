/** The scripted model as an HTTP server on loopback. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ScriptedModel } from './scripted-model.ts';
import { ScriptedReset } from './scripted-wire.ts';

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
    const answer = model.answer({
      method: request.method ?? 'GET',
      path: new URL(request.url ?? '/', 'http://localhost').pathname,
      header: (name) => headerOf(request, name),
      body: await bodyOf(request),
    });
    response.writeHead(answer.status, answer.headers);
    for await (const chunk of answer.chunks(hungUp.signal)) {
      if (hungUp.signal.aborted) return;
      if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
    response.end();
  } catch (error) {
    if (error instanceof ScriptedReset || hungUp.signal.aborted) response.destroy();
    else throw error;
  }
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
