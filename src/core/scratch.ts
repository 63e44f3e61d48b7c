/** What only one iteration needs: the attempt, its blocks, its tools. */
import type { Failure } from './failure.ts';
import type { Json, JsonObject } from './json.ts';
import type { AssistantBlock, Message, ModelUsage, ToolResultBlock, Usage, UserBlock } from './message.ts';
import type { ContextChange } from './tools/context.ts';

/** One request for the answer of an iteration. */
export interface Attempt {
  readonly effectId: string;
  /** Counts requests of the query, from 1. */
  readonly number: number;
  /** Id that the answer will have in the history. */
  readonly messageId: string;
  readonly model: string;
  readonly maxTokens: number;
  /** To wait before the request is sent, in milliseconds. */
  readonly delayMs: number;
  /** Tokens that the request was estimated to hold; null when most of them were measured. */
  readonly estimate: number | null;
}

/** What was streamed of a block that never ended. */
export type Unfinished =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking' }
  | { readonly type: 'tool_use' };

/** A block that ended, with what the outside knows of it. */
export interface ReportedBlock {
  readonly block: AssistantBlock;
  /** For a tool use whose input was no JSON object: what came instead; null else. */
  readonly rawInput: string | null;
}

/** Whether the final answer fits the schema of the query. */
export type OutputVerdict =
  /** `value`: what the schema made of it, as JSON. */
  | { readonly type: 'fits'; readonly value: Json }
  /** `error`: what is wrong, for the model. */
  | { readonly type: 'mismatch'; readonly error: string };

/** How an attempt ended. */
export type AttemptEnd =
  | {
      readonly type: 'answered';
      readonly stopReason: string | null;
      readonly usage: Usage;
      /** Null when nothing has to fit. */
      readonly output: OutputVerdict | null;
    }
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly unfinished: Unfinished | null;
      readonly usage: Usage;
    };

/** What an ended attempt asks of the loop; the rows of `settling` read nothing else of it. */
export type Verdict =
  | 'refusal'
  /** No whole answer, for a reason that time may cure. */
  | 'incomplete'
  | 'pause_turn'
  /** Tools were asked for in a form that cannot be run. */
  | 'malformed'
  | 'thinking_only'
  | 'tools'
  | 'overflow'
  | 'max_tokens_too_large'
  | 'thinking_refused'
  | 'media'
  | 'output_limit'
  /** The model is done, and its answer does not fit the schema. */
  | 'invalid_output'
  /** The API answered and asking again cannot help. */
  | 'api_error'
  /** Something threw that is no answer of the API. */
  | 'thrown'
  | 'done';

/** The verdict of a tool on one actual input; fail-closed: what is not known is false. */
export interface ToolVerdict {
  /** May run beside other safe tools. */
  readonly concurrencySafe: boolean;
  readonly readOnly: boolean;
  /** May run again after a crash although it is not read-only. */
  readonly replaySafe: boolean;
  /** Starts a sub-agent: counted against `maxSubAgents`. */
  readonly startsAgent?: boolean;
}

/** Where a text is kept, and how long it is. */
export interface StoredText {
  /** Null when it is nowhere: too short to be worth it, or the store failed. */
  readonly path: string | null;
  readonly characters: number;
}

/** What came of one tool use. */
export interface ToolOutcome {
  readonly content: ToolResultBlock['content'];
  readonly isError: boolean;
  /** The whole text of a result that may be cut for the total of its message; null: it is never cut. */
  readonly whole: StoredText | null;
  /** The pipeline stage that ended the call: `run`, `permission`, `preToolUse`, `validation`, ... */
  readonly stage: string;
  /** A failure that makes the running siblings pointless (a shell command that failed). */
  readonly cancelsSiblings: boolean;
  readonly contextChanges: readonly ContextChange[];
  /** Blocks for the model that stand behind the results (extra context of hooks, images of an error result). */
  readonly attachments: readonly UserBlock[];
  /** What a person may want to know: a hook crashed. */
  readonly notices: readonly string[];
  /** A hook stopped the loop: why. */
  readonly stop: string | null;
  /** The user denied and wants the turn to end. */
  readonly interrupt: boolean;
  /** What models used on behalf of the call: those of a sub-agent. */
  readonly spent?: readonly ModelUsage[];
  /** Dollars for `spent`; null: not known; left out: by the prices of the configuration. */
  readonly cost?: number | null;
}

export interface ToolDecision {
  readonly kind: 'permission' | 'preToolUse' | 'postToolUse';
  /** Hash of the input that was decided on: an approval holds for that input alone. */
  readonly inputHash: string;
  readonly answer: JsonObject;
}

/** One tool use of the answer on its way to its result. */
export interface ToolRun {
  readonly toolUseId: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly verdict: ToolVerdict;
  readonly status: 'waiting' | 'running' | 'ended';
  readonly effectId: string;
  /** Set at the end. */
  readonly outcome: ToolOutcome | null;
  /** Answers of hooks and of the user that came so far; a resumed run does not ask again. */
  readonly decisions: readonly ToolDecision[];
}

export interface Compaction {
  readonly effectId: string;
  readonly kind: 'auto_compact' | 'reactive_compact' | 'manual_compact';
  /** What a reactive one is to cure; null for a proactive one. */
  readonly cures: 'overflow' | 'media' | null;
  /** Messages of the conversation before this index are summarised, the rest is the protected tail. */
  readonly cut: number;
  /** The oldest messages left out of the summariser's input because it was itself too long. */
  readonly skip: number;
  /** Requests repeated with a shorter input. */
  readonly shrinks: number;
  /** Share of the texts that is sent once no whole turn can be left out. */
  readonly trim: number;
  /** The API summarises by itself, and its block stands for what it summarised. */
  readonly onDemand: boolean;
}

/** What only this iteration needs; dropped whole at every continue. */
export interface Scratch {
  readonly attempt: Attempt | null;
  /** Whole blocks of the attempt in their order. */
  readonly blocks: readonly ReportedBlock[];
  readonly end: AttemptEnd | null;
  /** What the end means; null until the attempt has ended. */
  readonly verdict: Verdict | null;
  /** What the next attempt waits before it is sent, in milliseconds. */
  readonly delayMs: number;
  /** What re-asks add behind `messages`; they enter the history with the next continue or terminal. */
  readonly additions: readonly Message[];
  readonly toolRuns: readonly ToolRun[];
  /** The effect of the phases that have one beside streaming and compacting. */
  readonly effectId: string | null;
  readonly compaction: Compaction | null;
  /** The layers without a model call have run in this iteration. */
  readonly layered: boolean;
  /** Auto-compact was tried in this iteration, or its request is being asked again. */
  readonly compactionTried: boolean;
  /** `max_tokens` of this iteration lowered to the room that the API named. */
  readonly loweredMaxTokens: number | null;
}
