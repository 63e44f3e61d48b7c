/** Puts together what every tool call of a query shares. */
import { realpathSync } from 'node:fs';
import type { PermissionRule } from '../core/tools/context.ts';
import { type Hooks, noHooks } from '../hooks/hook.ts';
import type { PipelineDeps } from './call.ts';
import type { CanUseTool } from './can-use-tool.ts';
import { parseRule } from './permission-rules.ts';
import { createRegistry } from './registry.ts';
import { createMemoryStore, type ResultStore } from './result-store.ts';
import type { Tool } from './tool.ts';

export interface ToolOptions {
  readonly tools: readonly Tool[];
  /** Folder that the session works in. Default: the process's own. */
  readonly cwd?: string;
  /** More folders that tools may touch. Default none. */
  readonly roots?: readonly string[];
  /** Default none. */
  readonly rules?: readonly PermissionRule[];
  /** Default null: nobody is there to ask, so what must be asked is denied. */
  readonly canUseTool?: CanUseTool | null;
  /** Default none. */
  readonly hooks?: Partial<Hooks>;
  /** Default: in memory, which is enough where no tool can read files. */
  readonly store?: ResultStore;
  /** Default nobody. */
  readonly log?: (sentence: string) => void;
}

/**
 * The dependencies of the pipeline with defaults filled in; folders become real paths. Throws for a folder that does not
 * exist, for a rule that is none, and for two tools of one name.
 */
export function createPipelineDeps(options: ToolOptions): PipelineDeps {
  const cwd = realpathSync(options.cwd ?? process.cwd());
  const rules = options.rules ?? [];
  for (const rule of rules) parseRule(rule);
  const registry = createRegistry(options.tools);
  return {
    registry: () => registry,
    hooks: { ...noHooks, ...options.hooks },
    rules,
    canUseTool: options.canUseTool ?? null,
    store: options.store ?? createMemoryStore(),
    cwd,
    roots: [cwd, ...(options.roots ?? []).map((root) => realpathSync(root))],
    ...(options.log === undefined ? {} : { log: options.log }),
  };
}
