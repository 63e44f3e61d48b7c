/** What a server asks to wait. */

/** A date with a time of day. `Date.parse` alone would read "soon 5" as a day in May. */
const httpDate = /^\s*[a-z]{3,9},? .*\d{2}:\d{2}:\d{2}/i;

/**
 * Milliseconds to wait by `retry-after-ms`, else by `retry-after` (seconds, or a date by the clock `now`); null when
 * neither is there or can be read, or when it lies in the past.
 */
export function retryAfterMs(headers: Headers | undefined, now: number): number | null {
  const milliseconds = numberOf(headers?.get('retry-after-ms') ?? null);
  if (milliseconds !== null) return milliseconds;
  const text = headers?.get('retry-after') ?? null;
  const seconds = numberOf(text);
  if (seconds !== null) return seconds * 1_000;
  return text === null || !httpDate.test(text) ? null : notNegative(Date.parse(text) - now);
}

function numberOf(text: string | null): number | null {
  if (text === null || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return null;
  return notNegative(Number(text));
}

function notNegative(value: number): number | null {
  return Number.isFinite(value) && value >= 0 ? value : null;
}
