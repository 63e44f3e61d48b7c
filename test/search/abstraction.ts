/**
 * What the search keeps of a state: its phase, every counter and every flag, and of the conversation only what guards ask
 * of it (how large it is by either measure, whether something can be summarised, whether it holds media, thinking, a staged
 * span). `rebuild` gives the one state that stands for all states with the same features, so that a key says all of it.
 */
import type { LoopConfig } from '../../src/core/config.ts';
import { planCut } from '../../src/core/context/auto-compact.ts';
import { canDrain } from '../../src/core/context/collapse.ts';
import { contextSize, estimateHistory } from '../../src/core/context/tokens.ts';
import { sentThinking } from '../../src/core/attempts.ts';
import { emptyScratch, freshTurn, initialState, limitsOf } from '../../src/core/initial-state.ts';
import { isThinking } from '../../src/core/message.ts';
import type { ContinueName, LoopState, Phase, TurnCounters, Verdict } from '../../src/core/state.ts';
import { conversation, fittingMaxTokens } from '../../src/core/wire/request.ts';
import {
  blockCodes,
  blocksOf,
  compactionOf,
  endOf,
  historyOf,
  holdsMedia,
  ids,
  levelOf,
  loweredOutput,
  runCodes,
  runsOf,
  seed,
  sizes,
  stagedSpan,
  waitingMessage,
} from './canonical.ts';

/** All that decides what can happen next. */
export interface Features {
  readonly phase: Phase;
  /** In `ended`, the terminal and its outcome; empty before. */
  readonly terminal: string;
  readonly turnCount: number;
  /** Only a drain is remembered: every other reader looks in the step in which it was written. */
  readonly transition: ContinueName | '';
  readonly recoveries: number;
  readonly reactive: boolean;
  readonly escalated: boolean;
  readonly pendingSummary: boolean;
  readonly stopHookActive: boolean;
  /** Turns since the last compaction that worked, up to `refillTurns`; -1 before the first. */
  readonly turnsSince: number;
  readonly failures: number;
  readonly refills: number;
  readonly breakerOpen: boolean;
  readonly modelIndex: number;
  readonly lowerLimit: boolean;
  readonly turn: string;
  readonly retries: number;
  readonly overloads: number;
  readonly stopHookBlocks: number;
  readonly budgetContinuations: number;
  /** Progress since the last continuation, and between the last two, in steps of 500 tokens; `spent` beats both. */
  readonly budget: string;
  readonly queued: boolean;
  readonly cuttable: boolean;
  readonly estimate: number;
  /** Level of the API's figure; -1 without one. */
  readonly measured: number;
  readonly media: boolean;
  readonly thinking: boolean;
  readonly staged: boolean;
  /** While a summary is written; every other way back to `preparing` sets it anew. */
  readonly compactionTried: boolean;
  readonly verdict: Verdict | '';
  readonly cures: string;
  readonly shrinks: number;
  readonly blocks: string;
  readonly runs: string;
}

/** The name of a state in the search. */
export function keyOf(features: Features): string {
  return Object.values(features).map(short).join(' ');
}

function short(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? '1' : '0') : String(value);
}

const drained: ContinueName = 'collapse_drain_retry';

/** Phases from which only `next_turn` or a terminal leads on: what `next_turn` drops is dead there. */
const endsTurn: ReadonlySet<Phase> = new Set(['runningTools', 'attaching']);

/** The features of a state. Counters that no guard will ever read again are left out, so that equal futures are one state. */
export function featuresOf(state: LoopState, config: LoopConfig): Features {
  const { phase, carried, query, scratch } = state;
  if (phase === 'ended') return endedFeatures(state);
  const dead = endsTurn.has(phase);
  const tracking = carried.autoCompactTracking;
  const messages = conversation(state);
  const hasThinking = messages.some(({ role, content }) => role === 'assistant' && content.some(isThinking));
  const mayFallBack = query.modelIndex + 1 < config.models.length;
  return {
    phase,
    terminal: '',
    turnCount: config.maxTurns === null ? 1 : carried.turnCount,
    transition: carried.transition === drained && !dead ? drained : '',
    recoveries: dead ? 0 : carried.maxOutputTokensRecoveryCount,
    reactive: !dead && carried.hasAttemptedReactiveCompact,
    escalated: !dead && carried.maxOutputTokensOverride !== null,
    pendingSummary: carried.pendingToolUseSummary !== null,
    stopHookActive: carried.stopHookActive,
    turnsSince: tracking.compacted ? Math.min(tracking.turnsSince, config.limits.refillTurns) : -1,
    failures: query.breakerOpen ? 0 : Math.min(tracking.failures, config.limits.compactionFailures),
    refills: Math.min(tracking.refills, config.limits.refills),
    breakerOpen: query.breakerOpen,
    modelIndex: query.modelIndex,
    lowerLimit: query.limits.maxOutput < limitsOf(config, query.modelIndex).maxOutput,
    turn: dead ? '0.0.0.0.0.0.0' : turnCode(state),
    retries: query.retries,
    overloads: mayFallBack ? Math.min(query.overloadsInARow, config.limits.overloadsBeforeFallback) : 0,
    stopHookBlocks: query.stopHookBlocks,
    budgetContinuations: query.budgetContinuations,
    budget: budgetCode(state, config),
    queued: query.queued.length > 0,
    cuttable: planCut(state, config) !== null,
    estimate: levelOf(estimateHistory(messages, state, config)),
    measured: query.measured === null ? -1 : levelOf(contextSize(state, config)),
    media: messages.some(holdsMedia),
    thinking: config.thinking !== 'off' && hasThinking && sentThinking(state, config),
    staged: canDrain(messages, query.staged),
    compactionTried: scratch.compaction !== null && scratch.compactionTried,
    verdict: scratch.verdict ?? '',
    cures: scratch.compaction?.cures ?? '',
    shrinks: scratch.compaction?.shrinks ?? 0,
    blocks: blockCodes(state),
    runs: runCodes(state),
  };
}

