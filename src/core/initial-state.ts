/** The state before the first event. */
import type { LoopConfig, ModelLimits } from './config.ts';
import { withoutBoundThinking } from './context/auto-compact.ts';
import { systemTokens } from './context/tokens.ts';
import { idAt } from './ids.ts';
import { noUsage, type Message, type UserBlock } from './message.ts';
import { believedFacts, type SessionFacts } from './session.ts';
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
   * What the query before learnt: `sessionFacts(state)`, or `ingestSession()` for a stored history. A figure for the context
   * holds only for the same history, system prompt and tools; nothing of it holds for another model. Default: nothing.
   */
  readonly session?: SessionFacts | null;
}

/** The state in phase `ready`: `step` it with `query.started`. */
export function initialState(start: QueryStart, config: LoopConfig): LoopState {
  let drawn = 0;
  const newId = (): string => {
    drawn += 1;
    return idAt(start.seed, drawn);
  };
  const messages = openingMessages(start, newId);
  const tools = start.tools ?? [];
  const configured = { limits: limitsOf(config, 0), systemTokens: systemTokens(config) };
  const { measured, tokenRatio, limits } = believedFacts(start.session, messages, tools, config);
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
      limits: limits ?? configured.limits,
      configured,
      tools,
      queued: [],
      staged: start.staged ?? [],
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
      usage: noUsage,
      modelCalls: 0,
      summaryCalls: 0,
    },
    terminal: null,
    outbox: [],
  };
}

function openingMessages(start: QueryStart, newId: () => string): readonly Message[] {
  const stored = start.messages ?? [];
  const repaired = withoutBoundThinking(stored, repairHistory(stored, newId));
  const waiting = (start.queued ?? []).map((message) => userSays(message.id, message.content));
  if (start.prompt === undefined) return endWithUser([...repaired, ...waiting], newId);
  const content: readonly UserBlock[] =
    typeof start.prompt === 'string' ? [{ type: 'text', text: start.prompt }] : start.prompt;
  return [...repaired, ...waiting, userSays(newId(), content)];
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
