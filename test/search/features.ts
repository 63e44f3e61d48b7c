/**
 * What the search keeps of a state: its phase, every counter and every flag, and of the conversation only what guards ask
 * of it (how large it is by either measure, whether something can be summarised, whether it holds media, thinking, a staged
 * span). `rebuild` gives the one state that stands for all states with the same features, so that a key says all of it.
 *
 * A new counter of a turn is found by itself; one of the query is a name in `queryCounters`.
 */
import { sentThinking } from '../../src/core/attempts.ts';
import type { LoopConfig } from '../../src/core/config.ts';
import { planCut } from '../../src/core/context/auto-compact.ts';
import { canDrain } from '../../src/core/context/collapse.ts';
import { contextSize, estimateHistory } from '../../src/core/context/tokens.ts';
import { isCostReached } from '../../src/core/cost.ts';
import { freshTurn, limitsOf } from '../../src/core/initial-state.ts';
import { isThinking } from '../../src/core/message.ts';
import type { ContinueName, LoopState, Phase, QueryAccount, TurnCounters, Verdict } from '../../src/core/state.ts';
import { conversation } from '../../src/core/wire/request.ts';
import { blockCodes, holdsMedia, levelOf, runCodes } from './canonical.ts';

/** 0: nothing can be summarised. 1: only what an overflow forces. 2: everything but a tail. */
export type Cuttable = 0 | 1 | 2;

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
  /** Counters of the turn, and of the query, in their order. */
  readonly turn: string;
  readonly query: string;
  readonly retries: number;
  readonly overloads: number;
  /** Progress since the last continuation, and between the last two, in steps of 500 tokens; `spent` beats both. */
  readonly budget: string;
  /** All that may be spent is. */
  readonly costly: boolean;
  readonly queued: boolean;
  /** The query exists to compact. */
  readonly byHand: boolean;
  readonly cuttable: Cuttable;
  readonly estimate: number;
  /** Level of the API's figure; -1 without one. */
  readonly measured: number;
  readonly media: boolean;
  readonly thinking: boolean;
  readonly staged: boolean;
  readonly pendingSpan: boolean;
  readonly spanFailures: number;
  /** While a summary is written; every other way back to `preparing` sets it anew. */
  readonly compactionTried: boolean;
  readonly verdict: Verdict | '';
  readonly cures: string;
  readonly shrinks: number;
  /** The API itself summarises; and it refused to before. */
  readonly onDemand: boolean;
  readonly onDemandOff: boolean;
  readonly blocks: string;
  readonly runs: string;
}

/** Counters that nothing sets back. */
export const queryCounters = [
  'stopHookBlocks',
  'budgetContinuations',
  'outputMismatches',
] as const satisfies readonly (keyof QueryAccount)[];
export const turnCounters = Object.keys(freshTurn) as readonly (keyof TurnCounters)[];

/** Numbers as one word. */
export function encode<Name extends string>(names: readonly Name[], of: { readonly [Each in Name]: number }): string {
  return names.map((name) => of[name]).join('.');
}

/** What `encode` made a word of. */
export function decode<Name extends string>(names: readonly Name[], code: string): { readonly [Each in Name]: number } {
  const numbers = code.split('.').map(Number);
  return Object.fromEntries(names.map((name, index) => [name, numbers[index] ?? 0])) as { [Each in Name]: number };
}

const freshCode = encode(turnCounters, freshTurn);

/** The name of a state in the search. */
export function keyOf(features: Features): string {
  let key = '';
  for (const value of Object.values(features)) key += value === true ? '1 ' : value === false ? '0 ' : `${value} `;
  return key;
}

const drained: ContinueName = 'collapse_drain_retry';

/** Phases from which only `next_turn` or a terminal leads on: what `next_turn` drops is dead there. */
const endsTurn: ReadonlySet<Phase> = new Set(['runningTools', 'attaching']);

/** The features of a state. Counters that no guard will ever read again are left out, so that equal futures are one state. */
export function featuresOf(state: LoopState, config: LoopConfig): Features {
  const { phase, terminal } = state;
  if (phase === 'ended') return { ...blank, terminal: `${terminal?.reason}/${terminal?.outcome ?? ''}` };
  return {
    ...blank,
    phase,
    ...carriedFeatures(state, config),
    ...queryFeatures(state, config),
    ...scratchFeatures(state),
  };
}

