/**
 * An adversary: it plays the model, the tools, the hooks, the network and the user against the loop. Every choice comes
 * from a list of numbers, so that a property test can draw, print and shrink it.
 */
import type { LoopEvent } from '../core/event.ts';
import { type Failure, type FailureClass, failureOf } from '../core/failure.ts';
import type { JsonObject } from '../core/json.ts';
import type { AssistantBlock, Usage } from '../core/message.ts';
import { phaseEffectId, runningTools } from '../core/running.ts';
import type { LoopState, OutputVerdict, ToolOutcome, Unfinished } from '../core/state.ts';
import { type Choose, often, pick } from './choose.ts';

const failureClasses: readonly [FailureClass, ...FailureClass[]] = [
  'overloaded',
  ...often(6, 'overloaded' as const),
  'rate_limit',
  'server',
  'timeout',
  'conflict',
  'connection',
  'stall',
  'incomplete',
  ...often(4, 'overflow' as const),
  ...often(2, 'max_tokens_too_large' as const),
  ...often(3, 'media' as const),
  ...often(2, 'thinking' as const),
  'invalid_request',
  'authentication',
  'too_large',
  'thrown',
];

const stopReasons: readonly [string | null, ...(string | null)[]] = [
  'tool_use',
  ...often(9, 'tool_use'),
  ...often(4, 'end_turn'),
  'stop_sequence',
  ...often(4, 'max_tokens'),
  ...often(2, 'model_context_window_exceeded'),
  ...often(2, 'pause_turn'),
  'refusal',
  null,
  'some_future_reason',
];

/** How wild the adversary is. */
export interface AdversaryOptions {
  /** 0: never aborts; n: one event in n is an abort. Default 40. */
  readonly abortOneIn?: number;
  /** Late answers of dropped effects are sent too. Default true. */
  readonly late?: boolean;
}

/** The next event that the outside sends; null when the loop waits for nothing (it has ended). */
export function adversaryEvent(state: LoopState, choose: Choose, options: AdversaryOptions = {}): LoopEvent | null {
  if (state.phase === 'ended') return null;
  const abortOneIn = options.abortOneIn ?? 40;
  if (abortOneIn > 0 && choose(abortOneIn) === abortOneIn - 1) return abortEvent(state, choose);
  const oddity = choose(24);
  if (oddity === 23)
    return { type: 'message.queued', message: { id: `q${state.query.drawn}-${choose(1000)}`, content: text('also') } };
  if (oddity === 22 && options.late !== false) return lateEvent(state, choose);
  if (oddity === 21 && state.carried.pendingToolUseSummary !== null) {
    return {
      type: 'toolUse.summarized',
      effectId: state.carried.pendingToolUseSummary.effectId,
      text: pick(choose, ['Read it', null]),
      usage: { input: 900, output: 9, cacheRead: 0, cacheCreation: 0 },
    };
  }
  if (oddity === 20) return { type: 'query.resumed' };
  if (oddity >= 18 && state.query.pendingSpan !== null) {
    return {
      type: 'span.summarized',
      effectId: state.query.pendingSpan.effectId,
      text: pick(choose, ['A span', 'A span', null, 'long '.repeat(4_000)]),
    };
  }
  return expectedEvent(state, choose);
}

function expectedEvent(state: LoopState, choose: Choose): LoopEvent {
  const effectId = phaseEffectId(state) ?? '';
  switch (state.phase) {
    case 'ready':
      return { type: 'query.started', blocked: choose(60) === 59 ? 'not today' : null };
    case 'compacting':
    case 'compactingReactively':
      return compactionEvent(state, effectId, choose);
    case 'runningTools':
      return toolEvent(state, choose) ?? { type: 'query.resumed' };
    case 'attaching':
      return attachmentsEvent(effectId, choose);
    case 'runningStopHooks':
      return stopHooksEvent(effectId, choose);
    default:
      return (choose(3) === 2 ? toolEvent(state, choose) : null) ?? modelEvent(state, effectId, choose);
  }
}

function text(value: string): [{ type: 'text'; text: string }] {
  return [{ type: 'text', text: value }];
}

const shares: readonly [number, ...number[]] = [0.05, 0.05, 0.1, 0.2, 0.3, 0.4, 0.75, 0, 1];

