/** A tool of an MCP server as a tool of the loop. */
import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import { type Tool, tool } from '../tools/tool.ts';
import { modelSchema } from './schema.ts';
import type { McpServer } from './server.ts';

/**
 * Makes the tool. It is asked for unless a rule allows it: what a server says of its tools (`readOnlyHint`) decides what
 * may run side by side and what plan mode lets through to the question, never whether there is one.
 */
export function toolOf(server: McpServer, listed: McpTool, name: string, callTimeoutMs: number): Tool {
  const { readOnlyHint, destructiveHint, idempotentHint } = listed.annotations ?? {};
  const readOnly = readOnlyHint === true && destructiveHint !== true;
  const warning = destructiveHint === true ? ' and says of itself that it may destroy something' : '';
  const reason = `${listed.name} belongs to the MCP server ${server.entry.name}${warning}.`;
  const { inputSchema, notes, toServer } = modelSchema(listed);
  return tool({
    name,
    description: server.redact([listed.description ?? listed.title ?? '', ...notes].join('\n').trim()),
    // What fits is the server's to say; it answers with an error that the model can read.
    input: z.record(z.string(), z.json()),
    inputSchema,
    isConcurrencySafe: () => readOnly,
    isReadOnly: () => readOnly,
    isReplaySafe: () => readOnly || idempotentHint === true,
    timeoutMs: server.entry.config.timeout ?? callTimeoutMs,
    checkPermission: () => ({ behavior: 'ask', reason }),
    run: (input, { signal, progress }) => server.call(listed.name, toServer(input as JsonObject), { signal, progress }),
  });
}
