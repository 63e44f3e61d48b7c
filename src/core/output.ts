/** What the consumer of a query sees, in order. Outputs come from the rules; observations pass by them. */
import type { Failure } from './failure.ts';
import type { AssistantMessage, UserMessage } from './message.ts';

/** Made by the rules, so a replay makes the same ones. */
export type Output =
  /** A whole answer, or what is kept of a cut one. */
  | { readonly type: 'assistant'; readonly message: AssistantMessage }
  /** Tool results in the order of the calls, and the marked messages that the loop itself adds. */
  | { readonly type: 'user'; readonly message: UserMessage }
  /** Forget what was shown under this message id: its attempt was dropped. */
  | { readonly type: 'tombstone'; readonly messageId: string; readonly why: string }
  /** History was made smaller; both figures are estimates of the same measure, in tokens. */
  | {
      readonly type: 'boundary';
      readonly kind: 'auto_compact' | 'reactive_compact' | 'manual_compact' | 'collapse' | 'snip' | 'microcompact';
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    }
  | { readonly type: 'tool_use_summary'; readonly toolUseIds: readonly string[]; readonly text: string }
  /** A failure that nothing cured; comes once, right before the terminal. */
  | { readonly type: 'error'; readonly failure: Failure }
  /** A queued user message was taken into the history (`started`), or the query that took it returned (`completed`). */
  | { readonly type: 'command'; readonly messageId: string; readonly status: 'started' | 'completed' }
  /** Something a person may want to know and no program needs to act on. */
  | { readonly type: 'notice'; readonly text: string; readonly compaction?: CompactionNotice };

/** A compaction begins (`PreCompact`) or has ended (`PostCompact`); both figures are estimates of the same measure. */
export interface CompactionNotice {
  readonly stage: 'PreCompact' | 'PostCompact';
  readonly kind: 'auto_compact' | 'reactive_compact' | 'manual_compact';
  readonly tokensBefore: number;
  /** Null before it ended, and when it failed: the history is as it was. */
  readonly tokensAfter: number | null;
}

/** A streamed fragment. Changes no state, is not journaled, and may be coalesced when the consumer is slow. */
export type Observation =
  | {
      readonly type: 'delta';
      /** The id that the finished `assistant` message, or a tombstone, will carry. */
      readonly messageId: string;
      readonly index: number;
      readonly delta:
        | { readonly type: 'text'; readonly text: string }
        | { readonly type: 'thinking'; readonly text: string }
        | { readonly type: 'tool_use'; readonly id: string; readonly name: string }
        | { readonly type: 'tool_input'; readonly json: string };
    }
  | {
      readonly type: 'progress';
      readonly toolUseId: string;
      readonly name: string;
      readonly status: 'started' | 'running' | 'ended';
      /** Milliseconds since the tool started. */
      readonly ms: number;
      /** For `started` what the tool was asked in a few words, for `running` its newest output, for `ended` the outcome. */
      readonly text: string;
      /** Set for `ended` only. */
      readonly isError: boolean | null;
      /** For `ended` the pipeline stage that ended the call, as `ToolOutcome.stage` has it in the journal. */
      readonly stage?: string;
    }
  /** What a hook tells the user that no event carries. */
  | { readonly type: 'notice'; readonly text: string; readonly compaction?: never };

export type Emitted = Output | Observation;
