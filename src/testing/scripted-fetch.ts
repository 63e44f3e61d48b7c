/** The scripted model in process: a `fetch` for the real SDK client, with no socket and no timer of its own. */
import type { ScriptedModel } from './scripted-model.ts';

/** A `fetch` that the scripted model answers. Aborts and back-pressure are honoured. */
export function scriptedFetch(model: ScriptedModel): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    const headers = new Headers(init?.headers);
    const signal = init?.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    const answer = model.answer({
      method: init?.method ?? 'GET',
      path: url.pathname,
      header: (name) => headers.get(name),
      body: typeof init?.body === 'string' ? init.body : '',
    });
    return new Response(bodyOf(answer.chunks(signal), signal), { status: answer.status, headers: answer.headers });
  };
}

/** Reads a chunk when one is asked for; a broken connection looks as it does from undici. */
function bodyOf(chunks: AsyncIterable<string>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const result: IteratorResult<string, unknown> = await iterator.next();
          if (signal.aborted) controller.error(signal.reason);
          else if (result.done === true) controller.close();
          else controller.enqueue(encoder.encode(result.value));
        } catch (error) {
          controller.error(signal.aborted ? signal.reason : new TypeError('terminated', { cause: error }));
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