function carriedFeatures({ phase, carried, query }: LoopState, config: LoopConfig): Partial<Features> {
  const dead = endsTurn.has(phase);
  const { compacted, turnsSince, failures, refills } = carried.autoCompactTracking;
  const { limits } = config;
  return {
    turnCount: config.maxTurns === null ? 1 : carried.turnCount,
    transition: carried.transition === drained && !dead ? drained : '',
    recoveries: dead ? 0 : carried.maxOutputTokensRecoveryCount,
    reactive: !dead && carried.hasAttemptedReactiveCompact,
    escalated: !dead && carried.maxOutputTokensOverride !== null,
    pendingSummary: carried.pendingToolUseSummary !== null,
    stopHookActive: carried.stopHookActive,
    turnsSince: compacted ? Math.min(turnsSince, limits.refillTurns) : -1,
    failures: query.breakerOpen ? 0 : Math.min(failures, limits.compactionFailures),
    refills: Math.min(refills, limits.refills),
    turn: dead ? freshCode : encode(turnCounters, query.turn),
  };
}

function queryFeatures(state: LoopState, config: LoopConfig): Partial<Features> {
  const { query } = state;
  const messages = conversation(state);
  const mayFallBack = query.modelIndex + 1 < config.models.length;
  return {
    breakerOpen: query.breakerOpen,
    modelIndex: query.modelIndex,
    lowerLimit: query.limits.maxOutput < limitsOf(config, query.modelIndex).maxOutput,
    query: encode(queryCounters, query),
    retries: query.retries,
    overloads: mayFallBack ? Math.min(query.overloadsInARow, config.limits.overloadsBeforeFallback) : 0,
    budget: budgetCode(state, config),
    costly: isCostReached(state, config),
    queued: query.queued.length > 0,
    byHand: query.manualCompaction !== null,
    cuttable: cuttable(state, config),
    estimate: levelOf(estimateHistory(messages, state, config)),
    measured: query.measured === null ? -1 : levelOf(contextSize(state, config)),
    media: messages.some(holdsMedia),
    thinking: config.thinking !== 'off' && messages.some(holdsThinking) && sentThinking(state, config),
    staged: canDrain(messages, query.staged),
    pendingSpan: query.pendingSpan !== null,
    spanFailures: Math.min(query.spanFailures, config.limits.spanFailures),
    onDemandOff: query.onDemandOff,
  };
}

function cuttable(state: LoopState, config: LoopConfig): Cuttable {
  if (planCut(state, config) !== null) return 2;
  return planCut(state, config, true) === null ? 0 : 1;
}

type Messages = ReturnType<typeof conversation>;

function holdsThinking({ role, content }: Messages[number]): boolean {
  return role === 'assistant' && content.some(isThinking);
}

function scratchFeatures(state: LoopState): Partial<Features> {
  const { compaction, compactionTried, verdict } = state.scratch;
  return {
    compactionTried: compaction !== null && compactionTried,
    verdict: verdict ?? '',
    cures: compaction?.cures ?? '',
    shrinks: compaction?.shrinks ?? 0,
    onDemand: compaction?.onDemand ?? false,
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
  turn: freshCode,
  query: queryCounters.map(() => 0).join('.'),
  retries: 0,
  overloads: 0,
  budget: '',
  costly: false,
  queued: false,
  byHand: false,
  cuttable: 0,
  estimate: 0,
  measured: -1,
  media: false,
  thinking: false,
  staged: false,
  pendingSpan: false,
  spanFailures: 0,
  compactionTried: false,
  verdict: '',
  cures: '',
  shrinks: 0,
  onDemand: false,
  onDemandOff: false,
  blocks: '',
  runs: '',
};

/** Tokens that count as progress; the loop's own number. */
export const progress = 500;

function budgetCode({ query }: LoopState, config: LoopConfig): string {
  if (config.tokenBudget === null) return '';
  if (query.budgetUsed >= config.tokenBudget * 0.9) return 'spent';
  const { budgetMarks: marks, budgetUsed } = query;
  const last = marks.at(-1);
  if (last === undefined) return 'unspent';
  const step = (tokens: number): number => (tokens >= progress ? 1 : 0);
  return `${step(budgetUsed - last)}.${marks.length < 2 ? 0 : step(last - (marks[0] ?? 0))}`;
}
