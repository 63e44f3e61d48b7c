/** The configurations that are searched: small limits, a small window, everything that a limit may guard switched on. */
import { defaultConfig, type LoopConfig, type RecoveryLimits } from '../../src/core/config.ts';
import type { Message } from '../../src/core/message.ts';
import type { LoopState } from '../../src/core/state.ts';
import { contextWindow, level, protectedTail } from './canonical.ts';
import type { CounterName } from './counters.ts';
import type { Environment } from './environment.ts';

/** Every limit at its least: what is left of the loop are its one-shot rungs. */
const leastLimits: RecoveryLimits = {
  retries: 0,
  overloadsBeforeFallback: 1,
  outputRecoveries: 0,
  malformedAnswers: 0,
  pauseTurns: 0,
  thinkingOnly: 0,
  outputMismatches: 0,
  stopHookBlocks: 0,
  budgetContinuations: 0,
  compactionFailures: 1,
  compactionShrinks: 0,
  refills: 0,
  refillTurns: 1,
  spanFailures: 1,
  repeatsBeforeAdvice: 0,
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
  const spans = config.collapse && config.smallModel !== null ? [level.filling] : [];
  const levels = [level.low, ...spans, config.autoCompact ? level.over : level.hard];
  return { classes: 'representatives', grain: 'answers', levels, bystanders: false, wide: false };
}

/** Everything that the outside can send. */
export function wide(config: LoopConfig): Environment {
  return {
    classes: 'representatives',
    grain: 'answers',
    levels: [...narrow(config).levels, level.full],
    bystanders: true,
    wide: true,
  };
}

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
 * Rows of refills so long, with so many failures before each, that the passes of one turn do not hold them: in so many turns
 * the summaries stay under their bound.
 */
export const loose: readonly { readonly setting: Setting; readonly turns: readonly number[] }[] = [
  {
    setting: { reactiveCompact: false, limits: { compactionFailures: 2, refills: 1, refillTurns: 2 } },
    turns: [3, 4, 5, 6],
  },
  { setting: { limits: { refills: 2, refillTurns: 2 } }, turns: [3, 5] },
];

/** Settings of the suite: a few in which mechanisms stand beside each other. */
export const suite: readonly Setting[] = [
  ...loose.map(({ setting }) => setting),
  {},
  { limits: { refills: 1 } },
  { limits: { compactionShrinks: 2 } },
  { limits: { compactionFailures: 2 } },
  { autoCompact: false },
  { reactiveCompact: false },
  { querySource: 'compact' },
  { models: ['one', 'two', 'three'] },
  { ...alone, outputSchema: {}, limits: { outputMismatches: 2, pauseTurns: 1 } },
  { limits: { outputRecoveries: 2 } },
  { ...alone, limits: { retries: 1, pauseTurns: 1, malformedAnswers: 1 } },
];

/** Settings in which each mechanism has more than one step, alone and beside others; `npm run search` takes them all. */
export const family: readonly Setting[] = [
  ...suite,
  { limits: { retries: 2 } },
  { limits: { malformedAnswers: 2 } },
  { limits: { thinkingOnly: 2 } },
  { limits: { pauseTurns: 2 } },
  { limits: { stopHookBlocks: 2 } },
  { limits: { compactionFailures: 0 } },
  { limits: { compactionFailures: 3 } },
  { limits: { refills: 1, refillTurns: 3 } },
  { limits: { refillTurns: 3 } },
  { limits: { refills: 1, refillTurns: 0 } },
  { autoCompact: false, limits: { refillTurns: 2 } },
  { smallModel: 'small', autoCompact: false },
  { autoCompact: false, reactiveCompact: false },
  { collapse: false },
  { maxOutputTokens: 8_000 },
  { stopHooks: false },
  { querySource: 'agent:x', tokenBudget: budget, limits: { budgetContinuations: 2 } },
  { ...alone, stopHooks: true, tokenBudget: budget, limits: { budgetContinuations: 2, stopHookBlocks: 1 } },
  { ...alone, tokenBudget: budget, limits: { budgetContinuations: defaultConfig.limits.budgetContinuations } },
  { collapse: false, models: ['one', 'two'], limits: { retries: 1, overloadsBeforeFallback: 2 } },
  { collapse: false, models: ['one', 'two'], limits: { retries: 1, overloadsBeforeFallback: 3 } },
  { collapse: false, thinking: 'adaptive', limits: { retries: 1 } },
  { ...alone, limits: { retries: 1, malformedAnswers: 1, pauseTurns: 1, thinkingOnly: 1, outputRecoveries: 1 } },
];

