/** The kinds of hooks: functions of the host that watch prompts, tools, compactions and the end of a turn, and may object. */
import type { CompletedOutcome } from '../core/state.ts';
import type { PermissionMode } from '../core/config.ts';
import type { JsonObject } from '../core/json.ts';
import type { Message } from '../core/message.ts';
import type { ToolCallView, ToolResultView } from '../tools/hook-port.ts';

/** How long a hook may take when it says nothing else, in milliseconds: the number that coding agents document. */
export const defaultHookTimeoutMs = 60_000;

/** Names, or an expression that a part of the name must match. */
export type HookMatcher = readonly string[] | RegExp;

interface HookBase {
  /** Stands in every sentence about the hook, so that a user finds it. */
  readonly name: string;
  /** Longest run in milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
  /**
   * Asked together with its neighbours of the list that say so too, and once only among those of the same name. Changes
   * something for PreToolUse hooks alone: all others are asked side by side. Default false.
   */
  readonly sideBySide?: boolean;
}

interface ToolHookBase extends HookBase {
  /** The tools that it is asked about. Default: all. */
  readonly tools?: HookMatcher;
}

interface CauseHookBase extends HookBase {
  /** The causes that it is asked about; which there are stands at the view of the kind. Default: all. */
  readonly causes?: HookMatcher;
}

/** What any hook may say: sentences for the user. */
export interface HookNotices {
  readonly notices?: readonly string[] | undefined;
}

type Said<Answer> = Answer | undefined | void | Promise<Answer | undefined | void>;

/** Where a hook was asked. */
export interface HookSession {
  /** The same for all queries that hand on `toolUseContext`. */
  readonly sessionId: string;
  /** Absolute path of the folder that the session works in. */
  readonly cwd: string;
  readonly permissionMode: PermissionMode;
}

/** What a PreToolUse hook may say; members go together, and an empty answer is a pass. */
export interface PreToolUseAnswer extends HookNotices {
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
  readonly run: (call: ToolCallView, signal: AbortSignal) => Said<PreToolUseAnswer>;
}

/** What a PostToolUse hook may say; an empty answer is a pass. */
export interface PostToolUseAnswer extends HookNotices {
  /** Shown to the model behind the results of the turn. */
  readonly context?: string | undefined;
  /** Ends the query after this batch of tools (`hook_stopped`), for this reason. */
  readonly stop?: string | undefined;
  /** Takes the place of the result; for tools of MCP servers (`mcp__...`) alone. */
  readonly output?: string | undefined;
}

/** Contract: asked side by side after every run; a throw, a hang or nonsense makes an error result that keeps the output. */
export interface PostToolUseHook extends ToolHookBase {
  readonly run: (call: ToolResultView, signal: AbortSignal) => Said<PostToolUseAnswer>;
}

/** What a Stop or a SubagentStop hook is told. */
export interface StopView extends HookSession {
  /** A stop hook has forced a retry before in this query: a hook that always blocks should let go now. */
  readonly stopHookActive: boolean;
  /** The conversation, the answer that says "done" last. */
  readonly messages: readonly Message[];
  /** `agent:` and its name for a sub-agent; the name is the cause of a SubagentStop hook. */
  readonly querySource: string;
}

/** What a Stop hook may say; an empty answer is a pass. */
export interface StopAnswer extends HookNotices {
  /** What is still wrong, one entry each; the model is sent back to work. */
  readonly block?: readonly string[] | undefined;
  /** Ends the query (`stop_hook_prevented`), for this reason; beats the blocks of other hooks. */
  readonly prevent?: string | undefined;
}

/** Contract: asked side by side when the model says that it is done; a throw, a hang or nonsense is a pass with a notice. */
export interface StopHook extends CauseHookBase {
  readonly run: (view: StopView, signal: AbortSignal) => Said<StopAnswer>;
}

/** What a UserPromptSubmit hook is told. */
export interface PromptView extends HookSession {
  /** The text of what the user says. */
  readonly prompt: string;
}

/** What a UserPromptSubmit hook may say; an empty answer is a pass. */
export interface PromptAnswer extends HookNotices {
  /** Why the prompt must not pass: the query ends (`hook_stopped`) without a call, and no model ever sees the prompt. */
  readonly block?: string | undefined;
  /** Shown to the model behind the prompt. */
  readonly context?: string | undefined;
}