function usage(state: LoopState, choose: Choose): Usage {
  const input = Math.floor(state.query.limits.contextWindow * pick(choose, shares));
  return { input, output: choose(900), cacheRead: choose(2) * 10, cacheCreation: 0 };
}

function modelEvent(state: LoopState, effectId: string, choose: Choose): LoopEvent {
  const blocks = state.scratch.blocks.length;
  if (blocks < 4 && choose(blocks === 0 ? 12 : 3) < (blocks === 0 ? 11 : 1))
    return blockEvent(effectId, blocks, choose);
  if (choose(8) === 7)
    return {
      type: 'model.failed',
      effectId,
      failure: failure(choose),
      unfinished: unfinished(choose),
      usage: usage(state, choose),
    };
  if (choose(30) === 29) return { type: 'context.cleared', effectId, cleared: choose(900), input: choose(900) };
  const used = usage(state, choose);
  return { type: 'model.answered', effectId, stopReason: stopReason(state, choose), usage: used, ...checked(used) };
}

/** What the check of the answer said, or that nobody checked it; no choice of its own, as below. */
function checked({ output }: Usage): { output?: OutputVerdict } {
  if (output % 3 === 0) return {};
  return {
    output: output % 3 === 1 ? { type: 'fits', value: { sum: output } } : { type: 'mismatch', error: 'no sum' },
  };
}

/** Mostly the one that fits the blocks, since a run of nothing but nonsense ends at once. */
function stopReason(state: LoopState, choose: Choose): string | null {
  const asksForTools = state.scratch.blocks.some((reported) => reported.block.type === 'tool_use');
  return choose(4) < 3 ? (asksForTools ? 'tool_use' : 'end_turn') : pick(choose, stopReasons);
}

function blockEvent(effectId: string, index: number, choose: Choose): LoopEvent {
  const tool: AssistantBlock = {
    type: 'tool_use',
    id: pick(choose, [`t${choose(5)}`, `t${choose(1000)}`, '']),
    name: pick(choose, ['read', 'bash', 'a.b', '']),
    input: {},
  };
  const block = pick<AssistantBlock>(choose, [
    tool,
    ...often(4, tool),
    { type: 'text', text: pick(choose, ['hello', ' ', 'long '.repeat(60)]) },
    { type: 'thinking', thinking: 'hm', signature: `s${index}` },
    { type: 'redacted_thinking', data: 'x' },
  ]);
  const isTool = block.type === 'tool_use';
  const safe = choose(2) === 0;
  return {
    type: 'model.blockEnded',
    effectId,
    block,
    verdict: isTool ? { concurrencySafe: safe, readOnly: safe && choose(3) > 0, replaySafe: choose(2) === 0 } : null,
    rawInput: isTool && choose(6) === 5 ? '{"cut":' : null,
  };
}

function unfinished(choose: Choose): Unfinished | null {
  return pick<Unfinished | null>(choose, [
    null,
    { type: 'text', text: 'ab' },
    { type: 'tool_use' },
    { type: 'thinking' },
  ]);
}

function failure(choose: Choose): Failure {
  const kind = pick(choose, failureClasses);
  const known = failureOf(kind, `The adversary says ${kind}.`, kind === 'overloaded' ? 529 : null);
  const input = choose(4) === 3 ? 1_000 + choose(4_000) : null;
  return {
    ...known,
    retryAfterMs: pick(choose, [null, 0, 1_000, 999_999_999, -5]),
    tokens: { input, window: null, maxOutput: choose(5) === 4 ? 400 : null },
    mediaPaths: choose(2) === 0 ? [[choose(4), choose(2)]] : [],
  };
}

function compactionEvent(state: LoopState, effectId: string, choose: Choose): LoopEvent {
  if (choose(3) === 2) return { type: 'compact.failed', effectId, failure: failure(choose) };
  if (state.scratch.compaction?.onDemand === true && choose(4) > 0) {
    const content = pick(choose, ['short', 'short', '', null]);
    const block = { type: 'compaction', content, encrypted_content: 'opaque' } as const;
    return {
      type: 'compact.answered',
      effectId,
      text: '',
      block,
      stopReason: 'compaction',
      usage: usage(state, choose),
    };
  }
  return {
    type: 'compact.answered',
    effectId,
    text: pick(choose, ['short', ...often(6, 'short'), '', 'much longer '.repeat(80)]),
    block: null,
    stopReason: pick<string | null>(choose, ['end_turn', ...often(8, 'end_turn'), 'max_tokens', 'refusal', null]),
    usage: usage(state, choose),
  };
}

