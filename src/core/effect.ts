/** What the loop asks the outside to do: data with an id. The answer is an event that carries the same id. */
import type { JsonObject } from './json.ts';
import type { Message } from './message.ts';
import type { Output } from './output.ts';
import type { Compaction, ToolDecision, ToolSpec } from './state.ts';
import type { ToolUseContext } from './tools/context.ts';
import type { WireRequest } from './wire/request-type.ts';

export interface EffectTypes {
  /** Send `request` after `delayMs`; answer with blocks as they end, then `model.answered` or `model.failed`. */
  streamModel: {
    readonly attempt: number;
    readonly messageId: string;
    readonly delayMs: number;
    /** Text of the pieces that the answer goes on from, for the check of `outputSchema`; else empty. */
    readonly answerStart: string;
    readonly request: WireRequest;
  };
  /** Send `request` and answer with the whole summary: `compact.answered` or `compact.failed`. */
  compact: {
    readonly kind: Compaction['kind'];
    readonly request: WireRequest;
    /** What the user wants the summary to look after; null when nobody said. */
    readonly instructions: string | null;
    readonly context: ToolUseContext;
  };
  /** Run one tool through the pipeline; answer with `tool.ended`. */
  runTool: {
    readonly toolUseId: string;
    readonly name: string;
    readonly input: JsonObject;
    readonly context: ToolUseContext;
    readonly decisions: readonly ToolDecision[];
  };
  /** Gather what belongs behind the tool results; answer with `attachments.collected`. */
  collectAttachments: { readonly context: ToolUseContext; readonly tools: readonly ToolSpec[] };
  /** Ask the stop hooks whether the model is done; answer with `stopHooks.ended`. */
  runStopHooks: {
    readonly stopHookActive: boolean;
    readonly messages: readonly Message[];
    readonly context: ToolUseContext;
  };
  /** Have the small model write one line on the tools of the last turn; answer with `toolUse.summarized`. */
  summarizeToolUse: { readonly toolUseIds: readonly string[]; readonly messages: readonly Message[] };
  /** Have the small model summarise a span of the history; answer with `span.summarized`. */
  summarizeSpan: { readonly request: WireRequest };
}

export type EffectName = keyof EffectTypes;

export type EffectOf<Name extends EffectName> = { readonly type: Name; readonly id: string } & EffectTypes[Name];

/** An effect that runs until its answer comes or it is cancelled. */
export type RunningEffect = { [Name in EffectName]: EffectOf<Name> }[EffectName];

export type Effect =
  | RunningEffect
  /** Stop the effect with this id; whatever it still reports is ignored. */
  | { readonly type: 'cancel'; readonly id: string }
  /** Show this to the consumer. */
  | { readonly type: 'emit'; readonly output: Output };
