/**
 * The hooks around a call as the pipeline sees them: what it tells them, and what it is told. How hooks are written and
 * run is the business of `src/hooks`.
 */
import type { PermissionMode } from '../core/config.ts';
import type { JsonObject } from '../core/json.ts';
import type { ToolResultBlock } from '../core/message.ts';
import type { Settled } from './settle.ts';

/** A tool call as hooks see it: paths are absolute, defaults filled in. */
export interface ToolCallView {
  /** The same for all queries that hand on `toolUseContext`. */
  readonly sessionId: string;
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input: JsonObject;
  /** Absolute path of the folder that the session works in. */
  readonly cwd: string;
  readonly permissionMode: PermissionMode;
  /** 0 for the top, 1 for a sub-agent of it, and so on. */
  readonly depth: number;
}

/** A call that has run, and what came of it, before the result budget cut anything. */
export interface ToolResultView extends ToolCallView {
  readonly content: ToolResultBlock['content'];
  readonly isError: boolean;
}

/** What all PreToolUse hooks together say about one call: plain data, recorded as a decision. */
export interface PreToolUseVerdict {
  /** `unsure`: a hook was asked and gave no usable answer. Strength: deny, ask, unsure, allow, pass. */
  readonly behavior: 'pass' | 'allow' | 'unsure' | 'ask' | 'deny';
  /** The hook that decided, and why; null where nobody did. */
  readonly by: string | null;
  readonly reason: string | null;
  /** The input after all changes; null when no hook changed it. */
  readonly input: JsonObject | null;
  /** For the model, one text each, with the name of the hook. */
  readonly contexts: readonly string[];
  /** Why the loop shall stop; null: it shall not. */
  readonly stop: string | null;
  /** What hooks tell the user, and which crashed or hung; one sentence each. */
  readonly notices: readonly string[];
}

/** What all PostToolUse hooks together say about one call. */
export interface PostToolUseVerdict {
  readonly contexts: readonly string[];
  readonly stop: string | null;
  /** What takes the place of the result of an MCP tool; null: nothing. */
  readonly output: string | null;
  /** Hooks that crashed or hung, one sentence each: they make the result an error. */
  readonly broken: readonly string[];
  /** What hooks tell the user, one sentence each. */
  readonly notices: readonly string[];
}

/** Runs a hook within a time in milliseconds, on the caller's clock and under its signal. Never rejects. */
export type AskHook = <Value>(
  work: (signal: AbortSignal) => Value | Promise<Value>,
  timeoutMs: number,
) => Promise<Settled<Value>>;

/** Contract of both: null when no hook cares for a tool of these names; a null verdict after an abort; never rejects. */
export interface ToolHooks {
  readonly preToolUse: (
    names: readonly string[],
  ) => ((call: ToolCallView, ask: AskHook) => Promise<PreToolUseVerdict | null>) | null;
  readonly postToolUse: (
    names: readonly string[],
  ) => ((call: ToolResultView, ask: AskHook) => Promise<PostToolUseVerdict | null>) | null;
}
