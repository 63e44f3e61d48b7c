/** The worst case of a query, computed from its limits. */
import { isShrinking, isSubAgent, type LoopConfig } from './config.ts';

/** The most that any model, tool, hook and network can cause. */
export interface Bound {
  /** Requests for answers, repeated ones included. */
  readonly modelCalls: number;
  /** Requests for summaries. */
  readonly summaryCalls: number;
  /** Turns that the figures are for: `maxTurns`, or 1 when there is no limit and they hold for each turn. */
  readonly turns: number;
}

/** Computes the worst case; per turn when `maxTurns` is null. The derivation stands in `docs/determinism.md`. */
export function bound(config: LoopConfig): Bound {
  const turns = config.maxTurns ?? 1;
  const { limits } = config;
  const shrinks = isShrinking(config);
  const reactive = config.reactiveCompact && !shrinks ? 1 : 0;
  const escalation = config.maxOutputTokens === null ? 1 : 0;
  const hookBlocks = config.stopHooks && !shrinks ? limits.stopHookBlocks : 0;
  const continuations = config.tokenBudget === null || isSubAgent(config) ? 0 : limits.budgetContinuations;
  const legs = turns * (1 + reactive + escalation + limits.outputRecoveries) + hookBlocks + continuations;
  const drains = turns;
  const oneShots = 3;
  const reasks = turns * (limits.malformedAnswers + limits.pauseTurns + limits.thinkingOnly + oneShots);
  const requests = legs + drains + reasks;
  const tries = limits.retries + 1;
  const fallbacks = config.models.length - 1;
  const passes = config.autoCompact && !shrinks ? legs + drains + fallbacks : 0;
  const summaries = passes + turns * reactive;
  return {
    modelCalls: tries * (requests + fallbacks),
    summaryCalls: summaries * (limits.compactionShrinks + 1),
    turns,
  };
}
