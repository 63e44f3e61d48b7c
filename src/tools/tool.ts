/** What a tool is. `tool()` makes one with fail-closed defaults. */
import type { AnyActorRef } from 'xstate';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { DocumentBlock, ImageBlock, ModelUsage, TextBlock, UserBlock } from '../core/message.ts';
import type { ContextChange, ToolUseContext } from '../core/tools/context.ts';

/** What a result may hold. */
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
  /** Absolute real paths that tools may read beside `roots`: the folder of the result store. */
  readonly readRoots: readonly string[];
  /** True while the call runs when a rule, the user or the mode let it leave `roots`: the tool has asked for that. */
  readonly outsideAllowed: boolean;
  /** True for an absolute path whose content a deny or ask rule of the tool keeps back: a search leaves it out. */
  readonly isHidden: (path: string) => boolean;
  /** What earlier tools have read, the permission mode, the depth. Data; change it with `contextChanges`. */
  readonly shared: ToolUseContext;
  /** Keeps the content of a file that the model now knows, so that a later change can be shown as a diff. */
  readonly remember: (content: Buffer) => void;
  /** Shows newest output to the consumer while the tool runs. */
  readonly progress: (text: string) => void;
  /** The actor that runs the call: `query({ parent: context.actor })` runs a query as its child. Null outside of the chart. */
  readonly actor: AnyActorRef | null;
}

/** What a run gives; a plain text is short for `{ content: text }`. Anything else is an error result. */
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
  /** What the call used of models: it counts in the usage and the cost of the query, not in its token budget. */
  readonly spent?: readonly ModelUsage[];
  /** Dollars for `spent`; null: not known. Default: by the option `prices` and the built-in table. */
  readonly cost?: number | null;
}

/** What a tool itself says about a call, after the rules and before the mode. `pass`: it has no opinion. */
export type PermissionOpinion =
  | { readonly behavior: 'pass' }
  | { readonly behavior: 'allow' }
  | { readonly behavior: 'ask' | 'deny'; readonly reason: string };

/** What a rule `Tool(pattern)` is matched against. */
export type PermissionTarget =
  /** Absolute paths that the call touches. */
  | { readonly type: 'paths'; readonly paths: readonly string[] }
  /** A command line for a shell. */
  | { readonly type: 'command'; readonly command: string }
  /** A name that a pattern says in full, or in part with `*`: that of a skill. */
  | { readonly type: 'name'; readonly name: string }
  /** Nothing that a pattern could describe: an allow rule with a pattern never matches, a deny or ask rule asks. */
  | { readonly type: 'none' };

/** What a tool says of itself. A throw of any function here ends one call, never the query. */
export interface ToolDefinition<Schema extends z.ZodType = z.ZodType> {
  /** `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  /** Stands before all other tools in the list, so that the cached prefix of a prompt is stable. Default false. */
  readonly isBuiltIn?: boolean;
  /** Names of other tools whose permission rules hold for this one too: Write obeys the rules for Edit. Default none. */
  readonly rulesOf?: readonly string[];
  readonly input: Schema;
  /** JSON schema shown to the model; default: made from `input`. */
  readonly inputSchema?: JsonObject;
  /** May this input run beside other safe tools? Default: no. A throw means no. */
  readonly isConcurrencySafe?: (input: z.output<Schema>) => boolean;
  /** Does this input change nothing? Default: no. A throw means no. */
  readonly isReadOnly?: (input: z.output<Schema>) => boolean;
  /** May this input run again after a crash although it is not read-only? Default: no. */
  readonly isReplaySafe?: (input: z.output<Schema>) => boolean;
  /** Does this input start a sub-agent? Then it counts against `maxSubAgents` and waits for the whole answer. Default: no. */
  readonly startsAgent?: (input: z.output<Schema>) => boolean;
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
  /** What permission rules with a pattern look at (backfilled input). Default: nothing. A throw means nothing. */
  readonly permissionTarget?: (input: z.output<Schema>) => PermissionTarget;
  /** The tool's own word on a call. May be slow: it runs beside the hooks. A throw means ask. Default: no opinion. */
  readonly checkPermission?: (
    input: z.output<Schema>,
    context: ToolRunContext,
  ) => PermissionOpinion | Promise<PermissionOpinion>;
  /** A few words on the call for people: a path, a command. Default: the JSON, cut. */
  readonly summary?: (input: z.output<Schema>) => string;
  /** Runs the call. A throw becomes an error result with the message of the error. */
  readonly run: (
    input: z.output<Schema>,
    context: ToolRunContext,
  ) => Promise<ToolOutput | string> | ToolOutput | string;
}

