/** What to say about a value that was thrown: JavaScript lets any value be thrown, and any of them may resist a look. */

const longest = 2_000;
const indescribable = 'Something was thrown that cannot be described.';

/** One sentence (or the error's own message) for any thrown value. Never throws; at most 2,000 characters. */
export function describeThrown(value: unknown): string {
  try {
    const text = describe(value).trim();
    return text === '' ? 'An error without a message was thrown.' : text.slice(0, longest).toWellFormed();
  } catch {
    // A getter, a proxy or a `toString` of the value threw in its turn.
    return indescribable;
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return describeError(value);
  if (typeof value === 'object' && value !== null) return `An object was thrown: ${JSON.stringify(value)}`;
  return `A value was thrown: ${String(value)}`;
}

function describeError(error: Error): string {
  // An own `message` may be anything; only a string is a message.
  const message: unknown = error.message;
  if (typeof message === 'string' && message !== '') return message;
  return typeof error.name === 'string' ? error.name : '';
}