function toolEvent(state: LoopState, choose: Choose): LoopEvent | null {
  const running = runningTools(state);
  const run = running[choose(running.length)];
  if (run === undefined) return null;
  const { effectId, toolUseId } = run;
  if (choose(6) === 5) {
    const answer: JsonObject = { behavior: 'allow' };
    return { type: 'tool.decided', effectId, toolUseId, decision: { kind: 'permission', inputHash: 'h', answer } };
  }
  return { type: 'tool.ended', effectId, toolUseId, outcome: outcome(choose) };
}

function outcome(choose: Choose): ToolOutcome {
  const isError = choose(4) === 3;
  return {
    content: pick(choose, [text('result'), [], text(' '), text('many words '.repeat(120))]),
    isError,
    // No choice of its own: what was found with a list of numbers is found with it again.
    whole: isError ? null : { path: '/results/t1.txt', characters: 1_320 },
    stage: 'run',
    cancelsSiblings: choose(3) === 2,
    contextChanges: choose(5) === 4 ? [{ type: 'permissionMode', mode: 'acceptEdits' }] : [],
    attachments: choose(6) === 5 ? text('more') : [],
    notices: choose(12) === 11 ? ['a hook crashed'] : [],
    stop: choose(20) === 19 ? 'the hook says stop' : null,
    interrupt: choose(30) === 29,
  };
}

function attachmentsEvent(effectId: string, choose: Choose): LoopEvent {
  return {
    type: 'attachments.collected',
    effectId,
    attachments: choose(4) === 3 ? [text('a file changed'), []] : [],
    tools: choose(8) === 7 ? [{ name: 'read', description: '', input_schema: { type: 'object' } }] : null,
    notices: choose(8) === 7 ? ['memory could not be read'] : [],
  };
}

function stopHooksEvent(effectId: string, choose: Choose): LoopEvent {
  return {
    type: 'stopHooks.ended',
    effectId,
    errors: choose(3) > 0 ? ['3 lint errors'] : [],
    prevent: choose(12) === 11 ? 'enough' : null,
    notices: choose(6) === 5 ? ['a hook crashed'] : [],
  };
}

function abortEvent(state: LoopState, choose: Choose): LoopEvent {
  const kind = pick<'interrupt' | 'submit'>(choose, ['interrupt', 'submit']);
  const message = kind === 'submit' ? { id: `s${state.query.drawn}`, content: text('now this') } : null;
  return { type: 'abort', kind, message, unfinished: unfinished(choose) };
}

/** An answer of an effect that was dropped long ago. */
function lateEvent(state: LoopState, choose: Choose): LoopEvent {
  const effectId = 'dropped';
  const toolUseId = 't1';
  return pick<LoopEvent>(choose, [
    { type: 'tool.ended', effectId, toolUseId, outcome: outcome(choose) },
    { type: 'tool.decided', effectId, toolUseId, decision: { kind: 'permission', inputHash: 'h', answer: {} } },
    { type: 'model.blockEnded', effectId, block: { type: 'text', text: 'late' }, verdict: null, rawInput: null },
    { type: 'model.answered', effectId, stopReason: 'end_turn', usage: usage(state, choose) },
    { type: 'model.failed', effectId, failure: failure(choose), unfinished: null, usage: usage(state, choose) },
    {
      type: 'compact.answered',
      effectId,
      text: 'late',
      block: null,
      stopReason: 'end_turn',
      usage: usage(state, choose),
    },
    { type: 'compact.failed', effectId, failure: failure(choose) },
    { type: 'stopHooks.ended', effectId, errors: ['late'], prevent: null, notices: [] },
    { type: 'attachments.collected', effectId, attachments: [text('late')], tools: null, notices: [] },
    { type: 'toolUse.summarized', effectId, text: 'late' },
    { type: 'span.summarized', effectId, text: 'late' },
    { type: 'context.cleared', effectId, cleared: 500, input: 500 },
  ]);
}
