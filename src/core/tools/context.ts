/** What tools share over a query: plain data, changed only by `ContextChange`s in the order of the calls. */
import type { PermissionMode } from '../config.ts';
import type { LoopState } from '../state.ts';

/** What was known of a file when a tool read or wrote it last; Edit and Write compare it with the disk. */
export interface FileRecord {
  /** Modification time in milliseconds, as the file system gives it. */
  readonly mtimeMs: number;
  /** SHA-256 of the whole content in hex. */
  readonly hash: string;
  /** True when only a part of the file was shown to the model. */
  readonly partial: boolean;
}

export interface PermissionRule {
  readonly behavior: 'allow' | 'deny' | 'ask';
  /** `Tool` or `Tool(pattern)`. */
  readonly rule: string;
}

export interface ToolUseContext {
  readonly permissionMode: PermissionMode;
  /** Rules that were added while the query ran. */
  readonly addedRules: readonly PermissionRule[];
  /** By absolute path. */
  readonly filesRead: Readonly<Record<string, FileRecord>>;
  /** 0 for the top, 1 for a sub-agent of it, and so on. */
  readonly depth: number;
  /** Ties the requests of one chain of queries together. */
  readonly queryTracking: { readonly chainId: string; readonly depth: number };
}

export type ContextChange =
  | { readonly type: 'fileRead'; readonly path: string; readonly record: FileRecord }
  | { readonly type: 'permissionMode'; readonly mode: PermissionMode }
  | { readonly type: 'ruleAdded'; readonly rule: PermissionRule };

/** The context of the turn with what the tools of the batch changed so far, in the order of the calls. */
export function batchContext({ carried, scratch }: LoopState): ToolUseContext {
  return applyChanges(
    carried.toolUseContext,
    scratch.toolRuns.flatMap((run) => run.outcome?.contextChanges ?? []),
  );
}

/** Applies changes in order; the same object comes back when there is none. */
export function applyChanges(context: ToolUseContext, changes: readonly ContextChange[]): ToolUseContext {
  return changes.reduce(applyChange, context);
}

function applyChange(context: ToolUseContext, change: ContextChange): ToolUseContext {
  switch (change.type) {
    case 'fileRead':
      return { ...context, filesRead: { ...context.filesRead, [change.path]: change.record } };
    case 'permissionMode':
      return { ...context, permissionMode: change.mode };
    case 'ruleAdded':
      return { ...context, addedRules: [...context.addedRules, change.rule] };
  }
}
