/** A value that survives `JSON.parse(JSON.stringify(value))` unchanged. What is absent is `null`, never `undefined`. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A plain JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A value of the outside that should be a text: the text, or nothing when it is anything else. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** True for an object that is no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value with every text in it well-formed UTF-16: the API refuses half a surrogate pair anywhere. The same object when it is. */
export function wellFormed<Value>(value: Value): Value {
  return isWellFormed(value) ? value : (repaired(value) as Value);
}

/** True when every text in the value, names of members included, is well-formed UTF-16. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly unknown[]).map(repaired);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), repaired(member)]));
}
