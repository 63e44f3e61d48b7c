/** The fingerprint of an input: what binds an approval to the very thing that was approved. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../core/json.ts';

/** SHA-256 in hex of the input as canonical JSON: keys sorted by code unit, no white space. Key order does not matter. */
export function hashInput(input: JsonObject): string {
  return createHash('sha256').update(canonicalJson(input)).digest('hex');
}

/** JSON with sorted keys and without white space; members that JSON cannot say are left out, as `JSON.stringify` does. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value))
    return `[${(value as readonly Json[]).map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = value as JsonObject;
  const keys = Object.keys(members).filter((key) => members[key] !== undefined);
  return `{${keys
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(members[key] ?? null)}`)
    .join(',')}}`;
}

/** A copy as plain JSON, cut off from the original. Throws when the value cannot be said in JSON (a cycle, a BigInt). */
export function jsonCopy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