/** A tool with every default filled in, its input type erased: what registries and the pipeline hold. */
export interface Tool
  extends Required<Omit<ToolDefinition, 'timeoutMs' | 'validate' | 'backfill' | 'checkPermission'>> {
  readonly timeoutMs: number | null;
  readonly validate: NonNullable<ToolDefinition['validate']>;
  readonly backfill: NonNullable<ToolDefinition['backfill']>;
  readonly checkPermission: NonNullable<ToolDefinition['checkPermission']>;
}

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;
const defaultMaxResultSizeChars = 100_000;
/** Longest default summary, in characters. */
const summaryLength = 120;

/**
 * Makes a tool. What the definition leaves out is fail-closed: not concurrency-safe, not read-only, not replay-safe, no
 * edit, results cut at 100,000 characters. Throws a `TypeError` with a hint when the definition cannot work.
 */
export function tool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  // From here on the input is `unknown`: only the pipeline calls these functions, with what `input` has parsed.
  const erased = definition as unknown as ToolDefinition;
  checkDefinition(erased);
  return Object.freeze({
    aliases: [],
    isBuiltIn: false,
    rulesOf: [],
    isConcurrencySafe: no,
    isReadOnly: no,
    isReplaySafe: no,
    startsAgent: no,
    isEdit: no,
    maxResultSizeChars: defaultMaxResultSizeChars,
    timeoutMs: null,
    validate: () => null,
    backfill: (input: unknown) => input,
    permissionTarget: () => ({ type: 'none' }) as const,
    checkPermission: () => ({ behavior: 'pass' }) as const,
    summary: summarise,
    ...withoutUndefined(erased),
    inputSchema: erased.inputSchema ?? jsonSchemaOf(erased),
  });
}

/** An option that is there and undefined (in JavaScript) must not take the place of a fail-closed default. */
function withoutUndefined<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}

const no = (): boolean => false;

function summarise(input: unknown): string {
  return (JSON.stringify(input) ?? '').slice(0, summaryLength).toWellFormed();
}

function checkDefinition(definition: ToolDefinition): void {
  for (const name of [definition.name, ...(definition.aliases ?? [])]) {
    if (!namePattern.test(name)) {
      throw new TypeError(
        `The tool name ${JSON.stringify(name)} is none: use 1 to 64 of the characters a-z A-Z 0-9 _ -.`,
      );
    }
  }
  checkPositive(definition.name, 'maxResultSizeChars', definition.maxResultSizeChars);
  checkPositive(definition.name, 'timeoutMs', definition.timeoutMs);
}

function checkPositive(name: string, option: string, value: number | undefined): void {
  if (value === undefined || value > 0) return;
  throw new TypeError(`${option} of the tool ${name} is ${value}: give a number above 0, or leave it out.`);
}

/** The API wants a JSON schema whose top is an object. */
function jsonSchemaOf(definition: ToolDefinition): JsonObject {
  const hint = 'Give `inputSchema`, or make `input` a z.object().';
  let schema: JsonObject;
  try {
    // What the model writes is the input side: defaults are optional there, transforms have not happened.
    const { $schema: _, ...rest } = z.toJSONSchema(definition.input, { io: 'input' });
    schema = JSON.parse(JSON.stringify(rest)) as JsonObject;
  } catch (error) {
    throw new TypeError(`The input of the tool ${definition.name} has no JSON schema. ${hint}`, { cause: error });
  }
  if (schema['type'] === 'object') return schema;
  throw new TypeError(`The input of the tool ${definition.name} is no object. ${hint}`);
}
