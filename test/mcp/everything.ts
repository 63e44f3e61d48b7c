/** A real MCP server from npm, over both transports. */
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';

const require = createRequire(import.meta.url);
const script = join(dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')), 'dist/index.js');

/** Over the standard streams. */
export const overStdio = { command: process.execPath, args: [script, 'stdio'] } as const;

interface HttpServer {
  readonly url: string;
  /** Kills the process, as a crash does; resolves when it is gone. */
  readonly kill: () => Promise<void>;
  /** Starts it anew on the same port. */
  readonly restart: () => Promise<void>;
}

/** Over streamable HTTP, on a port of its own; ends with the test. */
export async function overHttp(): Promise<HttpServer> {
  const port = await freePort();
  let running = await startHttp(port);
  onTestFinished(() => running());
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    kill: () => running(),
    restart: async () => {
      running = await startHttp(port);
    },
  };
}

async function startHttp(port: number): Promise<() => Promise<void>> {
  const child = execa(process.execPath, [script, 'streamableHttp'], {
    env: { PORT: String(port) },
    stdout: 'ignore',
    buffer: false,
    reject: false,
  });
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('listening')) resolve();
    });
  });
  return async () => {
    child.kill('SIGKILL');
    await child;
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No port.');
  return address.port;
}
