/** Effects follow from states: what runs after an event and did not before is started, what runs no more is cancelled. */
import type { LoopConfig } from './config.ts';
import { buildCompactRequest } from './context/compact-request.ts';
import { buildSpanRequest } from './context/span.ts';
import type { Effect, EffectOf, RunningEffect } from './effect.ts';
import type { LoopEvent } from './event.ts';
import { phaseEffectId, phaseEffects, runningTools } from './running.ts';
import type { LoopState, ToolRun } from './state.ts';
import { answerSoFar } from './structured-output.ts';
import { batchContext } from './tools/context.ts';
import { isRunning } from './tools/schedule.ts';
import { buildRequest, conversation } from './wire/request.ts';

/** What the outside has to do when `before` became `after` by `event`: stop, show, start, in this order. */
export function effectsBetween(
  before: LoopState,
  after: LoopState,
  spawned: readonly RunningEffect[],
  event: LoopEvent,
  config: LoopConfig,
): readonly Effect[] {
  const effects: Effect[] = [];
  const running = runningIds(after);
  for (const id of runningIds(before)) {
    if (!running.includes(id) && !isAnsweredBy(id, event)) effects.push({ type: 'cancel', id });
  }
  for (const output of after.outbox) effects.push({ type: 'emit', output });
  const phaseId = phaseEffectId(after);
  if (phaseId !== null && phaseId !== phaseEffectId(before)) effects.push(phaseEffect(after, config));
  // A query that ends at once takes back what it had just started.
  for (const effect of spawned) if (running.includes(effect.id)) effects.push(effect);
  return effects;
}

const nothing: readonly RunningEffect[] = [];

/** Effects that one move starts and that outlive its phase: tools, and what small models write in the background. */
export function spawnedBetween(before: LoopState, after: LoopState, config: LoopConfig): readonly RunningEffect[] {
  const tools = startedTools(before, after);
  const summary = startedSummary(before, after);
  const span = startedSpan(before, after, config);
  if (summary === null && span === null) return tools.length === 0 ? nothing : tools;
  return [...tools, ...(summary === null ? [] : [summary]), ...(span === null ? [] : [span])];
}

/** The effect that the phase waits for. Only for a phase that has one. */
export function phaseEffect(state: LoopState, config: LoopConfig): RunningEffect {
  const id = phaseEffectId(state) ?? '';
  const { attempt, compaction } = state.scratch;
  switch (phaseEffects[state.phase]) {
    case 'compact': {
      if (compaction === null) break;
      const instructions = state.query.manualCompaction?.instructions ?? null;
      const context = state.carried.toolUseContext;
      const request = buildCompactRequest(state, config, compaction);
      return { type: 'compact', id, kind: compaction.kind, request, instructions, context };
    }
    case 'collectAttachments':
      return { type: 'collectAttachments', id, context: batchContext(state), tools: state.query.tools };
    case 'runStopHooks':
      return stopHooksEffect(state, id);
    case 'streamModel': {
      if (attempt === null) break;
      const { number, messageId, delayMs } = attempt;
      const answerStart = config.outputSchema === null ? '' : answerSoFar(conversation(state));
      const request = buildRequest(state, config);
      return { type: 'streamModel', id, attempt: number, messageId, delayMs, answerStart, request };
    }
    default:
      break;
  }
  throw new Error(`The phase ${state.phase} waits for no effect.`);
}

function stopHooksEffect(state: LoopState, id: string): EffectOf<'runStopHooks'> {
  const { stopHookActive, toolUseContext } = state.carried;
  return { type: 'runStopHooks', id, stopHookActive, messages: conversation(state), context: toolUseContext };
}

const noTools: readonly EffectOf<'runTool'>[] = [];

/** Tools that run in `after` and did not in `before`. */
function startedTools(before: LoopState, after: LoopState): readonly EffectOf<'runTool'>[] {
  if (before.scratch.toolRuns === after.scratch.toolRuns) return noTools;
  const running = runningTools(before);
  return runningTools(after)
    .filter((run) => !running.some((other) => other.effectId === run.effectId))
    .map((run) => toolEffect(after, run));
}

function toolEffect(state: LoopState, run: ToolRun): EffectOf<'runTool'> {
  const { effectId, toolUseId, name, input, decisions } = run;
  return { type: 'runTool', id: effectId, toolUseId, name, input, context: batchContext(state), decisions };
}

/** The tool-use summary that starts with this turn, or null. */
function startedSummary(before: LoopState, after: LoopState): EffectOf<'summarizeToolUse'> | null {
  const pending = after.carried.pendingToolUseSummary;
  if (pending === null || pending.effectId === before.carried.pendingToolUseSummary?.effectId) return null;
  // The answer that asked for the tools and the message with their results; attachments may stand behind them.
  const { messages } = after.carried;
  const at = messages.findLastIndex((message) => message.role === 'user' && message.origin === 'tool_results');
  const turn = messages.slice(Math.max(0, at - 1), at + 1);
  return { type: 'summarizeToolUse', id: pending.effectId, toolUseIds: pending.toolUseIds, messages: turn };
}

/** The summary of a span that starts now, or null. */
function startedSpan(before: LoopState, after: LoopState, config: LoopConfig): EffectOf<'summarizeSpan'> | null {
  const span = after.query.pendingSpan;
  if (span === null || span.effectId === before.query.pendingSpan?.effectId) return null;
  return { type: 'summarizeSpan', id: span.effectId, request: buildSpanRequest(after, config, span) };
}

/** Ids of everything that runs: the effect of the phase first. */
export function runningIds(state: LoopState): readonly string[] {
  const ids: string[] = [];
  const phaseId = phaseEffectId(state);
  if (phaseId !== null) ids.push(phaseId);
  for (const run of state.scratch.toolRuns) if (isRunning(run)) ids.push(run.effectId);
  const summary = state.carried.pendingToolUseSummary;
  if (summary !== null) ids.push(summary.effectId);
  if (state.query.pendingSpan !== null) ids.push(state.query.pendingSpan.effectId);
  return ids;
}

function isAnsweredBy(id: string, event: LoopEvent): boolean {
  return 'effectId' in event && event.effectId === id;
}
