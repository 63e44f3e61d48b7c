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
