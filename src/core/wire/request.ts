/** State to the body of a request. */
import type { LoopConfig } from '../config.ts';
import { contextManagement } from '../context/clear-on-server.ts';
import { outputFloor } from '../context/thresholds.ts';
import { contextSize } from '../context/tokens.ts';
import { type JsonObject, wellFormed } from '../json.ts';
import { isBlank, type Message } from '../message.ts';
import type { LoopState, ToolSpec } from '../state.ts';
import { unthinkingStart } from './cycle.ts';
import { withBreakpoints, withoutBreakpoints } from './marks.ts';
import { projectHistory } from './project.ts';
import type { WireMessage, WireRequest, WireThinking, WireTool } from './request-type.ts';

/** The least thinking budget that the API takes. */
const leastThinkingBudget = 1_024;

/** The history with what re-asks of this iteration added. */
export function conversation(state: LoopState): readonly Message[] {
  const { additions } = state.scratch;
  return additions.length === 0 ? state.carried.messages : [...state.carried.messages, ...additions];
}

export function currentModel(state: LoopState, config: LoopConfig): string {
  return config.models[state.query.modelIndex] ?? config.models[0] ?? '';
}

/** `max_tokens` that the query would like, before window and model have their say. */
export function wantedMaxTokens(state: LoopState, config: LoopConfig): number {
  const { maxOutputTokensOverride } = state.carried;
  if (maxOutputTokensOverride !== null) return maxOutputTokensOverride;
  if (config.maxOutputTokens !== null) return config.maxOutputTokens;
  return config.defaultOutputCap + (typeof config.thinking === 'number' ? config.thinking : 0);
}

/** Tokens left in the window for an answer. */
export function room(state: LoopState, config: LoopConfig): number {
  return state.query.limits.contextWindow - contextSize(state, config);
}

/** `max_tokens` of the next request, or null when so little room is left that the request is an overflow. */
export function fittingMaxTokens(state: LoopState, config: LoopConfig): number | null {
  const lowered = state.scratch.loweredMaxTokens ?? Number.MAX_SAFE_INTEGER;
  const wanted = Math.min(wantedMaxTokens(state, config), state.query.limits.maxOutput, lowered);
  const fitting = Math.min(wanted, room(state, config));
  return fitting < Math.min(wanted, outputFloor(state, config)) ? null : Math.max(1, fitting);
}

/** The request of the attempt in the state. */
export function buildRequest(state: LoopState, config: LoopConfig): WireRequest {
  const { model, maxTokens } = attemptOf(state, config);
  const { thinking, messages } = spoken(state, config);
  const parts = { model, maxTokens, thinking, messages, outputConfig: outputConfig(state, config) };
  const clearing = contextManagement(state, config);
  const request = assemble(state, config, parts);
  return clearing === null ? request : { ...request, context_management: clearing };
}

/** The messages of that request, without cache breakpoints of ours: its blocks are those of the history where they can be. */
export function requestMessages(state: LoopState, config: LoopConfig): readonly WireMessage[] {
  return spoken(state, config).messages;
}

function attemptOf(state: LoopState, config: LoopConfig): { readonly model: string; readonly maxTokens: number } {
  const { attempt } = state.scratch;
  return {
    model: attempt?.model ?? currentModel(state, config),
    maxTokens: attempt?.maxTokens ?? config.defaultOutputCap,
  };
}

function spoken(state: LoopState, config: LoopConfig): Spoken {
  const { model, maxTokens } = attemptOf(state, config);
  const endsPaused = state.scratch.end === null && isPaused(state);
  return withThinking(conversation(state), { model, thinking: thinkingFor(config, maxTokens), endsPaused });
}

interface Spoken {
  readonly thinking: WireThinking | null;
  readonly messages: readonly WireMessage[];
}

/** What is said, and whether with thinking: a tool cycle that began without goes on without until the user speaks again. */
export function withThinking(
  history: readonly Message[],
  { model, thinking, endsPaused }: { model: string; thinking: WireThinking | null; endsPaused: boolean },
): Spoken {
  const project = (thinkingOf: string | null): readonly WireMessage[] =>
    projectHistory(history, { thinkingOf, endsPaused });
  if (thinking === null) return { thinking, messages: project(null) };
  const messages = project(model);
  const isKept = thinking.type !== 'enabled' || unthinkingStart(messages) === null;
  return isKept ? { thinking, messages } : { thinking: null, messages: project(null) };
}

/** The newest answer ended in `pause_turn`: nothing was put behind it, in this iteration or by the continue before it. */
function isPaused({ carried, scratch, query }: LoopState): boolean {
  const newest = scratch.additions.at(-1) ?? carried.messages.at(-1);
  return query.turn.pauseTurns > 0 && newest?.role === 'assistant';
}

function outputConfig(state: LoopState, config: LoopConfig): JsonObject | null {
  if (config.profile !== 'anthropic') return null;
  const members = { ...taskBudget(state, config), ...outputFormat(config) };
  return Object.keys(members).length === 0 ? null : members;
}

function taskBudget(state: LoopState, { taskBudget: total }: LoopConfig): JsonObject {
  if (total === null) return {};
  const { taskBudgetRemaining } = state.query;
  const remaining = taskBudgetRemaining === null ? {} : { remaining: taskBudgetRemaining };
  return { task_budget: { type: 'tokens', total, ...remaining } };
}

/** Structured output: the API holds the text of an answer to the schema, tools left free. */
function outputFormat({ outputSchema, outputBy }: LoopConfig): JsonObject {
  if (outputSchema === null || outputBy === 'prompt') return {};
  return { format: { type: 'json_schema', schema: outputSchema } };
}

/** Thinking that fits under `maxTokens`; null when it is off or does not fit. */
export function thinkingFor(config: LoopConfig, maxTokens: number): WireThinking | null {
  if (config.thinking === 'off') return null;
  if (config.thinking === 'adaptive') return config.profile === 'anthropic' ? { type: 'adaptive' } : null;
  // What is left beside the thinking must be enough to say something.
  const budget = Math.min(config.thinking, maxTokens - leastThinkingBudget);
  return budget < leastThinkingBudget ? null : { type: 'enabled', budget_tokens: budget };
}

interface RequestParts {
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking: WireThinking | null;
  readonly messages: readonly WireMessage[];
  readonly outputConfig: JsonObject | null;
}

/** Puts a request together; cache breakpoints only where the server knows them. */
export function assemble(state: LoopState, config: LoopConfig, parts: RequestParts): WireRequest {
  const said = {
    ...(isBlank(config.system) ? {} : { system: [{ type: 'text', text: config.system.toWellFormed() }] }),
    ...(state.query.tools.length === 0 ? {} : { tools: wireTools(state.query.tools) }),
    messages: parts.messages,
  };
  return {
    model: parts.model,
    max_tokens: parts.maxTokens,
    ...(config.profile === 'anthropic'
      ? withBreakpoints(said)
      : { ...said, messages: withoutBreakpoints(parts.messages) }),
    ...(parts.thinking === null ? {} : { thinking: parts.thinking }),
    ...(parts.outputConfig === null ? {} : { output_config: parts.outputConfig }),
  };
}

const toolsCache = new WeakMap<readonly ToolSpec[], readonly WireTool[]>();

function wireTools(tools: readonly ToolSpec[]): readonly WireTool[] {
  const known = toolsCache.get(tools);
  if (known !== undefined) return known;
  const wire = wellFormed(tools.map(({ name, description, input_schema }) => ({ name, description, input_schema })));
  toolsCache.set(tools, wire);
  return wire;
}
