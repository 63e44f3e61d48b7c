/** The permission stage: who lets a call run, or why it does not. */
import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import type { ToolOutcome } from '../core/state.ts';
import type { ContextChange } from '../core/tools/context.ts';
import { type HookedInput, viewOf } from './ask-hooks.ts';
import { commandTarget } from './command-target.ts';
import { abortedOutcome, allRules, type CallScope, guard, type Step } from './call.ts';
import { hashInput } from './hash.ts';
import type { PreToolUseVerdict } from './hook-port.ts';
import { errorOutcome } from './outcome.ts';
import { realPathOf } from './paths.ts';
import { decisionOf, plainAnswer, type RecordedAnswer, recallAnswer, userAnswer } from './permission-answer.ts';
import { type RuleSubject, ruleNames } from './permission-rules.ts';
import { type Decider, judgePermission, type PermissionVerdict } from './permissions.ts';
import { askUser } from './prompt.ts';
import { type ReadInput, readInput } from './read-input.ts';
import { says } from './registry.ts';
import type { Settled } from './settle.ts';
import { suggestRules } from './suggest-rules.ts';
import type { PermissionOpinion, PermissionTarget } from './tool.ts';

/** A call that may run. */
export interface Granted extends ReadInput {
  /** It may leave the workspace: the tool had asked to, and a rule, a hook, the user or the mode let it. */
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

/** An input and everything that is known about whether it may run. */
interface Judged {
  readonly input: ReadInput;
  readonly subject: RuleSubject;
  readonly verdict: PermissionVerdict;
  /** The tool asks to leave the workspace. */
  readonly outside: boolean;
}

const opinions: z.ZodType<PermissionOpinion> = z.discriminatedUnion('behavior', [
  z.object({ behavior: z.literal('pass') }),
  z.object({ behavior: z.literal('allow') }),
  z.object({ behavior: z.literal('ask'), reason: z.string() }),
  z.object({ behavior: z.literal('deny'), reason: z.string() }),
]);

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
  // Where hooks changed the input, what was found about the first one says nothing about this one.
  const own = check.json === input.json ? check : startCheck(scope, input);
  const judged = await judge(scope, input, own, input.verdict);
  if (scope.io.signal.aborted) return { outcome: abortedOutcome() };
  const inputHash = hashInput(input.json);
  const known = judged.verdict.behavior === 'deny' ? null : recallAnswer(scope.call.decisions, inputHash);
  if (known !== null) return apply(scope, judged, known);
  const answer = await answerOf(scope, judged);
  if (answer === null || scope.io.signal.aborted) return { outcome: abortedOutcome() };
  scope.io.decided(decisionOf(answer, inputHash));
  return apply(scope, judged, answer);
}

async function judge(
  scope: CallScope,
  input: ReadInput,
  check: StartedCheck,
  hooks: PreToolUseVerdict | null,
): Promise<Judged> {
  const { tool, call, deps } = scope;
  const opinion = await check.opinion;
  const subject = await subjectOf(scope, input);
  const hook = hooks?.behavior ?? 'pass';
  const verdict = judgePermission({
    rules: allRules(deps, call),
    subject,
    mode: call.shared.permissionMode,
    opinion,
    // A denial has ended the call before.
    hook: hook === 'deny' ? 'ask' : hook,
    hookReason: hooks?.reason ?? null,
    // A sub-agent changes nothing by itself: its calls are judged one by one, in a mode no wider than this one.
    readOnly: says(tool.isReadOnly, input.parsed) || says(tool.startsAgent, input.parsed),
    edit: says(tool.isEdit, input.parsed),
  });
  return { input, subject, verdict, outside: opinion.behavior === 'ask' };
}

/** The verdict as an answer; asks the user where it has to. Null after an abort. */
async function answerOf(scope: CallScope, judged: Judged): Promise<RecordedAnswer | null> {
  const { input, subject, outside } = judged;
  const { by, reason, behavior } = judged.verdict;
  if (behavior !== 'ask') return plainAnswer(behavior, by, reason, outside);
  if (scope.call.shared.permissionMode === 'dontAsk') {
    return plainAnswer('deny', 'mode', `${reason} The mode dontAsk denies what would have to be asked.`);
  }
  const { canUseTool } = scope.deps;
  if (canUseTool === null) {
    const where = scope.call.shared.permissionMode === 'bubble' ? 'above ' : '';
    return plainAnswer('deny', 'nobody', `${reason} Nobody ${where}is there to ask.`);
  }
  scope.deps.asking?.(viewOf(scope, input.json));
  const { permissionMode } = scope.call.shared;
  const suggestions = suggestRules(scope.tool.name, subject, allRules(scope.deps, scope.call), permissionMode);
  const asked = await askUser(scope, canUseTool, input.json, { reason, summary: summaryOf(scope, input), suggestions });
  if (asked === null) return null;
  if ('failed' in asked) return plainAnswer('deny', 'nobody', `${reason} But ${asked.failed}`);
  return userAnswer(asked.answer, outside);
}

function summaryOf({ tool }: CallScope, input: ReadInput): string {
  try {
    return tool.summary(input.parsed);
  } catch {
    return tool.name;
  }
}

async function apply(scope: CallScope, judged: Judged, answer: RecordedAnswer): Promise<Step<Granted>> {
  if (answer.behavior === 'deny') return { outcome: denied(scope, answer) };
  const contextChanges = answer.addedRules.map((rule) => ({ type: 'ruleAdded' as const, rule }));
  const { outside, updatedInput } = answer;
  if (updatedInput === null) return { value: { ...judged.input, outside, contextChanges } };
  const changed = await readInput(scope, updatedInput, { name: 'the user', stage: 'permission' });
  if ('outcome' in changed) return changed;
  // The user has approved this input, but no deny rule has seen it yet.
  const again = await judge(scope, changed.value, startCheck(scope, changed.value), null);
  if (again.verdict.behavior === 'deny') return { outcome: denied(scope, { ...again.verdict, interrupt: false }) };
  return { value: { ...changed.value, outside: again.outside, contextChanges } };
}

const deciders: { readonly [By in Decider]: string } = {
  rule: 'a permission rule',
  tool: 'the tool itself',
  mode: 'the permission mode',
  hook: 'a hook',
  user: 'the user',
  nobody: 'default, since it has to be approved',
};

/** Tells the model that a call did not run, who denied it, and why. */
function denied(
  { tool }: CallScope,
  { by, reason, interrupt }: Pick<RecordedAnswer, 'by' | 'reason' | 'interrupt'>,
): ToolOutcome {
  const why = reason.trim() === '' ? '.' : `: ${reason}`;
  const end = interrupt ? ' The user ended the turn.' : '';
  return errorOutcome('permission', `${tool.name} did not run. Denied by ${deciders[by]}${why}${end}`, { interrupt });
}

/** What rules look at: the target, with every path as written and as it really is. */
async function subjectOf(scope: CallScope, input: ReadInput): Promise<RuleSubject> {
  const { tool, deps } = scope;
  const target = targetOf(scope, input);
  const common = { names: ruleNames(tool), cwd: deps.cwd };
  if (target.type === 'command') {
    const place = { cwd: deps.cwd, roots: deps.roots, realPath: realPathOrItself };
    return { ...common, target: await commandTarget(target.command, place) };
  }
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
