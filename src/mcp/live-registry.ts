/** The tools of a query as they are now: those that never change, and behind them those of MCP servers. */
import { createRegistry, type ToolRegistry } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import type { McpServers } from './servers.ts';

/**
 * Gives the registry of now; the same object until a server changes its tools.
 *
 * @throws TypeError at once when two of the fixed tools share a name; an MCP tool never takes the name of another.
 */
export function liveRegistry(fixed: readonly Tool[], servers: McpServers | null): () => ToolRegistry {
  const alone = createRegistry(fixed);
  if (servers === null) return () => alone;
  const taken = new Set(fixed.flatMap(({ name, aliases }) => [name, ...aliases]));
  let known: { readonly tools: readonly Tool[]; readonly registry: ToolRegistry } | null = null;
  return () => {
    const tools = servers.tools(taken);
    if (known?.tools !== tools) known = { tools, registry: createRegistry([...fixed, ...tools]) };
    return known.registry;
  };
}
