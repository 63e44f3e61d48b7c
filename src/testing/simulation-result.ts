/** What a simulation gives back. */
import type { LoopEvent } from '../core/event.ts';
import type { Message } from '../core/message.ts';
import type { Emitted } from '../core/output.ts';
import type { ContinueName, QueuedMessage, Terminal } from '../core/state.ts';
import type { WireMessage, WireRequest } from '../core/wire/request-type.ts';
import type { RecordedRequest } from './scripted-model.ts';

/** What a simulated run did; the shape of `escapement simulate --json`. */
export interface SimulationResult {
  readonly name: string;
  /** How the last query ended; null when it died and was not resumed. */
  readonly terminal: Terminal | null;
  /** How every query ended, in order. */
  readonly terminals: readonly Terminal[];
  readonly transitions: readonly ContinueName[];
  readonly turnCount: number;
  readonly counts: {
    readonly modelCalls: number;
    readonly summaryCalls: number;
    readonly toolRuns: number;
    readonly stopHookRuns: number;
  };
  /** Worst case of one query, computed beforehand. */
  readonly bound: { readonly modelCalls: number; readonly summaryCalls: number };
  readonly events: readonly { readonly index: number; readonly type: LoopEvent['type']; readonly phase: string }[];
  readonly requests: readonly {
    readonly purpose: string;
    readonly model: string;
    readonly maxTokens: number;
    readonly messages: readonly WireMessage[];
    readonly estimate: number;
    /** Members of the request that stand beside: thinking, what the API should clear or summarise. */
    readonly settings: Omit<WireRequest, 'model' | 'max_tokens' | 'system' | 'tools' | 'messages'>;
  }[];
  /** What the consumer saw, fragments left out. */
  readonly emitted: readonly Emitted[];
  readonly messages: readonly Message[];
  readonly queued: readonly QueuedMessage[];
  readonly violations: readonly string[];
  /** Virtual milliseconds that the run took. */
  readonly ms: number;
}

/** A request in the form of the result. */
export function shownRequest(request: RecordedRequest): SimulationResult['requests'][number] {
  const { purpose, model, maxTokens, messages, estimate, body } = request;
  const { model: _model, max_tokens: _max, system: _system, tools: _tools, messages: _messages, ...settings } = body;
  return { purpose, model, maxTokens, messages, estimate, settings };
}
