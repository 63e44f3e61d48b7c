/**
 * What a query may do and how far. Read once when the query starts, frozen, never read again; what changes while the
 * query runs (current model, tool list, learnt window) is state.
 */

import { type ContextBuffers, type ContextLayers, defaultBuffers, defaultLayers } from './context/shares.ts';
import type { ModelPrice } from './cost.ts';
import type { JsonObject } from './json.ts';
import type { LoopState } from './state.ts';

/** One context layer. Contract: pure; separates no tool use from its result; returns the same object when it changes nothing. */
export type Layer = (state: LoopState, config: LoopConfig) => LoopState;

/** `anthropic`: everything the Messages API knows. `plain`: other servers that speak `/v1/messages`. */
export type WireProfile = 'anthropic' | 'plain';

/** `default` asks for what changes things; `acceptEdits` lets file edits pass; `plan` lets only reading pass;
 * `dontAsk` denies what would have to be asked; `bypassPermissions` lets everything pass that no rule denies; `bubble`, for sub-agents: what would be asked goes up to
 * the `canUseTool` of the parent, and nobody above means deny. */
export type PermissionMode = 'default' | 'acceptEdits' | 'plan' | 'dontAsk' | 'bypassPermissions' | 'bubble';

/** `off`; `adaptive`: the model decides; a number: a fixed budget in tokens, which must stay under `max_tokens`. */
export type ThinkingOption = 'off' | 'adaptive' | number;

/** What a model can hold and say, in tokens. */
export interface ModelLimits {
  readonly contextWindow: number;
  readonly maxOutput: number;
  /** The API can summarise a conversation for this model by itself. Left out: no. */
  readonly onDemandCompaction?: boolean;
  /** The API can hold an answer of this model to a JSON schema. Left out: it is not known, and asked for. */
  readonly structuredOutputs?: boolean;
}

/** Every bound that keeps recovery from spinning. */
export interface RecoveryLimits {
  /**
   * Requests repeated for one answer on one model after failures that time may cure, all kinds together. Default 10: with the
   * default waits that is more than two minutes of patience.
   */
  readonly retries: number;
  /** Overloads in a row after which the next model of the list takes over. Default 3: one or two pass within seconds. */
  readonly overloadsBeforeFallback: number;
  /** Continuations of a cut answer in one turn. Default 3: an answer of four times the limit says what it has to say. */
  readonly outputRecoveries: number;
  /**
   * Answers in one turn that asked for tools in a form that cannot be run. Default 3: who errs four times will err
   * again.
   */
  readonly malformedAnswers: number;
  /** `pause_turn` answers sent back in one turn. Default 10: tools of the server may rightly need several pauses. */
  readonly pauseTurns: number;
  /** Answers in one turn of thinking and nothing else that are asked again. Default 1: a second one is no accident. */
  readonly thinkingOnly: number;
  /** Blocking answers of stop hooks in one query. Default 8, a number that agents in the field settled on. */
  readonly stopHookBlocks: number;
  /**
   * Final answers in one query that do not fit `outputSchema` and are asked for again. Default 3: each is told what is
   * wrong.
   */
  readonly outputMismatches: number;
  /**
   * Continuations that the token budget may cause in one query. Default 50: more than a budget needs, so that it stops
   * nothing but a spiral.
   */
  readonly budgetContinuations: number;
  /**
   * Compactions that failed in a row before auto-compact stops trying for the rest of the query. Default 3: each costs
   * a request as long as the context.
   */
  readonly compactionFailures: number;
  /**
   * Requests of one compaction after the first, each with a shorter input, when the input is itself too long. Default
   * 3: after them little is left to summarise.
   */
  readonly compactionShrinks: number;
  /**
   * Refills in a row (a need for compaction soon after one that worked) before the next need ends the query. Default 3:
   * two may be two large files.
   */
  readonly refills: number;
  /**
   * A need for compaction within so many turns of the last one that worked is a refill. Default 3: a session that needs
   * more does no work between.
   */
  readonly refillTurns: number;
  /**
   * Spans in a row that the small model could not summarise before collapse stops asking. Default 3, as for
   * compactions.
   */
  readonly spanFailures: number;
  /**
   * Equal calls with equal results in a row, or equal errors of one tool, after which a note advises the model. Default
   * 10: polling may rightly ask a few times.
   */
  readonly repeatsBeforeAdvice: number;
}

export interface RetryDelays {
  /** Wait before the first retry, in milliseconds; doubled for each further one. Default 500 (the SDK's number). */
  readonly baseMs: number;
  /** Largest wait of the doubling, in milliseconds. Default 32,000. */
  readonly capMs: number;
  /** Largest wait that a server may ask for, in milliseconds. Default 60,000. */
  readonly retryAfterCapMs: number;
  /** Share of the wait that chance (seeded) takes off, 0 to 1. Default 0.25 (the SDK's number). */
  readonly jitter: number;
}

