/** MCP servers as people write them: the format of `.mcp.json`, checked entry by entry. */
import { z } from 'zod';

/** A server that is started as a process and spoken to over its standard input and output. */
export interface McpStdioServer {
  readonly type?: 'stdio';
  /** The program; it runs without a shell, in the working folder of the query. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the few variables that every server gets (PATH, HOME and the like). */
  readonly env?: Readonly<Record<string, string>>;
  /** Longest call of one of its tools in milliseconds. Default: that of `McpServersOptions`. */
  readonly timeout?: number;
}

/** A server that is reached over streamable HTTP. */
export interface McpHttpServer {
  readonly type: 'http';
  /** Begins with http:// or https://. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest call of one of its tools in milliseconds. Default: that of `McpServersOptions`. */
  readonly timeout?: number;
}

/** `${VAR}` and `${VAR:-default}` in any text of it are filled in from the environment when the server starts. */
export type McpServerConfig = McpStdioServer | McpHttpServer;

/** A server with its name and where it was written down. */
export interface McpServerEntry {
  readonly name: string;
  /** A file, a flag or an option: for people. */
  readonly source: string;
  readonly config: McpServerConfig;
}

/** Servers that can be used, and one sentence for each that cannot. */
export interface ReadServers {
  readonly entries: readonly McpServerEntry[];
  readonly problems: readonly string[];
}

const texts = z.record(z.string(), z.string());
const timeout = z.number().positive().optional();

// Files of other tools hold further keys; they are no reason to refuse a server.
const stdioServer = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  timeout,
});

const httpServer = z.object({ url: z.string().min(1), headers: texts.optional(), timeout });

/** Reads the value of `mcpServers`; `source` names where it stands. Entries with `disabled: true` are left out. */
export function readServers(servers: unknown, source: string): ReadServers {
  const checked = z.record(z.string(), z.unknown()).safeParse(servers);
  if (!checked.success) {
    const form = '{ "mcpServers": { "name": { "command": "..." } } }';
    return { entries: [], problems: [`The MCP servers of ${source} cannot be read: write them as ${form}.`] };
  }
  const read = Object.entries(checked.data)
    .filter(([, server]) => !isDisabled(server))
    .map(([name, server]) => readServer(name, server, source));
  return {
    entries: read.flatMap((one) => (typeof one === 'string' ? [] : [one])),
    problems: read.filter((one) => typeof one === 'string'),
  };
}

function isDisabled(server: unknown): boolean {
  return typeof server === 'object' && server !== null && 'disabled' in server && server.disabled === true;
}

/** One entry, or a sentence on what is wrong with it; the sentence quotes no value, since a value may be secret. */
function readServer(name: string, server: unknown, source: string): McpServerEntry | string {
  const wrong = (why: string): string => `The MCP server ${JSON.stringify(name)} of ${source} cannot be used: ${why}.`;
  const form = z.looseObject({ type: z.string().optional() }).safeParse(server);
  if (!form.success) return wrong('it is no object');
  const { type = 'command' in form.data ? 'stdio' : 'http' } = form.data;
  switch (type) {
    case 'stdio': {
      const parsed = stdioServer.safeParse(server);
      return parsed.success ? { name, source, config: withoutUndefined(parsed.data) } : wrong(issuesOf(parsed.error));
    }
    case 'http':
    case 'streamable-http': {
      const parsed = httpServer.safeParse(server);
      if (!parsed.success) return wrong(issuesOf(parsed.error));
      return { name, source, config: { type: 'http', ...withoutUndefined(parsed.data) } };
    }
    default:
      return wrong('its type is neither "stdio" nor "http"');
  }
}

function issuesOf(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

function withoutUndefined<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Present<T>;
}
