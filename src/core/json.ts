/** A value that survives `JSON.parse(JSON.stringify(value))` unchanged. What is absent is `null`, never `undefined`. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A plain JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}
