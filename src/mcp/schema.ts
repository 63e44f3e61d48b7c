/** The input schema of an MCP tool, in a form that does not make the API refuse every request of the query. */
import type { Tool as McpTool } from '@modelcontextprotocol/client';
import type { JsonObject } from '../core/json.ts';
import { isObject } from '../core/json.ts';

/** What the model is told of the input of a tool, and how its words reach the server. */
export interface ModelSchema {
  readonly inputSchema: JsonObject;
  /** What the schema no longer says, one sentence each, for the description. */
  readonly notes: readonly string[];
  /** The input with the names that the server knows. */
  readonly toServer: (input: JsonObject) => JsonObject;
}

/** Names of properties that the API takes; for another one it refuses the whole request. */
const propertyName = /^[a-zA-Z0-9_.-]{1,64}$/;
const longestName = 64;
/** Longest schema that a note quotes, in characters. */
const longestNote = 1_000;
/** The API takes none of them at the top of a schema. */
const combiners: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf']);

/**
 * As the server gave it, but for two things. What may not stand at the top moves into `notes`; the server still checks it.
 * Properties whose names the API refuses get others, which `toServer` takes back.
 */
export function modelSchema({ inputSchema }: Pick<McpTool, 'inputSchema'>): ModelSchema {
  const entries = Object.entries(structuredClone(inputSchema) as JsonObject);
  const moved = Object.fromEntries(entries.filter(([key]) => combiners.has(key)));
  const rest: JsonObject = { ...Object.fromEntries(entries.filter(([key]) => !combiners.has(key))), type: 'object' };
  const notes = Object.keys(moved).length === 0 ? [] : [movedNote(JSON.stringify(moved))];
  const names = safeNames(isObject(rest['properties']) ? Object.keys(rest['properties']) : []);
  if (names.size === 0) return { inputSchema: rest, notes, toServer: (input) => input };
  const back = new Map([...names].map(([name, safe]) => [safe, name]));
  return {
    inputSchema: withNames(rest, names),
    notes: [...notes, ...[...names].map(([name, safe]) => `${safe} stands for ${JSON.stringify(name)}.`)],
    toServer: (input) => renamed(input, back),
  };
}

/** A description is sent with every request: what is too long for it stays with the server, which says what does not fit. */
function movedNote(schema: string): string {
  return schema.length <= longestNote
    ? `The input must also fit the schema ${schema}.`
    : 'Not every combination of members is accepted: the error says what is wrong.';
}

/** Another name for each that the API refuses; none for the others. */
function safeNames(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(names);
  const safe = new Map<string, string>();
  for (const name of names.filter((one) => !propertyName.test(one))) {
    const plain = name.replaceAll(/[^a-zA-Z0-9_.-]/g, '_').slice(0, longestName) || '_';
    const free = firstFree(plain, taken);
    taken.add(free);
    safe.set(name, free);
  }
  return safe;
}

function firstFree(plain: string, taken: ReadonlySet<string>): string {
  if (!taken.has(plain)) return plain;
  for (let number = 2; ; number += 1) {
    const ending = `_${number}`;
    const name = `${plain.slice(0, longestName - ending.length)}${ending}`;
    if (!taken.has(name)) return name;
  }
}

function withNames(schema: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const properties = schema['properties'] as JsonObject;
  const required = (schema['required'] ?? []) as readonly string[];
  return {
    ...schema,
    properties: renamed(properties, names),
    ...('required' in schema ? { required: required.map((name) => names.get(name) ?? name) } : {}),
  };
}

function renamed(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]));
}
