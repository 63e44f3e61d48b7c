/** The state before the first event. */
import type { LoopConfig, ModelLimits } from './config.ts';
import { withoutBoundThinking } from './context/thinking.ts';
import { idAt } from './ids.ts';
import { noUsage, type Message, type UserBlock } from './message.ts';
import { isSamePrefix, prefixHashOf, type SessionFacts, takenOver } from './session-facts.ts';
import { type LoopState, type QueuedMessage, type Scratch, type StagedCollapse, stateVersion } from './state.ts';
import type { ToolSpec, TurnCounters } from './state.ts';
import type { ToolUseContext } from './tools/context.ts';
import { repairHistory } from './wire/pairs.ts';
import { goOnNote } from './wire/project.ts';

export const emptyScratch: Scratch = {
  attempt: null,
  blocks: [],
  end: null,
  verdict: null,
  delayMs: 0,
  additions: [],
  toolRuns: [],
  effectId: null,
  compaction: null,
  layered: false,
  compactionTried: false,
  loweredMaxTokens: null,
};

export const freshTurn: TurnCounters = {
  malformedAnswers: 0,
  pauseTurns: 0,
  thinkingOnly: 0,
  loweredMaxTokens: 0,
  thinkingStripped: 0,
  mediaReplaced: 0,
  drains: 0,
};

/** What a query starts from. Everything but `seed` has a default. */
export interface QueryStart {
  /** A uuid; every id of the query derives from it. */
  readonly seed: string;
  /** What the user says now: text, or blocks. Left out when `messages` already ends with it. */
  readonly prompt?: string | readonly UserBlock[];
  /** The conversation so far; damage is repaired. Default: none. */
  readonly messages?: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  /** Left from the query before; default: empty context with the permission mode of the config. */
  readonly toolUseContext?: ToolUseContext;
  /** User messages that earlier queries accepted and did not take; they come before `prompt`. */
  readonly queued?: readonly QueuedMessage[];
  readonly staged?: readonly StagedCollapse[];
  /**
   * What the query before left: `sessionFacts`, or `ingestSession` for a stored history. A figure for the context holds only
   * for the same model, history, system prompt and tools. Default: nothing is known, and nothing is taken for changed.
   */
  readonly session?: SessionFacts;
  /** The query compacts `messages` and ends; `prompt` is left out then. `instructions`: what the summary should look after. */
  readonly compact?: { readonly instructions?: string };
}

/** The state in phase `ready`: `step` it with `query.started`. */
export function initialState(start: QueryStart, config: LoopConfig): LoopState {
  let drawn = 0;
  const newId = (): string => {
    drawn += 1;
    return idAt(start.seed, drawn);
  };
  const tools = start.tools ?? [];
  const prefixHash = prefixHashOf(config.system, tools);
  const messages = openingMessages(start, prefixHash, newId);
  const configuredLimits = limitsOf(config, 0);
  const { measured, tokenRatio, limits } = takenOver(start.session, { messages, prefixHash }, config);
  return {
    version: stateVersion,
    phase: 'ready',
    carried: {
      messages,
      toolUseContext: start.toolUseContext ?? emptyContext(start.seed, config),
      autoCompactTracking: { compacted: false, turnId: '', turnsSince: 0, failures: 0, refills: 0 },
      maxOutputTokensRecoveryCount: 0,
      hasAttemptedReactiveCompact: false,
      maxOutputTokensOverride: null,
      pendingToolUseSummary: null,
      stopHookActive: false,
      turnCount: 1,
      transition: null,
    },
    scratch: emptyScratch,
    query: {
      seed: start.seed,
      drawn,
      modelIndex: 0,
      limits: limits ?? configuredLimits,
      configuredLimits,
      tools,
      prefixHash,
      queued: [],
      staged: start.staged ?? [],
      pendingSpan: null,
      spanFailures: 0,
      manualCompaction: start.compact === undefined ? null : { instructions: start.compact.instructions ?? null },
      onDemandOff: false,
      refusedSummaries: [],
      clearedByServer: 0,
      repeats: { call: '', calls: 0, tool: '', error: '', errors: 0 },
      turn: freshTurn,
      retries: 0,
      overloadsInARow: 0,
      fallbacks: 0,
      stopHookBlocks: 0,
      budgetContinuations: 0,
      budgetUsed: 0,
      budgetMarks: [],
      taskBudgetRemaining: null,
      breakerOpen: false,
      measured,
      tokenRatio,
      outputMismatches: 0,
      usage: noUsage,
      cost: 0,
      spentByTools: [],
      subAgents: 0,
      modelCalls: 0,
      summaryCalls: 0,
    },
    terminal: null,
    outbox: [],
  };
}

function openingMessages(start: QueryStart, prefixHash: string, newId: () => string): readonly Message[] {
  const waiting = (start.queued ?? []).map((message) => userSays(message.id, message.content));
  const said = [...waiting, ...promptOf(start, newId)];
  // What is said now is repaired with the rest: it may answer the tools that the history ends with.
  const given = [...(start.messages ?? []), ...said];
  const repaired = repairHistory(given, newId);
  // Another system prompt or tool list is an edit before everything.
  const messages = withoutBoundThinking(isSamePrefix(start.session, prefixHash) ? given : [], repaired);
  return start.compact === undefined ? endWithUser(messages, newId) : messages;
}

function promptOf({ prompt }: QueryStart, newId: () => string): readonly Message[] {
  if (prompt === undefined) return [];
  return [userSays(newId(), typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt)];
}

/** A request cannot end with an answer. The note that asks to go on is stored, or later requests would lack it. */
function endWithUser(messages: readonly Message[], newId: () => string): readonly Message[] {
  if (messages.findLast((message) => !message.refused)?.role !== 'assistant') return messages;
  const content = [{ type: 'text', text: goOnNote }] as const;
  return [...messages, { role: 'user', id: newId(), origin: 'continue_request', content, refused: false }];
}

function userSays(id: string, content: readonly UserBlock[]): Message {
  return { role: 'user', id, origin: 'user', content, refused: false };
}

function emptyContext(seed: string, config: LoopConfig): ToolUseContext {
  return {
    permissionMode: config.permissionMode,
    addedRules: [],
    filesRead: {},
    depth: 0,
    queryTracking: { chainId: seed, depth: 0 },
  };
}

/** Limits of the model at `index` of the list. */
export function limitsOf(config: LoopConfig, index: number): ModelLimits {
  return config.modelLimits[config.models[index] ?? ''] ?? config.fallbackLimits;
}
