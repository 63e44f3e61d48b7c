/** The permission stage: who lets a call run, or why it does not. */
import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import type { ToolDecision, ToolOutcome } from '../core/state.ts';
import type { ContextChange, PermissionRule } from '../core/tools/context.ts';
import type { HookedInput } from './ask-hooks.ts';
import { abortedOutcome, allRules, type CallScope, guard, type Step } from './call.ts';
import type { PermissionAnswer } from './can-use-tool.ts';
import { hashInput } from './hash.ts';
import { errorOutcome } from './outcome.ts';
import { realPathOf } from './paths.ts';
import { type RuleSubject, ruleNames } from './permission-rules.ts';
import { type Decider, judgePermission, type PermissionVerdict } from './permissions.ts';
import { askUser, suggestRules } from './prompt.ts';
import { type ReadInput, readInput } from './read-input.ts';
import { says } from './registry.ts';
import type { Settled } from './settle.ts';
import type { PermissionOpinion, PermissionTarget } from './tool.ts';

/** A call that may run. */
export interface Granted extends ReadInput {
  /** It may leave the workspace: a rule, the user or the mode said so although the tool had asked. */
  readonly outside: boolean;
  readonly contextChanges: readonly ContextChange[];
}

/** The tool's own check, started early so that a slow one runs beside the hooks. */
export interface StartedCheck {
  /** The input that it looks at. */
  readonly json: JsonObject;
  readonly opinion: Promise<PermissionOpinion>;
  /** Stops the check when nobody needs it any more. */
  readonly cancel: () => void;
}

/** A decision as it is recorded: data of the journal. */
interface RecordedAnswer {
  readonly behavior: 'allow' | 'deny';
  readonly by: Decider;
  readonly reason: string;
  readonly updatedInput: JsonObject | null;
  readonly addedRules: readonly PermissionRule[];
  readonly interrupt: boolean;
  readonly outside: boolean;
}

const opinions: z.ZodType<PermissionOpinion> = z.discriminatedUnion('behavior', [
  z.object({ behavior: z.literal('pass') }),
  z.object({ behavior: z.literal('allow') }),
  z.object({ behavior: z.literal('ask'), reason: z.string() }),
  z.object({ behavior: z.literal('deny'), reason: z.string() }),
]);

const recorded = z.object({
  behavior: z.enum(['allow', 'deny']),
  by: z.enum(['rule', 'tool', 'mode', 'hook', 'user', 'nobody']).default('user'),
  reason: z.string().default(''),
  updatedInput: z.record(z.string(), z.json()).nullable().default(null),
  addedRules: z.array(z.object({ behavior: z.enum(['allow', 'deny', 'ask']), rule: z.string() })).default([]),
  interrupt: z.boolean().default(false),
  outside: z.boolean().default(true),
});

/** Starts the tool's own check of an input. The promise never rejects: a check that fails means ask. */
export function startCheck(scope: CallScope, input: ReadInput): StartedCheck {
  const { tool, context, io } = scope;
  const stop = new AbortController();
  const signal = AbortSignal.any([io.signal, stop.signal]);
  const check = (inner: AbortSignal) => tool.checkPermission(input.parsed, { ...context, signal: inner });
  const settled = guard({ ...scope, io: { ...io, signal } }, check);
  return { json: input.json, opinion: settled.then(opinionOf), cancel: () => stop.abort() };
}

function opinionOf(settled: Settled<PermissionOpinion>): PermissionOpinion {
  if (settled.type === 'thrown') {
    return { behavior: 'ask', reason: `The tool's own check failed: ${settled.message}` };
  }
  const parsed = opinions.safeParse(settled.type === 'value' ? settled.value : null);
  return parsed.success ? parsed.data : { behavior: 'ask', reason: "The tool's own check gave no answer." };
}

/** Decides on a call by an earlier decision on the same input, by rules, mode and hooks, or by asking the user. */
export async function askPermission(scope: CallScope, input: HookedInput, check: StartedCheck): Promise<Step<Granted>> {
  // The hooks changed the input: what was found about the first one says nothing about this one.
  const opinion = await (check.json === input.json ? check : startCheck(scope, input)).opinion;
  const subject = await subjectOf(scope, input);
  if (scope.io.signal.aborted) return { outcome: abortedOutcome() };
  const verdict = judge(scope, input, opinion, subject);
  const inputHash = hashInput(input.json);
  const known = verdict.behavior === 'deny' ? null : recall(scope.call.decisions, inputHash);
  if (known !== null) return apply(scope, input, known);
  const answer = await answerOf(scope, input, verdict, subject, opinion.behavior === 'ask');
  if (answer === null || scope.io.signal.aborted) return { outcome: abortedOutcome() };
  scope.io.decided({ kind: 'permission', inputHash, answer: { ...answer } as unknown as JsonObject });
  return apply(scope, input, answer);
}

function judge(
  scope: CallScope,
  input: ReadInput & Partial<HookedInput>,
  opinion: PermissionOpinion,
  subject: RuleSubject,
): PermissionVerdict {
  const { tool, call, deps } = scope;
  const hook = input.verdict?.behavior ?? 'pass';
  return judgePermission({
    rules: allRules(deps, call),
    subject,
    mode: call.shared.permissionMode,
    opinion,
    hook: hook === 'deny' ? 'ask' : hook,
    hookReason: input.verdict?.reason ?? null,
    readOnly: says(tool.isReadOnly, input.parsed),
    edit: says(tool.isEdit, input.parsed),
  });
}

