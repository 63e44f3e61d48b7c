/** What a command hook said: its exit code, stderr, and the JSON that it may have printed. */
import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import type { HookEvent } from './events.ts';

/** How a command ended. */
export interface CommandEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
  readonly timedOut: boolean;
}

/** What a command hook says, in one form for all kinds. */
export interface CommandSaid {
  /** Why it objects; null: it does not. */
  readonly block: string | null;
  /** Why the loop shall end (`continue: false`); null: it shall not. */
  readonly stop: string | null;
  readonly decision: 'allow' | 'deny' | 'ask' | null;
  readonly reason: string | null;
  readonly input: JsonObject | null;
  readonly context: string | null;
  readonly output: string | null;
  /** For the user. */
  readonly notices: readonly string[];
}

const nothing: CommandSaid = {
  block: null,
  stop: null,
  decision: null,
  reason: null,
  input: null,
  context: null,
  output: null,
  notices: [],
};

/** Exit code by which a hook objects; what stderr says is the reason. */
const blocking = 2;
/** Longest text of a hook that a person or a model is shown, in characters. */
const longest = 10_000;
/** Kinds whose plain output the model is shown. */
const speaksPlainly: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'SessionStart']);

const text = z.string().optional();
// Names of the format that Claude Code documents; keys that it does not know are left alone.
const printed = z.object({
  continue: z.boolean().optional(),
  stopReason: text,
  decision: z.enum(['approve', 'block', 'allow', 'deny', 'ask']).optional(),
  reason: text,
  systemMessage: text,
  suppressOutput: z.boolean().optional(),
  hookSpecificOutput: z
    .object({
      hookEventName: text,
      permissionDecision: z.enum(['allow', 'deny', 'ask']).optional(),
      permissionDecisionReason: text,
      updatedInput: z.record(z.string(), z.json()).optional(),
      additionalContext: text,
      updatedMCPToolOutput: z.json().optional(),
    })
    .optional(),
});

type Printed = z.output<typeof printed>;

/** Reads what came of a command. What cannot be understood is a notice, neither a block nor a stop. */
export function readCommand(event: HookEvent, end: CommandEnd, timeoutMs: number): CommandSaid {
  if (end.timedOut) return warn(`gave no answer within ${timeoutMs / 1_000} seconds and was killed.`);
  if (end.exitCode === blocking) return { ...nothing, block: cut(end.errors) };
  if (end.exitCode !== 0) return warn(failure(end));
  const output = end.output.trim();
  if (!output.startsWith('{')) {
    return speaksPlainly.has(event) && output !== '' ? { ...nothing, context: output } : nothing;
  }
  const said = parse(output);
  return typeof said === 'string' ? warn(said) : fromJson(event, said);
}

/** Something that went wrong; `why` completes the sentence "The hook ...". */
export function warn(why: string): CommandSaid {
  return { ...nothing, notices: [why] };
}

function failure({ exitCode, errors }: CommandEnd): string {
  const how = exitCode === null ? 'was ended by a signal' : `ended with exit code ${exitCode}`;
  const said = cut(errors);
  return said === '' ? `${how}.` : `${how}: ${said}`;
}

function parse(output: string): Printed | string {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    return 'printed something that begins like JSON and is none; it is ignored.';
  }
  const result = printed.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.join('.') ?? '';
  return `printed JSON that is no answer of a hook; it is ignored: ${place}: ${issue?.message ?? 'unknown shape'}.`;
}

function fromJson(event: HookEvent, said: Printed): CommandSaid {
  const own = said.hookSpecificOutput;
  const decision = own?.permissionDecision ?? toolDecision(event, said.decision);
  const { updatedInput, updatedMCPToolOutput: replaced } = own ?? {};
  return {
    block: said.decision === 'block' && event !== 'PreToolUse' ? (said.reason ?? '') : null,
    stop: said.continue === false ? (said.stopReason ?? '') : null,
    decision,
    reason: own?.permissionDecisionReason ?? said.reason ?? null,
    input: (updatedInput as JsonObject | undefined) ?? null,
    context: own?.additionalContext ?? null,
    output: replaced === undefined ? null : typeof replaced === 'string' ? replaced : JSON.stringify(replaced),
    notices: said.systemMessage === undefined ? [] : [said.systemMessage],
  };
}

/** The older words for a decision on a tool use. */
function toolDecision(event: HookEvent, decision: Printed['decision']): CommandSaid['decision'] {
  if (event !== 'PreToolUse' || decision === undefined) return null;
  if (decision === 'approve') return 'allow';
  return decision === 'block' ? 'deny' : decision;
}

function cut(said: string): string {
  return said.trim().slice(0, longest).toWellFormed();
}
