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

/** What the model was told of a file that changed on disk after a tool read or wrote it. */
export interface ChangeTold {
  /** Hash of the `FileRecord` that the change was measured against: a newer record makes this one void. */
  readonly since: string;
  /** SHA-256 of the content that was told of, in hex; null when the file was gone. */
  readonly hash: string | null;
  /** True when the model saw the whole change, so that it knows the file as well as before. */
  readonly whole: boolean;
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
  /** Changes on disk that the model was told of, by absolute path. Default: none. */
  readonly changesTold?: Readonly<Record<string, ChangeTold>>;
  /** 0 for the top, 1 for a sub-agent of it, and so on. */
  readonly depth: number;
  /** Ties the requests of one chain of queries together. */
  readonly queryTracking: { readonly chainId: string; readonly depth: number };
}

export type ContextChange =
  | { readonly type: 'fileRead'; readonly path: string; readonly record: FileRecord }
  | { readonly type: 'changeTold'; readonly path: string; readonly told: ChangeTold }
  | { readonly type: 'permissionMode'; readonly mode: PermissionMode }
  | { readonly type: 'ruleAdded'; readonly rule: PermissionRule };

/** The context of the turn with what the tools of the batch changed so far, in the order of the calls. */
export function batchContext({ carried, scratch }: LoopState): ToolUseContext {
  return applyChanges(
    carried.toolUseContext,
    scratch.toolRuns.flatMap((run) => run.outcome?.contextChanges ?? []),
  );
}

/** Adds what was found out after the tools of the batch had ended: it stands behind their own changes. */
export function addBatchChanges(state: LoopState, changes: readonly ContextChange[]): LoopState {
  const last = state.scratch.toolRuns.at(-1);
  if (changes.length === 0 || last?.outcome == null) return state;
  const outcome = { ...last.outcome, contextChanges: [...last.outcome.contextChanges, ...changes] };
  return {
    ...state,
    scratch: { ...state.scratch, toolRuns: [...state.scratch.toolRuns.slice(0, -1), { ...last, outcome }] },
  };
}

/** What is known of a file's content: what was told last, else what was read or written last; null when it was gone. */
export function knownHash({ filesRead, changesTold }: ToolUseContext, path: string): string | null {
  const record = filesRead[path];
  const told = changesTold?.[path];
  return told !== undefined && told.since === record?.hash ? told.hash : (record?.hash ?? null);
}

/** Applies changes in order; the same object comes back when there is none. */
export function applyChanges(context: ToolUseContext, changes: readonly ContextChange[]): ToolUseContext {
  return changes.reduce(applyChange, context);
}

function applyChange(context: ToolUseContext, change: ContextChange): ToolUseContext {
  switch (change.type) {
    case 'fileRead':
      return { ...context, filesRead: { ...context.filesRead, [change.path]: change.record } };
    case 'changeTold':
      return { ...context, changesTold: { ...context.changesTold, [change.path]: change.told } };
    case 'permissionMode':
      return { ...context, permissionMode: change.mode };
    case 'ruleAdded':
      return { ...context, addedRules: [...context.addedRules, change.rule] };
  }
}