/** An earlier decision on this very input. That nobody was there to ask is none. */
function recall(decisions: readonly ToolDecision[], inputHash: string): RecordedAnswer | null {
  const decision = decisions.findLast((one) => one.kind === 'permission' && one.inputHash === inputHash);
  const parsed = recorded.safeParse(decision?.answer);
  return parsed.success && parsed.data.by !== 'nobody' ? parsed.data : null;
}

/** The verdict as an answer; asks the user where it has to. Null after an abort. */
async function answerOf(
  scope: CallScope,
  input: ReadInput,
  verdict: PermissionVerdict,
  subject: RuleSubject,
  outside: boolean,
): Promise<RecordedAnswer | null> {
  const { by, reason, behavior } = verdict;
  if (behavior !== 'ask') return { ...plainAnswer, behavior, by, reason, outside };
  const { canUseTool } = scope.deps;
  if (scope.call.shared.permissionMode === 'dontAsk') {
    return {
      ...plainAnswer,
      behavior: 'deny',
      by: 'mode',
      reason: `${reason} The mode dontAsk denies what would have to be asked.`,
    };
  }
  if (canUseTool === null) {
    return { ...plainAnswer, behavior: 'deny', by: 'nobody', reason: `${reason} Nobody is there to ask.` };
  }
  const suggestions = suggestRules(scope.tool.name, subject);
  const asked = await askUser(scope, canUseTool, input.json, { reason, summary: summaryOf(scope, input), suggestions });
  if (asked === null) return null;
  if ('failed' in asked)
    return { ...plainAnswer, behavior: 'deny', by: 'nobody', reason: `${reason} But ${asked.failed}` };
  return userAnswer(asked.answer);
}

const plainAnswer = { updatedInput: null, addedRules: [], interrupt: false, outside: false } as const;

function userAnswer(answer: PermissionAnswer): RecordedAnswer {
  if (answer.behavior === 'deny') {
    const { message, interrupt } = answer;
    return {
      ...plainAnswer,
      behavior: 'deny',
      by: 'user',
      reason: message?.toWellFormed() ?? '',
      interrupt: interrupt === true,
    };
  }
  const { updatedInput, addedRules } = answer;
  return {
    behavior: 'allow',
    by: 'user',
    reason: '',
    updatedInput: updatedInput ?? null,
    addedRules: addedRules ?? [],
    interrupt: false,
    outside: true,
  };
}

function summaryOf({ tool }: CallScope, input: ReadInput): string {
  try {
    return tool.summary(input.parsed);
  } catch {
    return tool.name;
  }
}

async function apply(scope: CallScope, input: HookedInput, answer: RecordedAnswer): Promise<Step<Granted>> {
  if (answer.behavior === 'deny') return { outcome: denied(scope, answer) };
  const contextChanges = answer.addedRules.map((rule) => ({ type: 'ruleAdded' as const, rule }));
  const granted = { outside: answer.outside, contextChanges };
  if (answer.updatedInput === null) return { value: { parsed: input.parsed, json: input.json, ...granted } };
  const changed = await readInput(scope, answer.updatedInput, { name: 'the user', stage: 'permission' });
  if ('outcome' in changed) return changed;
  // The user has approved this input, which no deny rule has seen yet.
  const subject = await subjectOf(scope, changed.value);
  const opinion = await startCheck(scope, changed.value).opinion;
  const verdict = judge(scope, changed.value, opinion, subject);
  const { by, reason } = verdict;
  if (verdict.behavior === 'deny') return { outcome: denied(scope, { by, reason, interrupt: false }) };
  return { value: { ...changed.value, ...granted } };
}

const deciders: { readonly [By in Decider]: string } = {
  rule: 'a permission rule',
  tool: 'the tool itself',
  mode: 'the permission mode',
  hook: 'a hook',
  user: 'the user',
  nobody: 'default, since it has to be approved',
};

function denied(
  { tool }: CallScope,
  { by, reason, interrupt }: Pick<RecordedAnswer, 'by' | 'reason' | 'interrupt'>,
): ToolOutcome {
  const why = reason.trim() === '' ? '.' : `: ${reason}`;
  const end = interrupt ? ' The user ended the turn.' : '';
  return errorOutcome('permission', `${tool.name} did not run. Denied by ${deciders[by]}${why}${end}`, { interrupt });
}

/** What rules look at: the target with every path as written and as it really is. */
async function subjectOf(scope: CallScope, input: ReadInput): Promise<RuleSubject> {
  const { tool, deps } = scope;
  const target = targetOf(scope, input);
  const common = { names: ruleNames(tool), cwd: deps.cwd };
  if (target.type !== 'paths') return { ...common, target };
  const paths = await Promise.all(target.paths.map(async (path) => [path, await realPathOrItself(path)]));
  return { ...common, target: { type: 'paths', paths } };
}

function targetOf({ tool }: CallScope, input: ReadInput): PermissionTarget {
  try {
    return tool.permissionTarget(input.parsed);
  } catch {
    return { type: 'none' };
  }
}

/** A path that cannot be followed cannot be opened either; the rules see it as it is written. */
async function realPathOrItself(path: string): Promise<string> {
  try {
    return await realPathOf(path);
  } catch {
    return path;
  }
}
