/** The whole of a query between two events: plain JSON, the same after `JSON.parse(JSON.stringify(state))`. */
import type { Failure } from './failure.ts';
import type { AssistantBlock, Message, ToolResultBlock, Usage, UserBlock } from './message.ts';
import type { ModelLimits } from './config.ts';
import type { JsonObject } from './json.ts';
import type { Output } from './output.ts';
import type { ContextChange, ToolUseContext } from './tools/context.ts';

export const stateVersion = 1;

/** Phases in which the loop waits for an event. */
export type WaitingPhase =
  /** Before `query.started`. */
  | 'ready'
  | 'compacting'
  | 'streaming'
  | 'compactingReactively'
  | 'runningTools'
  | 'attaching'
  | 'runningStopHooks'
  /** After a terminal; nothing leaves it. */
  | 'ended';

/** Phases that decide at once: no state returned by `step` rests in one of them. */
export type DecidingPhase = 'preparing' | 'settling' | 'advancing' | 'budgeting';

export type Phase = WaitingPhase | DecidingPhase;

export type ContinueName =
  | 'next_turn'
  | 'collapse_drain_retry'
  | 'reactive_compact_retry'
  | 'max_output_tokens_escalate'
  | 'max_output_tokens_recovery'
  | 'stop_hook_blocking'
  | 'token_budget_continuation';

export type TerminalName =
  | 'completed'
  | 'blocking_limit'
  | 'prompt_too_long'
  | 'image_error'
  | 'model_error'
  | 'aborted_streaming'
  | 'aborted_tools'
  | 'stop_hook_prevented'
  | 'hook_stopped'
  | 'max_turns';

/** What `completed` means, so that no caller takes an error for success. */
export type CompletedOutcome =
  | 'done'
  | 'budget_spent'
  | 'output_limit'
  | 'refusal'
  | 'api_error'
  | 'stop_hook_limit'
  | 'empty'
  | 'cost_limit'
  | 'invalid_output';

export interface TerminalFacts {
  /** Turns begun, the last one included. */
  readonly turns: number;
  /** Everything the query paid for: answers, dropped attempts, summaries. */
  readonly usage: Usage;
  readonly modelCalls: number;
  readonly summaryCalls: number;
  /** What went wrong; null when nothing did. */
  readonly failure: Failure | null;
  /** One sentence for a person; null when the reason says all. */
  readonly detail: string | null;
}

/** How and why a query ended. */
export type Terminal =
  | ({ readonly reason: 'completed'; readonly outcome: CompletedOutcome } & TerminalFacts)
  | ({ readonly reason: Exclude<TerminalName, 'completed'>; readonly outcome: null } & TerminalFacts);

export interface AutoCompactTracking {
  /** True once a compaction worked in this query. */
  readonly compacted: boolean;
  /** Id of that compaction, so that logs can tell one from another; empty before the first. */
  readonly turnId: string;
  /** Turns since the last compaction that worked. */
  readonly turnsSince: number;
  /** Compactions that failed in a row; the breaker opens at `limits.compactionFailures`. */
  readonly failures: number;
  /** Refills in a row; `limits.refills` of them and the next need ends the query. */
  readonly refills: number;
}

/** Carried over every continue; each of the seven writes all ten. */
export interface Carried {
  /** The conversation that the model sees. */
  readonly messages: readonly Message[];
  readonly toolUseContext: ToolUseContext;
  readonly autoCompactTracking: AutoCompactTracking;
  /** Continuations of a cut answer in this turn. */
  readonly maxOutputTokensRecoveryCount: number;
  /** The one reactive compaction of this turn was used, for an overflow or for media. */
  readonly hasAttemptedReactiveCompact: boolean;
  /** `max_tokens` after an escalation. */
  readonly maxOutputTokensOverride: number | null;
  readonly pendingToolUseSummary: PendingSummary | null;
  /** A stop hook has forced a retry before: hooks receive it as `stop_hook_active`. */
  readonly stopHookActive: boolean;
  /** Starts at 1 and only grows. */
  readonly turnCount: number;
  /** Why the last iteration continued; null in the first. */
  readonly transition: ContinueName | null;
}

