/** Options of a query as they come from callers, command lines and files: checked once, then a frozen `LoopConfig`. */
import { z } from 'zod';
import { defaultConfig, type LoopConfig, type ModelLimits } from './core/config.ts';

const tokens = z.int().positive();
const count = z.int().nonnegative();
const milliseconds = z.number().nonnegative();

const limits = z.strictObject({
  retries: count.optional(),
  overloadsBeforeFallback: z.int().positive().optional(),
  outputRecoveries: count.optional(),
  malformedAnswers: count.optional(),
  pauseTurns: count.optional(),
  thinkingOnly: count.optional(),
  stopHookBlocks: count.optional(),
  budgetContinuations: count.optional(),
  compactionFailures: count.optional(),
  compactionShrinks: count.optional(),
  refills: count.optional(),
  refillTurns: count.optional(),
  spanFailures: count.optional(),
  repeatsBeforeAdvice: count.optional(),
});

const share = z.number().min(0).max(1);

const layers = z.strictObject({
  snipAbove: share.optional(),
  snipTo: share.optional(),
  clearAbove: share.optional(),
  clearKeep: z.int().positive().optional(),
  clearTools: z.array(z.string().min(1)).optional(),
  leastFreed: share.optional(),
  stageAbove: share.optional(),
  commitAbove: share.optional(),
  spanSize: share.optional(),
});

const delays = z.strictObject({
  baseMs: milliseconds.optional(),
  capMs: milliseconds.optional(),
  retryAfterCapMs: milliseconds.optional(),
  jitter: z.number().min(0).max(1).optional(),
});

const buffers = z.strictObject({
  outputReserve: count.optional(),
  compactBuffer: count.optional(),
  blockBuffer: count.optional(),
});

/** Every option that is plain data. What each means, its unit and its default stand in `LoopConfig`. */
export const loopOptionsSchema = z.strictObject({
  profile: z.enum(['anthropic', 'plain']).optional(),
  model: z.string().min(1).optional(),
  fallbackModels: z.array(z.string().min(1)).optional(),
  smallModel: z.string().min(1).nullable().optional(),
  /** Override what the API says of the models; the first two in tokens. */
  contextWindow: tokens.optional(),
  modelMaxOutput: tokens.optional(),
  onDemandCompaction: z.boolean().optional(),
  system: z.string().optional(),
  systemTokens: count.optional(),
  querySource: z.string().min(1).optional(),
  maxTurns: z.int().positive().nullable().optional(),
  maxOutputTokens: tokens.nullable().optional(),
  defaultOutputCap: tokens.optional(),
  escalatedOutputCap: tokens.optional(),
  outputFloor: tokens.optional(),
  thinking: z.union([z.boolean(), z.enum(['off', 'adaptive']), z.int().min(1024)]).optional(),
  autoCompact: z.boolean().optional(),
  reactiveCompact: z.boolean().optional(),
  collapse: z.boolean().optional(),
  snip: z.boolean().nullable().optional(),
  microcompact: z.enum(['off', 'local', 'server']).optional(),
  layers: layers.optional(),
  messageResultChars: count.min(1).optional(),
  buffers: buffers.optional(),
  protectedTail: count.optional(),
  minimumFreed: z.number().min(0).max(1).optional(),
  compactInstructions: z.string().nullable().optional(),
  tokenBudget: tokens.nullable().optional(),
  taskBudget: tokens.nullable().optional(),
  permissionMode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions', 'bubble']).optional(),
  toolConcurrency: z.int().positive().optional(),
  limits: limits.optional(),
  delays: delays.optional(),
});

/** The options that are plain data, each of them optional. */
export type LoopOptions = z.input<typeof loopOptionsSchema>;

/** What the options alone do not say. */
export interface ConfigFacts {
  readonly modelLimits: Readonly<Record<string, ModelLimits>>;
  readonly stopHooks: boolean;
  readonly microcompactor: LoopConfig['microcompactor'];
}

/**
 * Checks options and fills in every default.
 *
 * @throws TypeError with one sentence that names each option that is wrong.
 */
export function toLoopConfig(options: LoopOptions, facts: ConfigFacts): LoopConfig {
  const checked = checkOptions(options);
  const { model, fallbackModels, contextWindow, modelMaxOutput, onDemandCompaction, thinking, snip, ...same } = checked;
  const models = [model ?? defaultConfig.models[0]!, ...(fallbackModels ?? [])];
  const known = Object.entries(facts.modelLimits);
  const override = (found: ModelLimits): ModelLimits => ({
    contextWindow: contextWindow ?? found.contextWindow,
    maxOutput: Math.min(modelMaxOutput ?? found.maxOutput, contextWindow ?? found.contextWindow),
    onDemandCompaction: onDemandCompaction ?? found.onDemandCompaction ?? false,
  });
  const config: LoopConfig = {
    ...defaultConfig,
    ...defined(same),
    models,
    modelLimits: Object.fromEntries(known.map(([name, found]) => [name, override(found)])),
    fallbackLimits: override(defaultConfig.fallbackLimits),
    thinking: thinkingOption(thinking),
    snip: snip ?? defaultConfig.snip,
    limits: { ...defaultConfig.limits, ...defined(checked.limits ?? {}) },
    delays: { ...defaultConfig.delays, ...defined(checked.delays ?? {}) },
    buffers: { ...defaultConfig.buffers, ...defined(checked.buffers ?? {}) },
    layers: { ...defaultConfig.layers, ...defined(checked.layers ?? {}) },
    stopHooks: facts.stopHooks,
    microcompactor: facts.microcompactor,
  };
  return deepFreeze(config);
}

/** Checks options alone; see `toLoopConfig` for what it throws. */
export function checkOptions(options: LoopOptions): z.output<typeof loopOptionsSchema> {
  const result = loopOptionsSchema.safeParse(options);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`);
  throw new TypeError(`These options cannot be used: ${problems.join('; ')}.`);
}

function thinkingOption(thinking: LoopOptions['thinking']): LoopConfig['thinking'] {
  if (thinking === undefined || thinking === false) return 'off';
  return thinking === true ? 'adaptive' : thinking;
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The members that have a value, so that an `undefined` of a caller does not hide a default. */
function defined<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
