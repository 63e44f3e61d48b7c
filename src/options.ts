/** Options of a query as they come from callers, command lines and files: checked once, then a frozen `LoopConfig`. */
import { z } from 'zod';
import { defaultConfig, type LoopConfig, type ModelLimits } from './core/config.ts';
import type { JsonObject } from './core/json.ts';
import { knownPrice, wholePrice } from './model/prices.ts';
import { outputConfig } from './output-schema.ts';

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
  outputMismatches: count.optional(),
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

const dollars = z.number().nonnegative();

const price = z.strictObject({
  input: dollars,
  output: dollars,
  cacheRead: dollars.optional(),
  cacheWrite: dollars.optional(),
  longInput: z.strictObject({ above: tokens, times: z.number().positive() }).nullable().optional(),
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
  /** Take a `+500k` at either end of a prompt that is a text for its token budget, and off the prompt. */
  promptBudget: z.boolean().optional(),
  taskBudget: tokens.nullable().optional(),
  maxCost: z.number().positive().nullable().optional(),
  /** Dollars for a million tokens, by model: they go before those of the built-in table. */
  prices: z.record(z.string(), price).optional(),
  outputSchema: z.record(z.string(), z.json()).nullable().optional(),
  permissionMode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions', 'bubble']).optional(),
  toolConcurrency: z.int().positive().optional(),
  maxSubAgents: count.optional(),
  maxAgentDepth: count.optional(),
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
  const { model: _model, fallbackModels: _models, promptBudget: _promptBudget, ...others } = checked;
  const { contextWindow, modelMaxOutput, onDemandCompaction, thinking, snip, outputSchema, ...same } = others;
  const models = modelsOf(checked);
  const known = Object.entries(facts.modelLimits);
  const override = (found: ModelLimits): ModelLimits => ({
    contextWindow: contextWindow ?? found.contextWindow,
    maxOutput: Math.min(modelMaxOutput ?? found.maxOutput, contextWindow ?? found.contextWindow),
    onDemandCompaction: onDemandCompaction ?? found.onDemandCompaction ?? false,
    ...(found.structuredOutputs === undefined ? {} : { structuredOutputs: found.structuredOutputs }),
  });
  const plain = { ...defaultConfig, ...defined(same), models };
  const modelLimits = Object.fromEntries(known.map(([name, found]) => [name, override(found)]));
  const config: LoopConfig = {
    ...plain,
    ...outputConfig((outputSchema as JsonObject | null | undefined) ?? null, { ...plain, modelLimits }),
    prices: pricesOf(checked),
    modelLimits,
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
  if (result.success) {
    checkPrices(result.data);
    return result.data;
  }
  const problems = result.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`);
  throw new TypeError(`These options cannot be used: ${problems.join('; ')}.`);
}

type Checked = z.output<typeof loopOptionsSchema>;

/** The primary model and those that take over. */
export function modelsOf({ model, fallbackModels }: LoopOptions): readonly string[] {
  return [model ?? defaultConfig.models[0]!, ...(fallbackModels ?? [])];
}

/** What the caller says of prices, and what the table knows of the models that the query may ask. */
function pricesOf(options: Checked): LoopConfig['prices'] {
  const { smallModel, prices = {} } = options;
  const asked = [...modelsOf(options), ...(typeof smallModel === 'string' ? [smallModel] : [])];
  const known = asked.flatMap((name) => {
    const found = knownPrice(name);
    return found === null ? [] : [[name, found] as const];
  });
  const given = Object.entries(prices).map(([name, found]) => [name, wholePrice(found)] as const);
  return Object.fromEntries([...known, ...given]);
}

/** A cap that cannot be kept is an error before anything is sent. */
function checkPrices(options: Checked): void {
  const { maxCost, smallModel } = options;
  if (maxCost === undefined || maxCost === null) return;
  const prices = pricesOf(options);
  const asked = [...modelsOf(options), ...(typeof smallModel === 'string' ? [smallModel] : [])];
  const unknown = asked.find((name) => prices[name] === undefined);
  if (unknown === undefined) return;
  throw new TypeError(
    `The price of the model ${unknown} is not known, so the cost cap (maxCost) cannot be kept: name its price in the option prices, or leave the cap out.`,
  );
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