export interface PendingSummary {
  readonly effectId: string;
  readonly toolUseIds: readonly string[];
}

/** One request for the answer of an iteration. */
export interface Attempt {
  readonly effectId: string;
  /** Counts requests of the query, from 1. */
  readonly number: number;
  /** Id that the answer will have in the history. */
  readonly messageId: string;
  readonly model: string;
  readonly maxTokens: number;
  /** To wait before the request is sent, in milliseconds. */
  readonly delayMs: number;
  /** Tokens that the request was estimated to hold; null when most of them were measured. */
  readonly estimate: number | null;
}

/** What was streamed of a block that never ended. */
export type Unfinished =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking' }
  | { readonly type: 'tool_use' };

/** A block that ended, with what the outside knows of it. */
export interface ReportedBlock {
  readonly block: AssistantBlock;
  /** For a tool use whose input was no JSON object: what came instead; null else. */
  readonly rawInput: string | null;
}

/** How an attempt ended. */
export type AttemptEnd =
  | { readonly type: 'answered'; readonly stopReason: string | null; readonly usage: Usage }
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly unfinished: Unfinished | null;
      readonly usage: Usage;
    };

/** What an ended attempt asks of the loop; the rows of `settling` read nothing else of it. */
export type Verdict =
  | 'refusal'
  /** No whole answer, for a reason that time may cure. */
  | 'incomplete'
  | 'pause_turn'
  /** Tools were asked for in a form that cannot be run. */
  | 'malformed'
  | 'thinking_only'
  | 'tools'
  | 'overflow'
  | 'max_tokens_too_large'
  | 'thinking_refused'
  | 'media'
  | 'output_limit'
  /** The API answered and asking again cannot help. */
  | 'api_error'
  /** Something threw that is no answer of the API. */
  | 'thrown'
  | 'done';

/** The verdict of a tool on one actual input; fail-closed: what is not known is false. */
export interface ToolVerdict {
  /** May run beside other safe tools. */
  readonly concurrencySafe: boolean;
  readonly readOnly: boolean;
  /** May run again after a crash although it is not read-only. */
  readonly replaySafe: boolean;
}

/** What came of one tool use. */
export interface ToolOutcome {
  readonly content: ToolResultBlock['content'];
  readonly isError: boolean;
  /** The pipeline stage that ended the call: `run`, `permission`, `hook`, `validation`, ... */
  readonly stage: string;
  /** A failure that makes the running siblings pointless (a shell command that failed). */
  readonly cancelsSiblings: boolean;
  readonly contextChanges: readonly ContextChange[];
  /** Blocks for the model that stand behind the results (extra context of hooks, images of an error result). */
  readonly attachments: readonly UserBlock[];
  /** A hook stopped the loop: why. */
  readonly stop: string | null;
  /** The user denied and wants the turn to end. */
  readonly interrupt: boolean;
}

export interface ToolDecision {
  readonly kind: 'permission' | 'preToolUse' | 'postToolUse';
  /** Hash of the input that was decided on: an approval holds for that input alone. */
  readonly inputHash: string;
  readonly answer: JsonObject;
}

/** One tool use of the answer on its way to its result. */
export interface ToolRun {
  readonly toolUseId: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly verdict: ToolVerdict;
  readonly status: 'waiting' | 'running' | 'ended';
  readonly effectId: string;
  /** Set at the end. */
  readonly outcome: ToolOutcome | null;
  /** Answers of hooks and of the user that came so far; a resumed run does not ask again. */
  readonly decisions: readonly ToolDecision[];
}

export interface Compaction {
  readonly effectId: string;
  readonly kind: 'auto_compact' | 'reactive_compact';
  /** What a reactive one is to cure; null for a proactive one. */
  readonly cures: 'overflow' | 'media' | null;
  /** Messages of the conversation before this index are summarised, the rest is the protected tail. */
  readonly cut: number;
  /** The oldest messages left out of the summariser's input because it was itself too long. */
  readonly skip: number;
  /** Requests repeated with a shorter input. */
  readonly shrinks: number;
}