export interface LoopConfig {
  readonly profile: WireProfile;
  /** The primary model, then those that take over on overload, in order. Never empty. */
  readonly models: readonly string[];
  /** Writes tool-use summaries and span summaries in the background; null switches both off. */
  readonly smallModel: string | null;
  /** Limits by model name; `fallbackLimits` for a model that is not listed. */
  readonly modelLimits: Readonly<Record<string, ModelLimits>>;
  readonly fallbackLimits: ModelLimits;
  /** System prompt; empty for none. */
  readonly system: string;
  /** Tokens counted for system prompt and tools beside their estimate. Default 0. */
  readonly systemTokens: number;
  /**
   * Who asks: `repl`, `sdk`, `agent:<name>`, `compact`, `session_memory`. The last two may not compact or be refused.
   */
  readonly querySource: string;
  /** Turns (whole answers with their tool runs) that the query may take; null for no limit. */
  readonly maxTurns: number | null;
  /** The caller's own output limit in tokens; null for `defaultOutputCap` with escalation. */
  readonly maxOutputTokens: number | null;
  /** `max_tokens` of an ordinary request. Default 8,000, measured above a fixed thinking budget. */
  readonly defaultOutputCap: number;
  /** `max_tokens` after an escalation, if the model and the window allow. Default 64,000. */
  readonly escalatedOutputCap: number;
  /** Under this `max_tokens` a request is not worth sending. Default 3,000, at most 5 % of a small window. */
  readonly outputFloor: number;
  readonly thinking: ThinkingOption;
  /** Summarise before the window is full. Default true. */
  readonly autoCompact: boolean;
  /** Summarise once a turn when the API says that the input is too long. Default true. */
  readonly reactiveCompact: boolean;
  /** Has old spans summarised by the small model before they must go. Needs `smallModel`. Default false. */
  readonly collapse: boolean;
  /** Drops the oldest turns before anything is summarised. Default false: what is dropped is gone. */
  readonly snip: boolean;
  /**
   * `local` clears old tool results in the history; `server` has the API clear them; `plain` servers cannot. Default
   * off.
   */
  readonly microcompact: 'off' | 'local' | 'server';
  readonly layers: ContextLayers;
  /** Replaces layer 2. Must be pure: a replay calls it again. Default null: the built-in one. */
  readonly microcompactor: Layer | null;
  /**
   * Characters that the results of one message may have together; those of tools that limit themselves do not count.
   * Default 200,000.
   */
  readonly messageResultChars: number;
  readonly buffers: ContextBuffers;
  /** Tokens at the end of the history that compaction leaves as they are. Default 8,000, at most 10 % of the window. */
  readonly protectedTail: number;
  /** A compaction must free at least this share of the context to count as one that worked. Default 0.1. */
  readonly minimumFreed: number;
  /** Added to the request for a summary; null for none. */
  readonly compactInstructions: string | null;
  /** Output tokens that the query should use; null for no budget. */
  readonly tokenBudget: number | null;
  /** `output_config.task_budget.total` in tokens; null for none. */
  readonly taskBudget: number | null;
  /**
   * Dollars that the query may cost; null for no cap. No request starts once they are spent; one that runs is not cut.
   */
  readonly maxCost: number | null;
  /** Prices by model name; a model that is not listed costs an amount that is not known. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
  /** JSON schema that the final answer must fit; null: any text will do. */
  readonly outputSchema: JsonObject | null;
  /** How the model learns of it: `format` has the API hold the answer to it, `prompt` says it in the system prompt. */
  readonly outputBy: 'format' | 'prompt';
  readonly permissionMode: PermissionMode;
  /** Tools that may run at once. Default 10. */
  readonly toolConcurrency: number;
  /** Sub-agents that the query may start, each with a bound of its own. Default 10, as many as may run at once. */
  readonly maxSubAgents: number;
  /** Levels of sub-agents: 1 lets the top start them and no sub-agent start another, 0 none at all. Default 1. */
  readonly maxAgentDepth: number;
  /** True when stop hooks exist; without any the phase is passed through with no effect. */
  readonly stopHooks: boolean;
  readonly limits: RecoveryLimits;
  readonly delays: RetryDelays;
}

export const defaultLimits: RecoveryLimits = {
  retries: 10,
  overloadsBeforeFallback: 3,
  outputRecoveries: 3,
  malformedAnswers: 3,
  pauseTurns: 10,
  thinkingOnly: 1,
  stopHookBlocks: 8,
  outputMismatches: 3,
  budgetContinuations: 50,
  compactionFailures: 3,
  compactionShrinks: 3,
  refills: 3,
  refillTurns: 3,
  spanFailures: 3,
  repeatsBeforeAdvice: 10,
};

/** The defaults of every option; a caller changes what differs: `{ ...defaultConfig, maxTurns: 20 }`. */
export const defaultConfig: LoopConfig = {
  profile: 'anthropic',
  models: ['claude-sonnet-5-5'],
  smallModel: null,
  modelLimits: {},
  // What every model of the public overview could hold or more in late 2026; small enough to be safe elsewhere.
  fallbackLimits: { contextWindow: 200_000, maxOutput: 64_000 },
  system: '',
  systemTokens: 0,
  querySource: 'sdk',
  maxTurns: null,
  maxOutputTokens: null,
  defaultOutputCap: 8_000,
  escalatedOutputCap: 64_000,
  outputFloor: 3_000,
  thinking: 'off',
  autoCompact: true,
  reactiveCompact: true,
  collapse: false,
  snip: false,
  microcompact: 'off',
  layers: defaultLayers,
  microcompactor: null,
  messageResultChars: 200_000,
  buffers: defaultBuffers,
  protectedTail: 8_000,
  minimumFreed: 0.1,
  compactInstructions: null,
  tokenBudget: null,
  taskBudget: null,
  maxCost: null,
  prices: {},
  outputSchema: null,
  outputBy: 'format',
  permissionMode: 'default',
  toolConcurrency: 10,
  maxSubAgents: 10,
  maxAgentDepth: 1,
  stopHooks: false,
  limits: defaultLimits,
  delays: { baseMs: 500, capMs: 32_000, retryAfterCapMs: 60_000, jitter: 0.25 },
};

/** The queries that exist to shrink a context: they are never compacted, refused for size, or held by stop hooks. */
export function isShrinking(config: LoopConfig): boolean {
  return config.querySource === 'compact' || config.querySource === 'session_memory';
}

export function isSubAgent(config: LoopConfig): boolean {
  return config.querySource.startsWith('agent:');
}
