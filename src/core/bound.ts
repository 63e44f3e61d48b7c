/** The worst case of a query, computed from its limits. */
import { isShrinking, isSubAgent, type LoopConfig } from './config.ts';

/** What can cause another request for an answer. `docs/termination.md` says why each is bounded. */
export type Mechanism =
  | 'turns'
  | 'drains'
  | 'reactiveCompactions'
  | 'escalations'
  | 'outputRecoveries'
  | 'stopHookBlocks'
  | 'budgetContinuations'
  | 'malformedAnswers'
  | 'pauseTurns'
  | 'thinkingOnly'
  | 'outputMismatches'
  | 'fallbacks'
  | 'retries'
  | 'oneShotResends';

/** The most that any model, tool, hook and network can cause. */
export interface Bound {
  /** Requests for answers, repeated ones included: the sum of `shares`. */
  readonly modelCalls: number;
  /** Requests for summaries. */
  readonly summaryCalls: number;
  /** Iterations in a row in which no tool runs, so that `maxTurns` does not count them. */
  readonly toolFreeIterations: number;
  /** Turns that the figures are for: `maxTurns`, or 1 when there is no limit and they hold for each turn. */
  readonly turns: number;
  /** Requests for answers by what causes them. `retries` are those of all others. */
  readonly shares: { readonly [Name in Mechanism]: number };
}

/** Computes the worst case; per turn when `maxTurns` is null. The derivation stands in `docs/termination.md`. */
export function bound(config: LoopConfig): Bound {
  const turns = config.maxTurns ?? 1;
  const { limits } = config;
  const continues = continuesOf(config, turns);
  const reasks = {
    malformedAnswers: turns * limits.malformedAnswers,
    pauseTurns: turns * limits.pauseTurns,
    thinkingOnly: turns * limits.thinkingOnly,
    outputMismatches: config.outputSchema === null ? 0 : limits.outputMismatches,
  };
  const fallbacks = reachableFallbacks(config);
  const iterations = sum(continues);
  const answers = iterations + sum(reasks) + fallbacks;
  const shares = {
    ...continues,
    ...reasks,
    fallbacks,
    retries: limits.retries * answers,
    // These follow a failure that leaves the count of retries as it was, so no retries of their own come with them.
    oneShotResends: turns * (config.thinking === 'off' ? 2 : 3),
  };
  return {
    modelCalls: sum(shares),
    summaryCalls: summaries(config, turns, iterations) * (limits.compactionShrinks + 1),
    toolFreeIterations: sum(continuesOf(config, 1)),
    turns,
    shares,
  };
}

function sum(parts: { readonly [name: string]: number }): number {
  return Object.values(parts).reduce((total, part) => total + part, 0);
}

type Continues = Pick<
  Bound['shares'],
  | 'turns'
  | 'drains'
  | 'reactiveCompactions'
  | 'escalations'
  | 'outputRecoveries'
  | 'stopHookBlocks'
  | 'budgetContinuations'
>;

/** Iterations by the reason that begins them. */
function continuesOf(config: LoopConfig, turns: number): Continues {
  const { limits } = config;
  return {
    turns,
    // Without background summaries only those that the session brought along can be committed, all at once.
    drains: summarisesSpans(config) ? turns : Math.min(turns, 1),
    reactiveCompactions: reactiveCompactions(config, turns),
    escalations: config.maxOutputTokens === null ? turns : 0,
    outputRecoveries: turns * limits.outputRecoveries,
    stopHookBlocks: config.stopHooks && !isShrinking(config) ? limits.stopHookBlocks : 0,
    budgetContinuations: config.tokenBudget === null || isSubAgent(config) ? 0 : limits.budgetContinuations,
  };
}

function summarisesSpans(config: LoopConfig): boolean {
  return config.collapse && config.smallModel !== null && !isShrinking(config) && config.limits.spanFailures > 0;
}

/** One a turn; but a row of refills must be followed by turns without a compaction before the next may begin. */
function reactiveCompactions(config: LoopConfig, turns: number): number {
  if (!config.reactiveCompact || isShrinking(config)) return 0;
  const { refills, refillTurns } = config.limits;
  if (refillTurns < 1) return turns;
  const period = refills + refillTurns;
  return Math.floor(turns / period) * (refills + 1) + Math.min(turns % period, refills + 1);
}

/** So few retries that no row of overloads gets long enough leave every fallback out of reach. */
function reachableFallbacks({ limits, models }: LoopConfig): number {
  return limits.retries + 1 >= limits.overloadsBeforeFallback ? models.length - 1 : 0;
}

/**
 * Compactions that may be asked for. One belongs to each iteration: the proactive one before its request, or the reactive
 * one that began it, behind which no proactive one is tried. And breaker and refills allow only so many.
 */
function summaries(config: LoopConfig, turns: number, iterations: number): number {
  if (!config.autoCompact || isShrinking(config)) return reactiveCompactions(config, turns);
  const { compactionFailures, refills, refillTurns } = config.limits;
  // A context that is over the threshold has had its staged summaries committed: the pass before a drain compacts nothing.
  const passes = iterations - (config.collapse && !summarisesSpans(config) ? 1 : 0);
  const rows = refillTurns < 1 ? Number.POSITIVE_INFINITY : Math.ceil(turns / refillTurns);
  const worked = rows * (refills + 1);
  // Before each that works stand failures that open no breaker; those that open it may stand before the last, if that one
  // is reactive. Behind the last stands none: it would come so soon that it ends the query.
  const last = reactiveCompactions(config, turns) > 0 ? 1 : 0;
  return Math.min(passes, worked * Math.max(1, compactionFailures) + last);
}