/** The features of a query that has ended, but for how. */
export const blank: Features = {
  phase: 'ended',
  terminal: '',
  turnCount: 1,
  transition: '',
  recoveries: 0,
  reactive: false,
  escalated: false,
  pendingSummary: false,
  stopHookActive: false,
  turnsSince: -1,
  failures: 0,
  refills: 0,
  breakerOpen: false,
  modelIndex: 0,
  lowerLimit: false,
  turn: '',
  retries: 0,
  overloads: 0,
  stopHookBlocks: 0,
  budgetContinuations: 0,
  budget: '',
  queued: false,
  cuttable: false,
  estimate: 0,
  measured: -1,
  media: false,
  thinking: false,
  staged: false,
  compactionTried: false,
  verdict: '',
  cures: '',
  shrinks: 0,
  blocks: '',
  runs: '',
};

function endedFeatures({ terminal }: LoopState): Features {
  return { ...blank, terminal: `${terminal?.reason}/${terminal?.outcome ?? ''}` };
}

function turnCode({ query: { turn } }: LoopState): string {
  return counters.map((name) => turn[name]).join('.');
}

const counters = Object.keys(freshTurn) as readonly (keyof TurnCounters)[];

function turnOf(code: string): TurnCounters {
  const numbers = code.split('.').map(Number);
  return counters.reduce((turn, name, index) => ({ ...turn, [name]: numbers[index] ?? 0 }), freshTurn);
}

/** Tokens that count as progress; the loop's own number. */
const progress = 500;

function budgetCode({ query }: LoopState, config: LoopConfig): string {
  if (config.tokenBudget === null) return '';
  if (query.budgetUsed >= config.tokenBudget * 0.9) return 'spent';
  const { budgetMarks: marks, budgetUsed } = query;
  const last = marks.at(-1);
  if (last === undefined) return 'unspent';
  const step = (tokens: number): number => (tokens >= progress ? 1 : 0);
  return `${step(budgetUsed - last)}.${marks.length < 2 ? 0 : step(last - (marks[0] ?? 0))}`;
}

/** Used tokens and marks that give the code: so near to 90 % that one large answer spends the budget, and no small one. */
function budgetOf(code: string, count: number, config: LoopConfig): { budgetUsed: number; budgetMarks: number[] } {
  const total = (config.tokenBudget ?? 0) * 0.9;
  const before = total - 4 * progress;
  if (code === '' || code === 'spent') return { budgetUsed: total, budgetMarks: [] };
  if (code === 'unspent') return { budgetUsed: before, budgetMarks: [] };
  const [now = 0, then = 0] = code.split('.').map(Number);
  const last = before + then * progress;
  return { budgetUsed: last + now * progress, budgetMarks: count < 2 ? [last] : [before, last] };
}

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
  const { modelIndex, measured, turnsSince } = features;
  const limits = limitsOf(config, modelIndex);
  const state: LoopState = {
    ...start,
    phase: features.phase,
    carried: {
      ...start.carried,
      messages,
      autoCompactTracking: {
        compacted: turnsSince >= 0,
        turnId: '',
        turnsSince: Math.max(0, turnsSince),
        failures: features.failures,
        refills: features.refills,
      },
      maxOutputTokensRecoveryCount: features.recoveries,
      hasAttemptedReactiveCompact: features.reactive,
      maxOutputTokensOverride: features.escalated ? sizes.escalated : null,
      pendingToolUseSummary: features.pendingSummary ? { effectId: ids.summary, toolUseIds: [] } : null,
      stopHookActive: features.stopHookActive,
      turnCount: features.turnCount,
      transition: features.transition === '' ? null : features.transition,
    },
    scratch: {
      ...emptyScratch,
      blocks: blocksOf(features.blocks),
      toolRuns: runsOf(features.runs),
      end: endOf(features.verdict),
      verdict: features.verdict === '' ? null : features.verdict,
      effectId: ids.phase,
      compaction: compactionOf(features, messages),
      compactionTried: features.compactionTried,
    },
    query: {
      ...start.query,
      modelIndex,
      limits: features.lowerLimit ? { ...limits, maxOutput: loweredOutput } : limits,
      queued: features.queued ? [waitingMessage] : [],
      staged: features.staged ? [stagedSpan] : [],
      turn: turnOf(features.turn),
      retries: features.retries,
      overloadsInARow: features.overloads,
      fallbacks: modelIndex,
      stopHookBlocks: features.stopHookBlocks,
      budgetContinuations: features.budgetContinuations,
      ...budgetOf(features.budget, features.budgetContinuations, config),
      breakerOpen: features.breakerOpen,
      measured: measured < 0 ? null : { tokens: sizes.levels[measured] ?? 0, messages: messages.length },
    },
  };
  return features.phase === 'streaming' ? withAttempt(state, config) : state;
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
