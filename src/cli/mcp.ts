/** MCP servers of the command line: found once, started by the first query, kept open until the conversation ends. */
import { findMcpServers, type McpSources } from '../mcp/load.ts';
import { McpServers } from '../mcp/servers.ts';
import { type CliIo, UsageError } from './io.ts';
import { visible } from './visible.ts';

/** How long a server may take to start, and a call of its tools, in milliseconds: names that other agents use too. */
const variables = { startTimeoutMs: 'MCP_TIMEOUT', callTimeoutMs: 'MCP_TOOL_TIMEOUT' } as const;

/**
 * The servers, or null when there are none. Says in one sentence on the error stream what was not started and why.
 *
 * @throws UsageError when `--mcp-config` cannot be used.
 */
export function mcpServersFor(sources: McpSources, io: CliIo): McpServers | null {
  const { entries, notices } = found(sources);
  for (const notice of notices) io.err(io.colors.dim(`${visible(notice)}\n`));
  if (entries.length === 0) return null;
  return new McpServers(entries, {
    cwd: sources.cwd,
    env: io.env,
    ...timeout('startTimeoutMs', io),
    ...timeout('callTimeoutMs', io),
  });
}

function found(sources: McpSources): ReturnType<typeof findMcpServers> {
  try {
    return findMcpServers(sources);
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

function timeout(option: keyof typeof variables, { env }: CliIo): { readonly [Name in typeof option]?: number } {
  const name = variables[option];
  const value = env[name]?.trim() ?? '';
  if (value === '') return {};
  const ms = Number(value);
  if (!(ms > 0) || !Number.isFinite(ms)) throw new UsageError(`${name} is "${value}": write milliseconds above 0.`);
  return { [option]: ms };
}