/** A setting whose limits of these counters may have any size; longest runs are then computed for the default limits. */
export interface AnyLimitSetting {
  readonly setting: Setting;
  readonly counters: readonly CounterName[];
}

const ofAnswers: readonly CounterName[] = ['retries', 'malformedAnswers', 'pauseTurns', 'thinkingOnly'];
const ofTurns: readonly CounterName[] = [...ofAnswers, 'outputRecoveries'];
const ofCompactions: readonly CounterName[] = [
  'outputRecoveries',
  'compactionFailures',
  'compactionShrinks',
  'refills',
];
const { refillTurns, overloadsBeforeFallback } = defaultConfig.limits;

/** Those of the suite. */
export const anyLimit: readonly AnyLimitSetting[] = [
  { setting: alone, counters: ofAnswers },
  { setting: { ...alone, outputSchema: {} }, counters: ['retries', 'pauseTurns', 'outputMismatches'] },
  { setting: { stopHooks: false, limits: { refillTurns } }, counters: ofCompactions },
  { setting: { ...alone, collapse: true, smallModel: 'small' }, counters: ['spanFailures', 'pauseTurns'] },
];

/** Those of `npm run search -- --defaults`: each mechanism beside all others that a run can mix it with. */
export const anyLimitAtLength: readonly AnyLimitSetting[] = [
  ...anyLimit,
  { setting: { limits: { refillTurns } }, counters: [...ofCompactions, 'stopHookBlocks'] },
  {
    setting: { ...alone, models: ['one', 'two', 'three'], limits: { overloadsBeforeFallback } },
    counters: ofTurns,
  },
  {
    setting: { ...alone, outputSchema: {}, stopHooks: true },
    counters: [...ofAnswers, 'outputMismatches', 'stopHookBlocks'],
  },
  { setting: { stopHooks: false, limits: { refillTurns } }, counters: ofTurns },
  { setting: { limits: { refillTurns } }, counters: [...ofTurns, 'stopHookBlocks'] },
];

/** Every counter that the defaults and stop hooks use at once: shown to end, for any limits; too large for values. */
export const everything: AnyLimitSetting = {
  setting: { limits: { refillTurns } },
  counters: [...new Set([...ofTurns, ...ofCompactions, 'stopHookBlocks'] as const)],
};

/** The first token that is written to a cache costs all that may be spent. */
const capped: Setting = {
  maxCost: 1,
  prices: Object.fromEntries(
    ['one', 'small'].map((model) => [
      model,
      { input: 0, output: 0, cacheRead: 0, cacheWrite: 1_000_000, longInput: null },
    ]),
  ),
};

/** Settings whose rows together are the whole table. */
export const coverage: readonly Setting[] = [
  { ...alone, stopHooks: true, smallModel: 'small', limits: { stopHookBlocks: 1 } },
  { ...alone, tokenBudget: budget, limits: { budgetContinuations: 1 } },
  { ...alone, outputSchema: {}, limits: { outputMismatches: 1 } },
  { ...alone, ...capped, tokenBudget: budget, stopHooks: true, limits: { budgetContinuations: 1, stopHookBlocks: 1 } },
  { ...alone, ...capped, autoCompact: true, smallModel: 'small', limits: { retries: 1 } },
  { ...alone, thinking: 'adaptive', models: ['one', 'two'], limits: { retries: 1 } },
  {
    ...alone,
    maxOutputTokens: null,
    limits: { pauseTurns: 1, thinkingOnly: 1, outputRecoveries: 1 },
  },
  { ...alone, collapse: true, maxTurns: 2, microcompactor: withoutFiller },
  { ...alone, collapse: true, smallModel: 'small', limits: { spanFailures: 2 } },
  { ...alone, autoCompact: true, systemTokens: 10_500 },
  {
    ...alone,
    autoCompact: true,
    fallbackLimits: { contextWindow, maxOutput: 16_000, onDemandCompaction: true },
    limits: { outputRecoveries: 1 },
  },
  { ...alone, autoCompact: true, reactiveCompact: true, limits: { compactionShrinks: 1 } },
];

/** A layer of a user: the message that fills the context is cut to a word. */
function withoutFiller(state: LoopState): LoopState {
  const { messages } = state.carried;
  const shorter = messages.map((message): Message => {
    if (JSON.stringify(message).length < 10_000) return message;
    const content = [{ type: 'text', text: 'x' }] as const;
    return message.role === 'user' ? { ...message, content } : { ...message, content };
  });
  if (shorter.every((message, index) => message === messages[index])) return state;
  return { ...state, carried: { ...state.carried, messages: shorter } };
}
