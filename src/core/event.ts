/** Everything that can happen outside and is reported to the loop: the only way that anything non-deterministic gets in. */
import type { Failure } from './failure.ts';
import type { AssistantBlock, CompactionBlock, Usage, UserBlock } from './message.ts';
import type { ContextChange } from './tools/context.ts';
import type {
  OutputVerdict,
  QueuedMessage,
  ToolDecision,
  ToolOutcome,
  ToolSpec,
  ToolVerdict,
  Unfinished,
} from './state.ts';

export interface EventTypes {
  /**
   * The query begins; `blocked` says why a hook does not let the prompt pass, null else. `contexts`: what hooks want the
   * model to know beside the prompt; nothing when it is left out.
   */
  'query.started': { readonly blocked: string | null; readonly contexts?: readonly string[] };
  /** The process died and the journal was folded; effects without an answer are started again or given up. */
  'query.resumed': {};
  /** The user interrupts (`interrupt`), or sends a new message and wants it now (`submit`, whose message is queued). */
  abort: {
    readonly kind: 'interrupt' | 'submit';
    readonly message: QueuedMessage | null;
    /** What had been streamed of the block that was under way. */
    readonly unfinished: Unfinished | null;
  };
  /** The user sent a message without interrupting. */
  'message.queued': { readonly message: QueuedMessage };
  /** A block of the answer is whole. */
  'model.blockEnded': {
    readonly effectId: string;
    readonly block: AssistantBlock;
    /** For a tool use: the verdict of the tool on this input. */
    readonly verdict: ToolVerdict | null;
    /** For a tool use whose input is no JSON object: what came instead. */
    readonly rawInput: string | null;
  };
  /** The stream ended by the protocol: `message_stop` was seen. The stop reason is as it came. */
  'model.answered': {
    readonly effectId: string;
    readonly stopReason: string | null;
    readonly usage: Usage;
    /** For an answer that says "done" in a query with `outputSchema`: does it fit? Left out: it was not checked. */
    readonly output?: OutputVerdict;
  };
  /** The request failed, at once or in the middle of the stream. */
  'model.failed': {
    readonly effectId: string;
    readonly failure: Failure;
    readonly unfinished: Unfinished | null;
    readonly usage: Usage;
  };
  /** The summary is there; `stopReason` says whether it is whole. */
  'compact.answered': {
    readonly effectId: string;
    readonly text: string;
    /** The block of a summary that the API made by itself; null for one that a model wrote. */
    readonly block: CompactionBlock | null;
    readonly stopReason: string | null;
    readonly usage: Usage;
  };
  'compact.failed': {
    readonly effectId: string;
    readonly failure: Failure;
    /** What was reported before it failed. Left out: nothing. */
    readonly usage?: Usage;
  };
  /** A hook or the user decided on a tool use. */
  'tool.decided': { readonly effectId: string; readonly toolUseId: string; readonly decision: ToolDecision };
  'tool.ended': { readonly effectId: string; readonly toolUseId: string; readonly outcome: ToolOutcome };
  /** Attachments are collected; `tools` is the new tool list, null when it did not change. */
  'attachments.collected': {
    readonly effectId: string;
    readonly attachments: readonly (readonly UserBlock[])[];
    readonly tools: readonly ToolSpec[] | null;
    /** What could not be collected, one sentence each. */
    readonly notices: readonly string[];
    /** What the model now knows of files. */
    readonly contextChanges?: readonly ContextChange[];
  };
  /** The stop hooks have spoken: `prevent` ends the query, `errors` send the model back to work. */
  'stopHooks.ended': {
    readonly effectId: string;
    readonly errors: readonly string[];
    readonly prevent: string | null;
    /** Hooks that crashed or hung: they count as a pass. */
    readonly notices: readonly string[];
  };
  /** The small model summarised the tools of the last turn; null when it could not. */
  'toolUse.summarized': {
    readonly effectId: string;
    readonly text: string | null;
    /** Left out: nothing was reported. */
    readonly usage?: Usage;
  };
  /** The small model summarised a span of the history; null when it could not. */
  'span.summarized': {
    readonly effectId: string;
    readonly text: string | null;
    /** Left out: nothing was reported. */
    readonly usage?: Usage;
  };
  /** The API left old tool results out of the request of this attempt. Comes before `model.answered`. */
  'context.cleared': {
    readonly effectId: string;
    /** Tokens that were left out. */
    readonly cleared: number;
    /** Tokens of the input that were read. */
    readonly input: number;
  };
}

export type EventType = keyof EventTypes;

export type EventOf<Type extends EventType> = { readonly type: Type } & EventTypes[Type];

export type LoopEvent = { [Type in EventType]: EventOf<Type> }[EventType];
