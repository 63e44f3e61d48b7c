/** The whole of a query between two events: plain JSON, the same after `JSON.parse(JSON.stringify(state))`. */
import type { Failure } from './failure.ts';
import type { Message, ModelUsage, Usage, UserBlock } from './message.ts';
import type { ModelLimits } from './config.ts';
import type { Json, JsonObject } from './json.ts';
import type { Output } from './output.ts';
import type { Scratch } from './scratch.ts';
import type { ToolUseContext } from './tools/context.ts';

export type {
  Attempt,
  AttemptEnd,
  Compaction,
  OutputVerdict,
  Scratch,
  StoredText,
  ToolDecision,
  ToolOutcome,
  ToolRun,
  ToolVerdict,
  Unfinished,
  Verdict,
} from './scratch.ts';

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
  /** Everything the query paid for: answers, dropped attempts, summaries, lines of the small model, its sub-agents. */
  readonly usage: Usage;
  /** The same in dollars; null when something was asked of a model whose price is not known. */
  readonly cost: number | null;
  /** The final answer as data when it fits `outputSchema`; null else. */
  readonly output: Json;
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
  | {
      [Reason in Exclude<TerminalName, 'completed'>]: {
        readonly reason: Reason;
        readonly outcome: null;
      } & TerminalFacts;
    }[Exclude<TerminalName, 'completed'>];

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

/** A span of the history that the small model summarises now. */
export interface PendingSpan {
  readonly effectId: string;
  readonly firstId: string;
  readonly lastId: string;
}

/** How often tools did the same again. */
export interface Repeats {
  /** Digest of the newest call with its result, and how many equal ones came in a row. */
  readonly call: string;
  readonly calls: number;
  /** The tool that failed last, digest of its error, and how many equal ones it gave without a success between. */
  readonly tool: string;
  readonly error: string;
  readonly errors: number;
}

/** The user asked for a compaction, and perhaps what its summary should look after. */
export interface ManualCompaction {
  readonly instructions: string | null;
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
  /** Those of the first model as the configuration gave them: what differs was learnt. */
  readonly configuredLimits: ModelLimits;
  readonly tools: readonly ToolSpec[];
  /** Hash of what stands before all messages, the system prompt and `tools`. */
  readonly prefixHash: string;
  readonly queued: readonly QueuedMessage[];
  readonly staged: readonly StagedCollapse[];
  readonly pendingSpan: PendingSpan | null;
  /** Spans in a row that could not be summarised. */
  readonly spanFailures: number;
  /** The query exists to compact, and ends when that is done. */
  readonly manualCompaction: ManualCompaction | null;
  /** The API refused to summarise by itself: it is not asked again in this query. */
  readonly onDemandOff: boolean;
  /** Hashes of the requests for summaries that the API refused since the last one that worked. */
  readonly refusedSummaries: readonly string[];
  /** Tokens that the API said it left out of its newest request by itself. */
  readonly clearedByServer: number;
  readonly repeats: Repeats;
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
  /** Final answers that did not fit the schema and were asked for again. */
  readonly outputMismatches: number;
  /** Of the query's own requests; what tools spent stands apart, since other models may have been asked. */
  readonly usage: Usage;
  /** What tools used of models (sub-agents), model by model. It counts against no token budget. */
  readonly spentByTools: readonly ModelUsage[];
  /** Dollars for both; null once a model without a known price was asked. */
  readonly cost: number | null;
  /** Sub-agents that were started. */
  readonly subAgents: number;
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