/** Contract: asked side by side before the first call; a throw, a hang or nonsense is a pass with a notice. */
export interface UserPromptSubmitHook extends HookBase {
  readonly run: (view: PromptView, signal: AbortSignal) => Said<PromptAnswer>;
}

/** What a SessionStart hook is told; `source` is the cause: a conversation begins, or a stored one goes on. */
export interface SessionStartView extends HookSession {
  readonly source: 'startup' | 'resume';
}

/** What a SessionStart hook may say. */
export interface SessionStartAnswer extends HookNotices {
  /** Shown to the model behind the first prompt. */
  readonly context?: string | undefined;
}

/** Contract: as UserPromptSubmit, right before it. */
export interface SessionStartHook extends CauseHookBase {
  readonly run: (view: SessionStartView, signal: AbortSignal) => Said<SessionStartAnswer>;
}

/** What a PreCompact hook is told; `trigger` is the cause. */
export interface PreCompactView extends HookSession {
  readonly trigger: 'manual' | 'auto';
  /** What the user wants the summary to look after; null when nobody said. */
  readonly instructions: string | null;
}

/** Contract: asked side by side before a summary is asked for, which waits for them; cannot object. */
export interface PreCompactHook extends CauseHookBase {
  readonly run: (view: PreCompactView, signal: AbortSignal) => Said<HookNotices>;
}

/** What a PostCompact hook is told; `trigger` is the cause. */
export interface PostCompactView extends HookSession {
  readonly trigger: 'manual' | 'auto';
  /** What now stands for the messages that are gone. */
  readonly summary: string;
}

/** Contract: asked side by side in the background after a compaction that worked. */
export interface PostCompactHook extends CauseHookBase {
  readonly run: (view: PostCompactView, signal: AbortSignal) => Said<HookNotices>;
}

/** What a Notification hook is told: the query waits for the user. `kind` is the cause. */
export interface NotificationView extends HookSession {
  readonly message: string;
  readonly kind: 'permission_prompt';
}

/** Contract: asked side by side in the background, while the user is asked. */
export interface NotificationHook extends CauseHookBase {
  readonly run: (view: NotificationView, signal: AbortSignal) => Said<HookNotices>;
}

/** What background work after an answer is told. */
interface AnswerView extends HookSession {
  readonly outcome: CompletedOutcome;
  /** The conversation at the end of the query. */
  readonly messages: readonly Message[];
}

/**
 * Background work at the end of a turn: memory extraction, a suggestion for the next prompt. Contract: started side by
 * side when a query has `completed` with `done`; nobody waits for it, `Query.background` tells when it has ended.
 */
export interface AfterAnswerHook extends HookBase {
  readonly run: (view: AnswerView, signal: AbortSignal) => Said<HookNotices>;
}

/** The hooks of a query; each list may be empty. */
export interface Hooks {
  readonly sessionStart: readonly SessionStartHook[];
  readonly userPromptSubmit: readonly UserPromptSubmitHook[];
  readonly preToolUse: readonly PreToolUseHook[];
  readonly postToolUse: readonly PostToolUseHook[];
  readonly notification: readonly NotificationHook[];
  readonly preCompact: readonly PreCompactHook[];
  readonly postCompact: readonly PostCompactHook[];
  readonly stop: readonly StopHook[];
  /** In place of `stop` where the query is one of a sub-agent (`querySource: 'agent:...'`). */
  readonly subagentStop: readonly StopHook[];
  readonly afterAnswer: readonly AfterAnswerHook[];
}

/** No hooks at all. */
export const noHooks: Hooks = {
  sessionStart: [],
  userPromptSubmit: [],
  preToolUse: [],
  postToolUse: [],
  notification: [],
  preCompact: [],
  postCompact: [],
  stop: [],
  subagentStop: [],
  afterAnswer: [],
};

/** The hooks of both, those of `first` in front. */
export function joinHooks(first: Partial<Hooks>, second: Partial<Hooks>): Hooks {
  const kinds = Object.keys(noHooks) as readonly (keyof Hooks)[];
  return Object.fromEntries(
    kinds.map((kind) => [kind, [...(first[kind] ?? []), ...(second[kind] ?? [])]]),
  ) as unknown as Hooks;
}
