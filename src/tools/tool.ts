/** What a tool is. `tool()` makes one with fail-closed defaults. */
import type { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { DocumentBlock, ImageBlock, TextBlock, UserBlock } from '../core/message.ts';
import type { ContextChange, ToolUseContext } from '../core/tools/context.ts';

export type ToolContent = TextBlock | ImageBlock | DocumentBlock;

/** What a tool may use while it runs. */
export interface ToolRunContext {
  readonly toolUseId: string;
  /** Aborts when the call is cancelled; a tool that ignores it is left behind after a grace period. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Absolute path of the folder that the session works in. */
  readonly cwd: string;
  /** Absolute real paths that tools may touch: `cwd` and what the caller added. */
  readonly roots: readonly string[];
  /** What earlier tools have read, the permission mode, the depth. Data; change it with `contextChanges`. */
  readonly shared: ToolUseContext;
  /** Shows newest output to the consumer while the tool runs. */
  readonly progress: (text: string) => void;
}

export interface ToolOutput {
  /** Text for the model, or blocks. */
  readonly content: string | readonly ToolContent[];
  /** Default false. */
  readonly isError?: boolean;
  /** A failure that makes the siblings running beside it pointless. Default false. */
  readonly cancelsSiblings?: boolean;
  readonly contextChanges?: readonly ContextChange[];
  /** Blocks that stand behind the results of the turn. */
  readonly attachments?: readonly UserBlock[];
}

/** What a tool itself says about a call, after the rules and before the mode. `pass`: it has no opinion. */
export type PermissionOpinion =
  | { readonly behavior: 'pass' }
  | { readonly behavior: 'allow' }
  | { readonly behavior: 'ask' | 'deny'; readonly reason: string };

export interface ToolDefinition<Schema extends z.ZodType = z.ZodType> {
  /** `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly input: Schema;
  /** JSON schema shown to the model; default: made from `input`. */
  readonly inputSchema?: JsonObject;
  /** May this input run beside other safe tools? Default: no. A throw means no. */
  readonly isConcurrencySafe?: (input: z.output<Schema>) => boolean;
  /** Does this input change nothing? Default: no. A throw means no. */
  readonly isReadOnly?: (input: z.output<Schema>) => boolean;
  /** May this input run again after a crash although it is not read-only? Default: no. */
  readonly isReplaySafe?: (input: z.output<Schema>) => boolean;
  /** Is this input an edit of files inside the workspace (mode `acceptEdits` lets it pass)? Default: no. */
  readonly isEdit?: (input: z.output<Schema>) => boolean;
  /** Longest result in characters before it goes to the result store; Infinity: the tool limits itself. Default 100,000. */
  readonly maxResultSizeChars?: number;
  /** Longest run in milliseconds; default none beyond what the tool does itself. */
  readonly timeoutMs?: number;
  /** Is the input sensible beyond its shape? Returns one sentence for the model, or null. Must not change anything. */
  readonly validate?: (input: z.output<Schema>, context: ToolRunContext) => string | null | Promise<string | null>;
  /** Fills in what hooks and permissions should see (absolute paths); works on a copy. */
  readonly backfill?: (input: z.output<Schema>, context: ToolRunContext) => z.output<Schema>;
  readonly checkPermission?: (
    input: z.output<Schema>,
    context: ToolRunContext,
  ) => PermissionOpinion | Promise<PermissionOpinion>;
  /** A few words on the call for people: a path, a command. Default: the JSON, cut. */
  readonly summary?: (input: z.output<Schema>) => string;
  /** Runs the call. A throw becomes an error result with the message of the error. */
  readonly run: (input: z.output<Schema>, context: ToolRunContext) => Promise<ToolOutput | string> | ToolOutput | string;
}

/** A tool with every default filled in, its input type erased: what registries and the pipeline hold. */
export interface Tool extends Required<Omit<ToolDefinition, 'timeoutMs' | 'validate' | 'backfill' | 'checkPermission'>> {
  readonly timeoutMs: number | null;
  readonly validate: NonNullable<ToolDefinition['validate']>;
  readonly backfill: NonNullable<ToolDefinition['backfill']>;
  readonly checkPermission: NonNullable<ToolDefinition['checkPermission']>;
}
