/** Answers with status 200 whose body is JSON where an event stream was asked for: how some proxies report an error. */
import { APIError } from '@anthropic-ai/sdk';

/** True for a success that says of itself that it is JSON. */
export function isJsonAnswer(response: Response): boolean {
  return response.ok && /^application\/([\w.-]+\+)?json\b/i.test(response.headers.get('content-type') ?? '');
}

/**
 * The answer, unread, when its body is no error. Without this the SDK's stream would end without a word, and an error
 * that says what is wrong would look like a cut connection.
 *
 * @throws APIError without a status, as for an error inside a stream, when the body is one.
 */
export async function checkJsonAnswer(response: Response): Promise<Response> {
  const text = await response.text();
  const body = parse(text);
  if (typeof body?.error === 'object' && body.error !== null) {
    throw new APIError(undefined, body, undefined, response.headers);
  }
  const { status, statusText, headers } = response;
  return new Response(text, { status, statusText, headers });
}

function parse(text: string): { readonly error?: unknown } | null {
  try {
    return JSON.parse(text) as { readonly error?: unknown } | null;
  } catch {
    return null;
  }
}
