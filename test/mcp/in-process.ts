/** MCP servers in the same process, made of the SDK's own parts. */
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import type { McpServersOptions } from '../../src/mcp/servers.ts';
import { McpServers } from '../../src/mcp/servers.ts';

/** Servers by name; each is connected anew at every start. `lost` closes the connection of one, as its death does. */
export function inProcess(
  servers: Readonly<Record<string, (server: McpServer) => void>>,
  options: Partial<McpServersOptions> = {},
): {
  readonly servers: McpServers;
  readonly running: ReadonlyMap<string, McpServer>;
  readonly starts: string[];
} {
  const running = new Map<string, McpServer>();
  const starts: string[] = [];
  const entries = Object.keys(servers).map((name) => ({ name, source: 'a test', config: { command: 'none' } }));
  const made = new McpServers(entries, {
    ...options,
    transport: ({ name }) => {
      const server = new McpServer({ name, version: '1' });
      servers[name]?.(server);
      const [ours, theirs] = InMemoryTransport.createLinkedPair();
      void server.connect(theirs);
      running.set(name, server);
      starts.push(name);
      return ours;
    },
  });
  return { servers: made, running, starts };
}
