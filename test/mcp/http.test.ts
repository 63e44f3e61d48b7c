import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMcpServers } from '../../src/mcp/servers.ts';

/** Answers every request in one way, until the test is over. */
async function serveWith(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port.');
  return `http://127.0.0.1:${address.port}/mcp?key=key-of-the-query`;
}

async function startWith(url: string): Promise<readonly string[]> {
  const headers = { Authorization: 'Bearer ${SOME_VARIABLE}', 'X-Own': 'own-secret' };
  const servers = createMcpServers(
    { web: { type: 'http', url, headers } },
    { env: { SOME_VARIABLE: 'of-the-header' } },
  );
  onTestFinished(() => servers.close());
  return servers.start();
}

describe('a server over HTTP that refuses', () => {
  it.each([401, 403])('wants a login: %d', async (status) => {
    const url = await serveWith((_request, response) => response.writeHead(status).end());
    expect(await startWith(url)).toEqual([
      `The MCP server web did not start: it wants a login (${status}): give it a header Authorization. The query goes on without its tools.`,
    ]);
  });

  it('sends back what it was sent: no secret is said', async () => {
    const url = await serveWith((request, response) =>
      response.writeHead(500).end(`${JSON.stringify(request.headers)} ${request.url}`),
    );
    const [notice] = await startWith(url);
    expect(notice).toContain('[secret]');
    expect(notice).not.toMatch(/of-the-header|own-secret|key-of-the-query/);
  });

  it('sends elsewhere: the headers do not go there', async () => {
    const seen: unknown[] = [];
    const other = await serveWith((request, response) => {
      seen.push(request.headers);
      response.writeHead(200).end();
    });
    const url = await serveWith((_request, response) => response.writeHead(307, { location: other }).end());
    expect(await startWith(url)).toHaveLength(1);
    expect(seen).toEqual([]);
  });
});
