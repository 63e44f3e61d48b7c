/** The kinds of hooks: functions of the host that watch tools and the end of a turn, and may object. */
import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import type { Message } from '../core/message.ts';
import type { ToolCallView, ToolResultView } from '../tools/hook-port.ts';

/** How long a hook may take when it says nothing else, in milliseconds: the number that coding agents document. */
export const defaultHookTimeoutMs = 60_000;

interface HookBase {
  /** Stands in every sentence about the hook, so that a user finds it. */
  readonly name: string;
  /** Longest run in milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
}

interface ToolHookBase extends HookBase {
  /** Names of the tools that it is asked about. Default: all. */
  readonly tools?: readonly string[];
}

/** What a PreToolUse hook may say; members go together, and an empty answer is a pass. */
export interface PreToolUseAnswer {
  /** `deny` is final; `ask` forces the prompt; `allow` skips it, but no deny or ask rule. */
  readonly decision?: 'allow' | 'deny' | 'ask' | undefined;
  /** Why; the model reads it after a denial. */
  readonly reason?: string | undefined;
  /** Replaces the input; checked like one of the model. An earlier hook's `allow` does not hold for it. */
  readonly input?: JsonObject | undefined;
  /** Shown to the model behind the results of the turn. */
  readonly context?: string | undefined;
  /** Ends the query after this batch of tools (`hook_stopped`), for this reason; the call itself does not run. */
  readonly stop?: string | undefined;
}

/**
 * Contract: asked in order, before permission, with a copy of the input; a throw, a hang or nonsense
 * counts as `ask`, with a notice.
 */
export interface PreToolUseHook extends ToolHookBase {
  readonly run: (
    call: ToolCallView,
    signal: AbortSignal,
  ) => PreToolUseAnswer | undefined | void | Promise<PreToolUseAnswer | undefined | void>;
}

/** What a PostToolUse hook may say; an empty answer is a pass. */
export interface PostToolUseAnswer {
  /** Shown to the model behind the results of the turn. */
  readonly context?: string | undefined;
  /** Ends the query after this batch of tools (`hook_stopped`), for this reason. */
  readonly stop?: string | undefined;
}

/** Contract: asked side by side after every run; a throw, a hang or nonsense makes an error result that keeps the output. */
export interface PostToolUseHook extends ToolHookBase {
  readonly run: (
    call: ToolResultView,
    signal: AbortSignal,
  ) => PostToolUseAnswer | undefined | void | Promise<PostToolUseAnswer | undefined | void>;
}

/** What a Stop hook is told. */
export interface StopView {
  /** A stop hook has forced a retry before in this query: a hook that always blocks should let go now. */
  readonly stopHookActive: boolean;
  /** The conversation, the answer that says "done" last. */
  readonly messages: readonly Message[];
}

/** What a Stop hook may say; an empty answer is a pass. */
export interface StopAnswer {
  /** What is still wrong, one entry each; the model is sent back to work. */
  readonly block?: readonly string[] | undefined;
  /** Ends the query (`stop_hook_prevented`), for this reason; beats the blocks of other hooks. */
  readonly prevent?: string | undefined;
}

/** Contract: asked side by side when the model says that it is done; a throw, a hang or nonsense is a pass with a notice. */
export interface StopHook extends HookBase {
  readonly run: (
    view: StopView,
    signal: AbortSignal,
  ) => StopAnswer | undefined | void | Promise<StopAnswer | undefined | void>;
}

/** The function hooks of a query; each list may be empty. */
export interface Hooks {
  readonly preToolUse: readonly PreToolUseHook[];
  readonly postToolUse: readonly PostToolUseHook[];
  readonly stop: readonly StopHook[];
  /** In place of `stop` where the query is one of a sub-agent (`querySource: 'agent:...'`). */
  readonly subagentStop: readonly StopHook[];
}

/** No hooks at all. */
export const noHooks: Hooks = { preToolUse: [], postToolUse: [], stop: [], subagentStop: [] };

// Hooks are foreign code: what they answer is checked, and an unknown key is nonsense (a misspelt `deny` must not pass).

const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;
const text = z.string().optional();

/** Checks what a PreToolUse hook answers. */
export const preToolUseAnswer: z.ZodType<PreToolUseAnswer | undefined> = z
  .strictObject({
    decision: z.enum(['allow', 'deny', 'ask']).optional(),
    reason: text,
    input: jsonObject.optional(),
    context: text,
    stop: text,
  })
  .optional();

/** Checks what a PostToolUse hook answers. */
export const postToolUseAnswer: z.ZodType<PostToolUseAnswer | undefined> = z
  .strictObject({ context: text, stop: text })
  .optional();

/** Checks what a Stop hook answers. */
export const stopAnswer: z.ZodType<StopAnswer | undefined> = z
  .strictObject({ block: z.array(z.string()).readonly().optional(), prevent: text })
  .optional();
