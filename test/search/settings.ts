/** The configurations that are searched: small limits, a small window, everything that a limit may guard switched on. */
import { defaultConfig, type LoopConfig, type RecoveryLimits } from '../../src/core/config.ts';
import type { LoopState } from '../../src/core/state.ts';
import { contextWindow, protectedTail } from './canonical.ts';
import type { Environment } from './environment.ts';

/** Every limit at its least: what is left of the loop are its one-shot rungs. */
const leastLimits: RecoveryLimits = {
  retries: 0,
  overloadsBeforeFallback: 1,
  outputRecoveries: 0,
  malformedAnswers: 0,
  pauseTurns: 0,
  thinkingOnly: 0,
  stopHookBlocks: 0,
  budgetContinuations: 0,
  compactionFailures: 1,
  compactionShrinks: 0,
  refills: 0,
  refillTurns: 1,
};

export type Setting = Partial<Omit<LoopConfig, 'limits'>> & { readonly limits?: Partial<RecoveryLimits> };

/** A configuration for the search: one model, stop hooks, collapses, and the least limits, but for what `setting` says. */
export function configFor({ limits, ...setting }: Setting): LoopConfig {
  return {
    ...defaultConfig,
    models: ['one'],
    fallbackLimits: { contextWindow, maxOutput: 16_000 },
    protectedTail,
    collapse: true,
    stopHooks: true,
    ...setting,
    limits: { ...leastLimits, ...limits },
  };
}

/** The shortest list of moves that reaches every counter. */
export function narrow(config: LoopConfig): Environment {
  // What lies over the threshold matters with auto-compact, what lies over the hard limit without.
  const levels = config.autoCompact ? [0, 1] : [0, 2];
  return { classes: 'representatives', grain: 'answers', levels, bystanders: false, wide: false };
}

/** Everything that the outside can send. */
export const wide: Environment = {
  classes: 'representatives',
  grain: 'answers',
  levels: [0, 1, 2, 3],
  bystanders: true,
  wide: true,
};

const budget = 100_000;
/** What no other mechanism is asked to play along with. */
export const alone: Setting = {
  collapse: false,
  stopHooks: false,
  autoCompact: false,
  reactiveCompact: false,
  maxOutputTokens: 8_000,
};

/**
 * Rows of refills so long, with so many failures before each, that the passes of one turn do not hold them: the summaries stay
 * under their bound from so many turns on.
 */
export const loose: readonly { readonly setting: Setting; readonly from: number }[] = [
  { setting: { reactiveCompact: false, limits: { compactionFailures: 2, refills: 1, refillTurns: 2 } }, from: 3 },
];

/** Settings in which each mechanism has more than one step, alone and beside others. */
export const family: readonly Setting[] = [
  ...loose.map(({ setting }) => setting),
  {},
  { limits: { retries: 2 } },
  { limits: { outputRecoveries: 2 } },
  { limits: { malformedAnswers: 2 } },
  { limits: { thinkingOnly: 2 } },
  { limits: { pauseTurns: 2 } },
  { limits: { stopHookBlocks: 2 } },
  { limits: { compactionFailures: 0 } },
  { limits: { compactionFailures: 2 } },
  { limits: { compactionFailures: 3 } },
  { limits: { compactionShrinks: 2 } },
  { limits: { refills: 1 } },
  { limits: { refills: 2, refillTurns: 2 } },
  { limits: { refills: 1, refillTurns: 3 } },
  { limits: { refillTurns: 3 } },
  { limits: { refills: 1, refillTurns: 0 } },
  { autoCompact: false },
  { autoCompact: false, limits: { refillTurns: 2 } },
  { reactiveCompact: false },
  { autoCompact: false, reactiveCompact: false },
  { collapse: false },
  { maxOutputTokens: 8_000 },
  { stopHooks: false },
  { smallModel: 'small' },
  { querySource: 'compact' },
  { querySource: 'agent:x', tokenBudget: budget, limits: { budgetContinuations: 2 } },
  { collapse: false, tokenBudget: budget, limits: { budgetContinuations: 2 } },
  { models: ['one', 'two', 'three'] },
  { collapse: false, models: ['one', 'two'], limits: { retries: 1, overloadsBeforeFallback: 2 } },
  { collapse: false, models: ['one', 'two'], limits: { retries: 1, overloadsBeforeFallback: 3 } },
  { collapse: false, thinking: 'adaptive', limits: { retries: 1 } },
  { ...alone, limits: { retries: 1, malformedAnswers: 1, pauseTurns: 1, thinkingOnly: 1, outputRecoveries: 1 } },
];

/** Settings whose rows together are the whole table. */
export const coverage: readonly Setting[] = [
  { ...alone, stopHooks: true, smallModel: 'small', limits: { stopHookBlocks: 1 } },
  { ...alone, tokenBudget: budget, limits: { budgetContinuations: 1 } },
  { ...alone, thinking: 'adaptive', models: ['one', 'two'], limits: { retries: 1 } },
  {
    ...alone,
    maxOutputTokens: null,
    limits: { pauseTurns: 1, malformedAnswers: 1, thinkingOnly: 1, outputRecoveries: 1 },
  },
  { ...alone, collapse: true, maxTurns: 2, microcompactor: withoutFiller },
  { ...alone, autoCompact: true, reactiveCompact: true, limits: { compactionShrinks: 1, outputRecoveries: 1 } },
];

/** A layer of a user: the oldest message is cut to a word. */
function withoutFiller(state: LoopState): LoopState {
  const [first, ...others] = state.carried.messages;
  if (first === undefined || first.id !== 'old0' || JSON.stringify(first).length < 10_000) return state;
  const shrunk = { ...first, content: [{ type: 'text', text: 'x' }] } as typeof first;
  return { ...state, carried: { ...state.carried, messages: [shrunk, ...others] } };
}
