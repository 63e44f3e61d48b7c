/** Options of `query()` that are no plain data, and those that are. */
import { type LoopOptions, loopOptionsSchema } from './options.ts';
import type { QueryOptions } from './prepare.ts';

/** The options that are plain data and that the schema knows; a misspelt name must not pass in silence. */
export function loopOptionsOf(options: QueryOptions): LoopOptions {
  const unknown = Object.keys(options).filter((name) => !(name in loopOptionsSchema.shape) && !hostOptions.has(name));
  if (unknown.length > 0) {
    throw new TypeError(`query() has no option ${unknown.join(', ')}: look for a misspelt name.`);
  }
  return Object.fromEntries(Object.entries(options).filter(([name]) => name in loopOptionsSchema.shape));
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
  'cwd',
  'additionalRoots',
  'rules',
  'canUseTool',
  'hooks',
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
  'beforeEvent',
  'deps',
]);