/** What only this iteration needs; dropped whole at every continue. */
export interface Scratch {
  readonly attempt: Attempt | null;
  /** Whole blocks of the attempt in their order. */
  readonly blocks: readonly ReportedBlock[];
  readonly end: AttemptEnd | null;
  /** What the end means; null until the attempt has ended. */
  readonly verdict: Verdict | null;
  /** What the next attempt waits before it is sent, in milliseconds. */
  readonly delayMs: number;
  /** What re-asks add behind `messages`; they enter the history with the next continue or terminal. */
  readonly additions: readonly Message[];
  readonly toolRuns: readonly ToolRun[];
  /** The effect of the phases that have one beside streaming and compacting. */
  readonly effectId: string | null;
  readonly compaction: Compaction | null;
  /** The layers without a model call have run in this iteration. */
  readonly layered: boolean;
  /** Auto-compact was tried in this iteration, or its request is being asked again. */
  readonly compactionTried: boolean;
  /** `max_tokens` of this iteration lowered to the room that the API named. */
  readonly loweredMaxTokens: number | null;
}

/** Counters that only `next_turn` sets back. */
export interface TurnCounters {
  readonly malformedAnswers: number;
  readonly pauseTurns: number;
  readonly thinkingOnly: number;
  readonly loweredMaxTokens: number;
  readonly thinkingStripped: number;
  readonly mediaReplaced: number;
  readonly drains: number;
}

/** A summary that waits to replace the messages from `firstId` to `lastId`. */
export interface StagedCollapse {
  readonly firstId: string;
  readonly lastId: string;
  readonly summary: string;
}

/** The API's own figure for the context, and up to which message it holds. */
export interface MeasuredContext {
  readonly tokens: number;
  /** Messages of the history that the figure counts. */
  readonly messages: number;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

/** A user message that was accepted and is not yet in the history. */
export interface QueuedMessage {
  readonly id: string;
  readonly content: readonly UserBlock[];
}

/** What is true of the query as a whole; no continue touches it unless its row says so. */
export interface QueryAccount {
  /** A uuid; every id of the query derives from it. */
  readonly seed: string;
  /** Ids drawn so far. */
  readonly drawn: number;
  /** Index in `config.models`. */
  readonly modelIndex: number;
  readonly limits: ModelLimits;
  readonly tools: readonly ToolSpec[];
  readonly queued: readonly QueuedMessage[];
  readonly staged: readonly StagedCollapse[];
  readonly turn: TurnCounters;
  /** Failed requests of this answer on this model; a whole answer or a fallback sets it back. */
  readonly retries: number;
  readonly overloadsInARow: number;
  readonly fallbacks: number;
  readonly stopHookBlocks: number;
  readonly budgetContinuations: number;
  /** Output tokens that count against the token budget; never falls. */
  readonly budgetUsed: number;
  /** `budgetUsed` at the last two continuations, newest last, to see diminishing returns. */
  readonly budgetMarks: readonly number[];
  /** What `output_config.task_budget.remaining` says; null before the first compaction. */
  readonly taskBudgetRemaining: number | null;
  readonly breakerOpen: boolean;
  readonly measured: MeasuredContext | null;
  /** Learnt factor from estimated to reported tokens, 1 before anything was reported. */
  readonly tokenRatio: number;
  readonly usage: Usage;
  readonly modelCalls: number;
  readonly summaryCalls: number;
}

export interface LoopState {
  readonly version: typeof stateVersion;
  readonly phase: Phase;
  readonly carried: Carried;
  readonly scratch: Scratch;
  readonly query: QueryAccount;
  /** Set in `ended`, null before. */
  readonly terminal: Terminal | null;
  /** What the newest event showed to the consumer. */
  readonly outbox: readonly Output[];
}

