/** What an answered compaction does to the state, whichever phase asked for it. */
import { note, show, userMessage } from './answer.ts';
import type { LoopConfig } from './config.ts';
import { applyCompaction, freedEnough } from './context/auto-compact.ts';
import { contextSize, estimateHistory } from './context/tokens.ts';
import { spend } from './cost.ts';
import type { EventOf } from './event.ts';
import { drawId } from './ids.ts';
import { type AssistantMessage, isBlank, type Message, type UserMessage } from './message.ts';
import type { AutoCompactTracking, Compaction, LoopState, QueryAccount } from './state.ts';
import type { ToolUseContext } from './tools/context.ts';
import { conversation, currentModel } from './wire/request.ts';

type Answered = EventOf<'compact.answered'>;

/**
 * The state after the summary has replaced what it summarises; null when the compaction failed: the summary is empty,
 * cut or refused, or it frees too little. A failed one leaves the history as it was.
 */
export function compactedState(state: LoopState, event: Answered, config: LoopConfig): LoopState | null {
  const { compaction } = state.scratch;
  const [drawn, id] = drawId(paid(state, event, config).query);
  const summary = summaryFrom(event, id, currentModel(state, config));
  if (compaction === null || summary === null) return null;
  const result = applyCompaction(state, config, compaction, summary);
  if (!freedEnough(result, state, config)) return null;
  const { messages, tokensBefore, tokensAfter } = result;
  const carried = {
    ...state.carried,
    messages,
    toolUseContext: forgetFiles(state.carried.toolUseContext, messages),
    autoCompactTracking: compactedTracking(state, compaction, config),
  };
  const query = accountAfter(drawn, state, config);
  const scratch = { ...state.scratch, additions: [], compaction: null };
  const { kind } = compaction;
  const shown = show({ ...state, carried, scratch, query }, { type: 'boundary', kind, tokensBefore, tokensAfter });
  const text = `Compacted the conversation: about ${tokensBefore} tokens became about ${tokensAfter}.`;
  const notice = { stage: 'PostCompact', kind, tokensBefore, tokensAfter } as const;
  return show(shown, { type: 'notice', text, compaction: notice });
}

/** The message that stands for what was summarised: a whole text of a model, or the API's own block as it came. */
function summaryFrom(
  { text, block, stopReason }: Answered,
  id: string,
  model: string,
): UserMessage | AssistantMessage | null {
  if (block !== null && stopReason === 'compaction') {
    const isUsable = typeof block.content === 'string' && !isBlank(block.content);
    return isUsable ? { role: 'assistant', id, model, content: [block], refused: false } : null;
  }
  if (stopReason !== 'end_turn' || isBlank(text)) return null;
  return userMessage(id, 'summary', [{ type: 'text', text: note(`Summary of the conversation so far: ${text}`) }]);
}

type Paid = Pick<Answered, 'usage'> | Pick<EventOf<'compact.failed'>, 'usage'>;

/** A summary is paid for, whether or not it can be used. */
export function paid(state: LoopState, { usage }: Paid, config: LoopConfig): LoopState {
  if (usage === undefined) return state;
  return { ...state, query: spend(state.query, usage, currentModel(state, config), config) };
}

function accountAfter(query: QueryAccount, state: LoopState, config: LoopConfig): QueryAccount {
  const left = query.taskBudgetRemaining ?? config.taskBudget;
  const taskBudgetRemaining = left === null ? null : Math.max(0, left - contextSize(state, config));
  const forgotten = { measured: null, staged: [], pendingSpan: null, refusedSummaries: [] };
  return { ...query, ...forgotten, clearedByServer: 0, taskBudgetRemaining };
}

/** A compaction soon after the last one that worked is a refill; anything else sets the row of refills back. */
function compactedTracking(state: LoopState, compaction: Compaction, config: LoopConfig): AutoCompactTracking {
  const { compacted, turnsSince, refills } = state.carried.autoCompactTracking;
  const isRefill = compacted && turnsSince < config.limits.refillTurns;
  return {
    compacted: true,
    turnId: compaction.effectId,
    turnsSince: 0,
    failures: 0,
    refills: isRefill ? refills + 1 : 0,
  };
}

/**
 * The state after a proactive compaction that failed: one failure more, the breaker perhaps open, the history as it was.
 * `refused`: the API said no to the request itself.
 */
export function failedState(state: LoopState, config: LoopConfig, refused: boolean): LoopState {
  const tracking = state.carried.autoCompactTracking;
  const failures = tracking.failures + 1;
  const breakerOpen = state.query.breakerOpen || failures >= config.limits.compactionFailures;
  return {
    ...state,
    carried: { ...state.carried, autoCompactTracking: { ...tracking, failures } },
    scratch: { ...state.scratch, compaction: null },
    query: { ...state.query, breakerOpen, onDemandOff: state.query.onDemandOff || refused },
  };
}

/** Says that a compaction begins, and how large the context is. */
export function announceCompaction(state: LoopState, config: LoopConfig): LoopState {
  const { compaction } = state.scratch;
  if (compaction === null) return state;
  const tokensBefore = estimateHistory(conversation(state), state, config);
  const notice = { stage: 'PreCompact', kind: compaction.kind, tokensBefore, tokensAfter: null } as const;
  const text = `Compacting the conversation of about ${tokensBefore} tokens.`;
  return show(state, { type: 'notice', text, compaction: notice });
}

/** Says that a compaction failed and why; the history is as it was. */
export function announceFailure(state: LoopState, config: LoopConfig, why: string): LoopState {
  const { compaction } = state.scratch;
  if (compaction === null) return state;
  const tokensBefore = estimateHistory(conversation(state), state, config);
  const notice = { stage: 'PostCompact', kind: compaction.kind, tokensBefore, tokensAfter: null } as const;
  return show(state, { type: 'notice', text: `Compaction failed: ${why}`, compaction: notice });
}

/** Keeps the files whose content the model can still see: those that a tool use in `messages` names. */
function forgetFiles(context: ToolUseContext, messages: readonly Message[]): ToolUseContext {
  const named = messages.flatMap(namedPaths);
  const entries = Object.entries(context.filesRead);
  const kept = entries.filter(([path]) => named.some((name) => path === name || path.endsWith(`/${name}`)));
  return kept.length === entries.length ? context : { ...context, filesRead: Object.fromEntries(kept) };
}

function namedPaths(message: Message): readonly string[] {
  if (message.role !== 'assistant') return [];
  return message.content.flatMap((block) => {
    const path = block.type === 'tool_use' ? block.input['file_path'] : undefined;
    return typeof path === 'string' ? [path.replace(/^\.\//, '')] : [];
  });
}

/** Begins a compaction: the summariser is asked once more, perhaps with a shorter input. */
export function beginCompaction(state: LoopState, compaction: Omit<Compaction, 'effectId'>): LoopState {
  const [query, id] = drawId(state.query);
  return {
    ...state,
    query: { ...query, summaryCalls: query.summaryCalls + 1 },
    scratch: { ...state.scratch, compaction: { ...compaction, effectId: `compact-${id}` }, compactionTried: true },
  };
}
