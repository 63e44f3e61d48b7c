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

const hostOptions: ReadonlySet<string> = new Set<Exclude<keyof QueryOptions, keyof LoopOptions>>([
  'prompt',
  'messages',
  'toolUseContext',
  'queued',
  'staged',
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
