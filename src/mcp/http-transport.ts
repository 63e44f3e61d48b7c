/** Streamable HTTP, with the one thing that the SDK's transport leaves open: a call whose answer can no longer come ends. */
import {
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

/** One look whether the stream of an answer that broke off can be taken up again: a server that is gone stays gone. */
const reconnection = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 1,
} as const;

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>;

export class HttpTransport extends StreamableHTTPClientTransport {
  /** Requests that wait for their answer. */
  readonly #open = new Set<string | number>();

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    super(url, { requestInit: { headers }, reconnectionOptions: reconnection });
  }

  override async start(): Promise<void> {
    const { onmessage } = this;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    this.onmessage = (message: JSONRPCMessage) => {
      if (isJSONRPCResponse(message) && message.id !== undefined) this.#open.delete(message.id);
      onmessage?.(message);
    };
    await super.start();
  }

  override async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!isJSONRPCRequest(message)) return super.send(message, options);
    const { id } = message;
    this.#open.add(id);
    // The SDK would wait for an answer for ever. Closing fails every call that is under way.
    const onRequestStreamEnd = (): void => {
      if (this.#open.has(id)) void this.close();
    };
    try {
      await super.send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
  }
}
