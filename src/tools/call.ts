/** One tool call on its way through the pipeline: what comes with it, and what it may use. */
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { ToolDecision, ToolOutcome } from '../core/state.ts';
import type { PermissionRule, ToolUseContext } from '../core/tools/context.ts';
import type { CanUseTool } from './can-use-tool.ts';
import type { FileContents } from './file-contents.ts';
import type { AskHook, ToolCallView, ToolHooks } from './hook-port.ts';
import { errorOutcome } from './outcome.ts';
import { hiddenBy, ruleNames } from './permission-rules.ts';
import type { ToolRegistry } from './registry.ts';
import type { ResultStore } from './result-store.ts';
import type { ScaleImage } from './scale-image.ts';
import { settle, type Settled } from './settle.ts';
import type { Tool, ToolRunContext } from './tool.ts';

/** What every call of a query shares. */
export interface PipelineDeps {
  /** The tools of now; asked once a call. */
  readonly registry: () => ToolRegistry;
  readonly hooks: ToolHooks;
  /** Rules of the settings; those that were added while the query ran come with the call. */
  readonly rules: readonly PermissionRule[];
  /** Asks the user; null when nobody is there, and what must be asked is denied. */
  readonly canUseTool: CanUseTool | null;
  readonly store: ResultStore;
  readonly scaleImage: ScaleImage;
  /** Absolute real path of the folder that the session works in. */
  readonly cwd: string;
  /** Absolute real paths that tools may touch, `cwd` among them. */
  readonly roots: readonly string[];
  /** Absolute real paths that tools may read beside `roots`, asked once a call. Default: none. */
  readonly readRoots?: () => readonly string[];
  /** Where contents of files are kept that tools read and write. Default: nowhere. */
  readonly contents?: FileContents;
  /** A cancelled tool may clean up for so many milliseconds before it is left behind. Default 5,000. */
  readonly abortGraceMs?: number;
  /** Told right before the user is asked about a call. Contract: must not throw. Default: nobody. */
  readonly asking?: (call: ToolCallView) => void;
  /** Told of what nobody waits for any more: a late result of a tool that was left behind. Default: nobody. */
  readonly log?: (sentence: string) => void;
}

/** The call as the model made it. */
export interface ToolCall {
  readonly toolUseId: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly shared: ToolUseContext;
  /** Decisions of an earlier process on this call; each holds for the input that it was made on, and for no other. */
  readonly decisions: readonly ToolDecision[];
}

/** How the pipeline speaks to its host while a call is under way. */
export interface CallIo {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The actor that runs the call; left out outside of the chart. */
  readonly actor?: AnyActorRef;
  /** Newest output of the tool. */
  readonly progress: (text: string) => void;
  /** A hook or a permission decided; told before the tool runs. */
  readonly decided: (decision: ToolDecision) => void;
  /** Something a person may want to know: a hook crashed. */
  readonly notice: (sentence: string) => void;
  /** The tool itself starts. */
  readonly began: () => void;
}

/** Everything that the stages of one call have at hand. */
export interface CallScope {
  readonly tool: Tool;
  readonly call: ToolCall;
  readonly deps: PipelineDeps;
  readonly io: CallIo;
  readonly context: ToolRunContext;
}

/** What a stage gives: a value for the next stage, or the outcome that ends the call. */
export type Step<Value> = { readonly value: Value } | { readonly outcome: ToolOutcome };

const defaultAbortGraceMs = 5_000;

/** Puts together what the stages of one call have at hand; `outsideAllowed` is off until permission is given. */
export function scopeOf(tool: Tool, call: ToolCall, deps: PipelineDeps, io: CallIo): CallScope {
  const context: ToolRunContext = {
    toolUseId: call.toolUseId,
    signal: io.signal,
    clock: io.clock,
    cwd: deps.cwd,
    roots: deps.roots,
    readRoots: [...(deps.store.folder === null ? [] : [deps.store.folder]), ...(deps.readRoots?.() ?? [])],
    outsideAllowed: false,
    isHidden: hiddenBy(allRules(deps, call), ruleNames(tool), deps.cwd),
    shared: call.shared,
    remember: (content) => deps.contents?.keep(content),
    progress: () => undefined,
    actor: io.actor ?? null,
  };
  return { tool, call, deps, io, context };
}

/** The rules that hold for a call: of the settings, then those added while the query ran. */
export function allRules(deps: PipelineDeps, call: ToolCall): readonly PermissionRule[] {
  return [...deps.rules, ...call.shared.addedRules];
}

/** Runs a function of the tool or the host within the call: its throw, its hang after an abort, come back as values. */
export function guard<Value>(
  scope: CallScope,
  work: (signal: AbortSignal) => Value | Promise<Value>,
  timeoutMs: number | null = null,
): Promise<Settled<Value>> {
  const { deps, io, tool, call } = scope;
  return settle(work, {
    clock: io.clock,
    signal: io.signal,
    timeoutMs,
    graceMs: deps.abortGraceMs ?? defaultAbortGraceMs,
    onLate: () => deps.log?.(`${tool.name} (${call.toolUseId}) ended after it was left behind; its result is ignored.`),
  });
}

/** How hooks are run within the call. */
export function askWithin(scope: CallScope): AskHook {
  return (work, timeoutMs) => guard(scope, work, timeoutMs);
}

/** The outcome of a call that nobody waits for; it is never posted. */
export function abortedOutcome(): ToolOutcome {
  return errorOutcome('abort', 'Cancelled.');
}
