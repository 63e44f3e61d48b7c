/** The worst case of a query, computed from its limits. */
import { isShrinking, isSubAgent, type LoopConfig } from './config.ts';

/** The most that any model, tool, hook and network can cause. */
export interface Bound {
  /** Requests for answers, repeated ones included. */
  readonly modelCalls: number;
  /** Requests for summaries. */
  readonly summaryCalls: number;
  /** Iterations in a row in which no tool runs, so that `maxTurns` does not count them. */
  readonly toolFreeIterations: number;
  /** Turns that the figures are for: `maxTurns`, or 1 when there is no limit and they hold for each turn. */
  readonly turns: number;
}

/** Computes the worst case; per turn when `maxTurns` is null. The derivation stands in `docs/determinism.md`. */
export function bound(config: LoopConfig): Bound {
  const turns = config.maxTurns ?? 1;
  const { limits } = config;
  const again = againInOneTurn(config);
  const inAll = againInTheQuery(config);
  const iterations = turns * (1 + again) + inAll;
  const fallbacks = reachableFallbacks(config);
  const mismatches = config.outputSchema === null ? 0 : limits.outputMismatches;
  const reasks = turns * (limits.malformedAnswers + limits.pauseTurns + limits.thinkingOnly) + mismatches;
  // Only these follow a failure that leaves the count of retries as it was.
  const oneShots = turns * (config.thinking === 'off' ? 2 : 3);
  return {
    modelCalls: (limits.retries + 1) * (iterations + reasks + fallbacks) + oneShots,
    summaryCalls: summaries(config, turns, iterations + fallbacks) * (limits.compactionShrinks + 1),
    toolFreeIterations: 1 + again + inAll,
    turns,
  };
}

/** Continues of one turn beside `next_turn`: a drain, a reactive compaction, an escalation, the recoveries. */
function againInOneTurn(config: LoopConfig): number {
  const escalation = config.maxOutputTokens === null ? 1 : 0;
  return 1 + reactivePerTurn(config) + escalation + config.limits.outputRecoveries;
}

/** Continues that the query as a whole bounds. */
function againInTheQuery(config: LoopConfig): number {
  const { limits } = config;
  const hookBlocks = config.stopHooks && !isShrinking(config) ? limits.stopHookBlocks : 0;
  return hookBlocks + (config.tokenBudget === null || isSubAgent(config) ? 0 : limits.budgetContinuations);
}

function reactivePerTurn(config: LoopConfig): number {
  return config.reactiveCompact && !isShrinking(config) ? 1 : 0;
}

/** So few retries that no row of overloads gets long enough leave every fallback out of reach. */
function reachableFallbacks({ limits, models }: LoopConfig): number {
  return limits.retries + 1 >= limits.overloadsBeforeFallback ? models.length - 1 : 0;
}

/** Compactions that may be asked for: one a pass and a reactive one a turn, and no more than breaker and refills allow. */
function summaries(config: LoopConfig, turns: number, passes: number): number {
  const { compactionFailures, refills, refillTurns } = config.limits;
  const reactive = turns * reactivePerTurn(config);
  if (!config.autoCompact || isShrinking(config)) return reactive;
  const rows = refillTurns < 1 ? Number.POSITIVE_INFINITY : Math.ceil(turns / refillTurns);
  const worked = rows * (refills + 1);
  // Before each that works, and at the end, stand failures; a reactive one that fails ends the query.
  const allowed = (worked + 1) * Math.max(1, compactionFailures) + reactivePerTurn(config);
  return Math.min(passes + reactive, allowed);
}
