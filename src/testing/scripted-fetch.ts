/** The scripted model in process: a `fetch` for the real SDK client, with no socket and no timer of its own. */
import type { ScriptedModel } from './scripted-model.ts';

/** A `fetch` that the scripted model answers. Aborts and back-pressure are honoured. */
export function scriptedFetch(model: ScriptedModel): typeof fetch {
  return async (input, init) => {
    const request = input instanceof Request ? input : null;
    const signal = init?.signal ?? request?.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    const body = await textOf(init?.body ?? (await request?.text()));
    signal.throwIfAborted();
    const headers = new Headers(init?.headers ?? request?.headers);
    const answer = model.answer({
      method: init?.method ?? request?.method ?? 'GET',
      path: new URL(input instanceof Request ? input.url : String(input)).pathname,
      header: (name) => headers.get(name),
      body,
    });
    return new Response(bodyOf(answer.chunks, signal), { status: answer.status, headers: answer.headers });
  };
}

/** The SDK sends a text; whatever else a body may be is read as `fetch` reads it. */
async function textOf(body: ConstructorParameters<typeof Response>[0]): Promise<string> {
  return typeof body === 'string' ? body : new Response(body).text();
}

/** Reads a chunk when one is asked for; a broken connection looks as it does from undici. */
function bodyOf(
  chunks: (signal: AbortSignal) => AsyncIterable<string>,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const ended = new AbortController();
  const iterator = chunks(ended.signal)[Symbol.asyncIterator]();
  let onAbort = (): void => {};
  const end = (): void => {
    signal.removeEventListener('abort', onAbort);
    ended.abort();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        onAbort = () => {
          controller.error(signal.reason);
          end();
        };
        signal.addEventListener('abort', onAbort, { once: true });
      },
      async pull(controller) {
        try {
          const result: IteratorResult<string, unknown> = await iterator.next();
          if (ended.signal.aborted) return;
          if (result.done !== true) return controller.enqueue(encoder.encode(result.value));
          controller.close();
        } catch (error) {
          if (ended.signal.aborted) return;
          controller.error(new TypeError('terminated', { cause: error }));
        }
        end();
      },
      // Whoever waits on the clock or stalls is let go first: a generator returns only when it is not waiting.
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
