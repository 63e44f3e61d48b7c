/** One connection to an MCP server through the official SDK. Loaded when a server is started: the SDK is large. */
import { pathToFileURL } from 'node:url';
import {
  type CallToolResult,
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Tool as McpTool,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../core/json.ts';
import { settle } from '../tools/settle.ts';
import type { McpServerConfig } from './config.ts';
import { HttpTransport } from './http-transport.ts';
import { ProcessTransport } from './process-transport.ts';

/** Time is kept on the injected clock, by who calls; this is the longest that a timer of Node takes, in milliseconds. */
const noTimeout = 2_147_483_647;
/** How long a server may take to hear that its session is over, in milliseconds. */
const goodbyeMs = 500;

/** What a connection needs. */
export interface ConnectOrder {
  /** Every variable filled in. */
  readonly config: McpServerConfig;
  /** The whole environment of a process. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of a process, and what the server is told to be its root. */
  readonly cwd: string;
  readonly clock: Clock;
  /** In place of the transport that `config` asks for: tests, servers in process. */
  readonly transport: Transport | null;
  readonly signal: AbortSignal;
  /** The server is gone, by itself. */
  readonly onEnd: () => void;
  readonly onToolsChanged: () => void;
}

/** What is told of a call while it runs. */
export interface CallOrder {
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

export interface Link {
  readonly listTools: (signal: AbortSignal) => Promise<readonly McpTool[]>;
  readonly callTool: (name: string, input: JsonObject, order: CallOrder) => Promise<CallToolResult>;
  /** How a process ended, when it has. */
  readonly lastWords: () => string | null;
  /** Resolves when nothing is left of it. */
  readonly close: () => Promise<void>;
}

/** Connects and shakes hands. Rejects with what went wrong; nothing is left running then. */
export async function connect(order: ConnectOrder): Promise<Link> {
  const transport = order.transport ?? transportOf(order);
  const client = clientFor(order);
  let isClosing = false;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
  client.onclose = () => {
    if (!isClosing) order.onEnd();
  };
  const close = async (): Promise<void> => {
    isClosing = true;
    if (transport instanceof HttpTransport) await sayGoodbye(transport, order.clock);
    await client.close();
    await transport.close();
  };
  try {
    await client.connect(transport, { signal: order.signal, timeout: noTimeout });
  } catch (error) {
    isClosing = true;
    await transport.close();
    // That the connection was closed is what the SDK knows; how the process ended says more.
    const lastWords = transport instanceof ProcessTransport ? transport.lastWords : null;
    throw lastWords === null || order.signal.aborted ? error : new Error(lastWords, { cause: error });
  }
  return {
    listTools: async (signal) => {
      if (client.getServerCapabilities()?.tools === undefined) return [];
      return (await client.listTools(undefined, { signal, timeout: noTimeout })).tools;
    },
    callTool: (name, input, { signal, progress }) =>
      client.callTool(
        { name, arguments: input },
        { signal, timeout: noTimeout, onprogress: (told) => progress(progressText(told)) },
      ),
    lastWords: () => (transport instanceof ProcessTransport ? transport.lastWords : null),
    close,
  };
}

function transportOf({ config, env, cwd, clock }: ConnectOrder): Transport {
  if (config.type === 'http') return new HttpTransport(httpUrl(config.url), config.headers ?? {});
  return new ProcessTransport({ command: config.command, args: config.args ?? [], env, cwd, clock });
}

function httpUrl(url: string): URL {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url);
  throw new Error('its url is no address that begins with http:// or https://');
}

function clientFor({ cwd, onToolsChanged }: ConnectOrder): Client {
  const client = new Client({ name: 'escapement', version: '1' }, { capabilities: { roots: {} } });
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(cwd).href }] }));
  client.setNotificationHandler('notifications/tools/list_changed', onToolsChanged);
  return client;
}

/** A session on the server ends when it is told so; a server that does not listen is not waited for. */
async function sayGoodbye(transport: HttpTransport, clock: Clock): Promise<void> {
  const { signal } = new AbortController();
  await settle(() => transport.terminateSession(), { clock, signal, timeoutMs: goodbyeMs });
}

function progressText(told: { progress: number; total?: number | undefined; message?: string | undefined }): string {
  const share = told.total === undefined ? String(told.progress) : `${told.progress}/${told.total}`;
  return told.message === undefined || told.message === '' ? share : `${told.message} (${share})`;
}

/**
 * `lost`: the server is gone, and what the call has done is not known. `undelivered`: it is gone or knows the session no
 * more, and has not seen the call. `refused`: it is there and does not want it.
 */
export function faultOf(error: unknown): 'lost' | 'undelivered' | 'refused' {
  if (error instanceof ProtocolError) return 'refused';
  if (error instanceof SdkHttpError) return isSessionLost(error) ? 'undelivered' : 'refused';
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) return 'refused';
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return 'undelivered';
  return codeOf(error) === 'ECONNREFUSED' ? 'undelivered' : 'lost';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined)?.code : undefined;
}

/** A server that was started anew answers 404, or (against the protocol) 400 with a word on the session. */
function isSessionLost(error: SdkHttpError): boolean {
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
}

/** What went wrong, in a clause. Node says of a connection only "fetch failed"; its cause says more. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403)) {
    return `it wants a login (${error.status}): give it a header Authorization`;
  }
  const { cause } = error;
  const more = cause instanceof Error && !error.message.includes(cause.message) ? ` (${causeText(cause)})` : '';
  return `${error.message.replace(/\.$/, '')}${more}`;
}

function causeText(cause: Error): string {
  const { code } = cause as NodeJS.ErrnoException;
  return cause.message === '' ? (code ?? cause.name) : cause.message;
}
