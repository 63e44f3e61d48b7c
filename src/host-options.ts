/** Options of `query()` that are no plain data, and those that are. */
import { type LoopOptions, loopOptionsSchema } from './options.ts';
import { outputJsonSchema, type OutputSchema } from './output-schema.ts';
import type { QueryOptions } from './query-options.ts';

/** The options that are plain data and that the schema knows; a misspelt name must not pass in silence. */
export function loopOptionsOf(options: QueryOptions): LoopOptions {
  const unknown = Object.keys(options).filter((name) => !(name in loopOptionsSchema.shape) && !hostOptions.has(name));
  if (unknown.length > 0) {
    throw new TypeError(`query() has no option ${unknown.join(', ')}: look for a misspelt name.`);
  }
  const { outputSchema, ...others } = options;
  const plain = Object.entries(others).filter(([name]) => name in loopOptionsSchema.shape);
  const schema =
    outputSchema === undefined || outputSchema === null ? {} : { outputSchema: jsonSchemaOf(outputSchema) };
  return { ...Object.fromEntries(plain), ...schema };
}

/** Checks what a query that compacts was given. Throws a `TypeError` with one sentence. */
export function checkCompact({ compact, prompt }: QueryOptions): void {
  if (compact === undefined) return;
  const given: unknown = compact;
  const hasForm = typeof given === 'object' && given !== null;
  const instructions: unknown = hasForm && 'instructions' in given ? given.instructions : undefined;
  if (!hasForm || (instructions !== undefined && typeof instructions !== 'string')) {
    throw new TypeError("The option compact must be {} or { instructions: '...' }.");
  }
  if (prompt !== undefined) throw new TypeError('A query with the option compact answers no prompt: leave prompt out.');
}

function jsonSchemaOf(schema: OutputSchema): NonNullable<LoopOptions['outputSchema']> {
  if (typeof schema !== 'object')
    throw new TypeError('outputSchema must be a zod schema, or a JSON schema as an object.');
  return outputJsonSchema(schema) as NonNullable<LoopOptions['outputSchema']>;
}

const hostOptions: ReadonlySet<string> = new Set<Exclude<keyof QueryOptions, keyof LoopOptions>>([
  'prompt',
  'messages',
  'toolUseContext',
  'queued',
  'staged',
  'session',
  'compact',
  'apiKey',
  'baseUrl',
  'fetch',
  'headers',
  'tools',
  'mcpServers',
  'agents',
  'journalOf',
  'cwd',
  'additionalRoots',
  'rules',
  'canUseTool',
  'hooks',
  'settingSources',
  'settings',
  'trusted',
  'attachments',
  'memory',
  'skills',
  'fileChanges',
  'appendSystem',
  'signal',
  'abortGraceMs',
  'idleTimeoutMs',
  'deadlineMs',
  'resultStore',
  'log',
  'journal',
  'resume',
  'inspect',
  'parent',
  'beforeEvent',
  'deps',
]);
