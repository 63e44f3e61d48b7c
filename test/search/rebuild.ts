/** From features back to the one state that stands for all states that have them. */
import type { LoopConfig } from '../../src/core/config.ts';
import { emptyScratch, freshTurn, initialState, limitsOf } from '../../src/core/initial-state.ts';
import type { Carried, LoopState, QueryAccount } from '../../src/core/state.ts';
import { fittingMaxTokens } from '../../src/core/wire/request.ts';
import {
  blocksOf,
  compactionOf,
  endOf,
  historyOf,
  ids,
  loweredOutput,
  pendingSpan,
  runsOf,
  seed,
  sizes,
  stagedSpan,
  waitingMessage,
} from './canonical.ts';
import { decode, type Features, progress, queryCounters, turnCounters } from './features.ts';

const starts = new WeakMap<LoopConfig, LoopState>();

function startOf(config: LoopConfig): LoopState {
  const known = starts.get(config) ?? initialState({ seed, prompt: 'go' }, config);
  starts.set(config, known);
  return known;
}

/** The state that stands for all with these features; its counts of calls are 0, so that one step shows what it costs. */
export function rebuild(features: Features, config: LoopConfig): LoopState {
  const start = startOf(config);
  const messages = historyOf(features, config);
  const { phase, verdict } = features;
  const state: LoopState = {
    ...start,
    phase,
    carried: { ...start.carried, ...carriedOf(features), messages },
    scratch: {
      ...emptyScratch,
      blocks: blocksOf(features.blocks),
      toolRuns: runsOf(features.runs),
      end: endOf(verdict),
      verdict: verdict === '' ? null : verdict,
      effectId: ids.phase,
      compaction: compactionOf(features, messages),
      compactionTried: features.compactionTried,
    },
    query: { ...start.query, ...accountOf(features, config, messages.length) },
  };
  return phase === 'streaming' ? withAttempt(state, config) : state;
}

function carriedOf(features: Features): Partial<Carried> {
  const { turnsSince, failures, refills } = features;
  return {
    autoCompactTracking: {
      compacted: turnsSince >= 0,
      turnId: '',
      turnsSince: Math.max(0, turnsSince),
      failures,
      refills,
    },
    maxOutputTokensRecoveryCount: features.recoveries,
    hasAttemptedReactiveCompact: features.reactive,
    maxOutputTokensOverride: features.escalated ? sizes.escalated : null,
    pendingToolUseSummary: features.pendingSummary ? { effectId: ids.summary, toolUseIds: [] } : null,
    stopHookActive: features.stopHookActive,
    turnCount: features.turnCount,
    transition: features.transition === '' ? null : features.transition,
  };
}

function accountOf(features: Features, config: LoopConfig, messages: number): Partial<QueryAccount> {
  const { modelIndex, measured } = features;
  const limits = limitsOf(config, modelIndex);
  const counted = decode(queryCounters, features.query);
  return {
    ...counted,
    ...budgetOf(features.budget, counted.budgetContinuations, config),
    turn: { ...freshTurn, ...decode(turnCounters, features.turn) },
    modelIndex,
    fallbacks: modelIndex,
    limits: features.lowerLimit ? { ...limits, maxOutput: loweredOutput } : limits,
    cost: features.costly ? (config.maxCost ?? 0) : 0,
    queued: features.queued ? [waitingMessage] : [],
    manualCompaction: features.byHand ? { instructions: null } : null,
    staged: features.staged ? [stagedSpan] : [],
    pendingSpan: features.pendingSpan ? pendingSpan : null,
    spanFailures: features.spanFailures,
    onDemandOff: features.onDemandOff,
    retries: features.retries,
    overloadsInARow: features.overloads,
    breakerOpen: features.breakerOpen,
    measured: measured < 0 ? null : { tokens: sizes.levels[measured] ?? 0, messages },
  };
}

/** Used tokens and marks that give the code: so near to 90 % that one large answer spends the budget, and no small one. */
function budgetOf(code: string, count: number, config: LoopConfig): Pick<QueryAccount, 'budgetUsed' | 'budgetMarks'> {
  const total = (config.tokenBudget ?? 0) * 0.9;
  const before = total - 4 * progress;
  if (code === '' || code === 'spent') return { budgetUsed: total, budgetMarks: [] };
  if (code === 'unspent') return { budgetUsed: before, budgetMarks: [] };
  const [now = 0, then = 0] = code.split('.').map(Number);
  const last = before + then * progress;
  return { budgetUsed: last + now * progress, budgetMarks: count < 2 ? [last] : [before, last] };
}

function withAttempt(state: LoopState, config: LoopConfig): LoopState {
  const attempt = {
    effectId: ids.attempt,
    number: 1,
    messageId: 'answer',
    model: config.models[state.query.modelIndex] ?? '',
    maxTokens: fittingMaxTokens(state, config) ?? 1,
    delayMs: 0,
    estimate: null,
  };
  return { ...state, scratch: { ...state.scratch, attempt } };
}
