/** What the outside says beside the answer that is waited for: aborts, messages, late answers, the death of the process. */
import type { LoopConfig } from '../../src/core/config.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import { failureOf } from '../../src/core/failure.ts';
import { noUsage } from '../../src/core/message.ts';
import { runningTools } from '../../src/core/running.ts';
import type { LoopState, ToolDecision } from '../../src/core/state.ts';
import { blocks, outcomes, waitingMessage } from './canonical.ts';
import { priced } from './priced.ts';
import { type Move, one } from './move.ts';

const decision: ToolDecision = { kind: 'permission', inputHash: 'h', answer: {} };

export function bystanders(state: LoopState, config: LoopConfig): readonly Move[] {
  const effectId = 'dropped';
  const summary = state.carried.pendingToolUseSummary;
  return [
    one('interrupt', { type: 'abort', kind: 'interrupt', message: null, unfinished: null }),
    one('submit', { type: 'abort', kind: 'submit', message: waitingMessage, unfinished: null }),
    ...(state.query.queued.length > 0 ? [] : [one('message', { type: 'message.queued', message: waitingMessage })]),
    one('resume', { type: 'query.resumed' }),
    ...(summary === null ? [] : toolSummaries(summary.effectId, config)),
    ...(state.phase === 'streaming' ? clearing(state) : spans(state)),
    ...runningTools(state).map((run) =>
      one('decision', { type: 'tool.decided', effectId: run.effectId, toolUseId: run.toolUseId, decision }),
    ),
    ...lateEvents(effectId).map((event) => one(`late ${event.type}`, event)),
  ];
}

/** The small model has summarised a span, or could not. */
export function spans({ query, scratch }: LoopState): readonly Move[] {
  if (query.pendingSpan === null || scratch.blocks.length > 0) return [];
  const { effectId } = query.pendingSpan;
  return [
    one('span summarised', { type: 'span.summarized', effectId, text: 'short' }),
    one('no span summarised', { type: 'span.summarized', effectId, text: null }),
  ];
}

function toolSummaries(effectId: string, config: LoopConfig): readonly Move[] {
  return priced([noUsage], config).map((usage) =>
    one('tool summary', { type: 'toolUse.summarized', effectId, text: 'read it', usage }),
  );
}

function clearing({ scratch }: LoopState): readonly Move[] {
  const effectId = scratch.attempt?.effectId ?? '';
  return [one('cleared by the API', { type: 'context.cleared', effectId, cleared: 900, input: 900 })];
}

/** Answers of an effect that nobody waits for. */
function lateEvents(effectId: string): readonly LoopEvent[] {
  const failure = failureOf('server', 'late');
  return [
    { type: 'model.blockEnded', effectId, block: blocks['t']!.block, verdict: null, rawInput: null },
    { type: 'model.answered', effectId, stopReason: 'tool_use', usage: noUsage },
    { type: 'model.failed', effectId, failure, unfinished: null, usage: noUsage },
    { type: 'compact.answered', effectId, text: 'late', block: null, stopReason: 'end_turn', usage: noUsage },
    { type: 'compact.failed', effectId, failure },
    { type: 'tool.ended', effectId, toolUseId: 'u0', outcome: outcomes['o']! },
    { type: 'tool.decided', effectId, toolUseId: 'u0', decision },
    { type: 'attachments.collected', effectId, attachments: [], tools: null, notices: [] },
    { type: 'stopHooks.ended', effectId, errors: ['late'], prevent: null, notices: [] },
    { type: 'toolUse.summarized', effectId, text: 'late' },
    { type: 'span.summarized', effectId, text: 'late' },
    { type: 'context.cleared', effectId, cleared: 500, input: 500 },
  ];
}
