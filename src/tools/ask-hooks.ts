/** The PreToolUse stage: what the hooks say of a call, or what they said of it before a crash. */
import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import type { UserBlock } from '../core/message.ts';
import type { ToolDecision, ToolOutcome } from '../core/state.ts';
import { abortedOutcome, askWithin, type CallScope, type Step } from './call.ts';
import { hashInput } from './hash.ts';
import type { PreToolUseVerdict, ToolCallView, ToolHooks } from './hook-port.ts';
import { errorOutcome, noteBlock, attach } from './outcome.ts';
import { type ReadInput, readInput } from './read-input.ts';

/** What the hooks leave of a call that goes on. */
export interface HookedInput extends ReadInput {
  /** Null: no hook was asked. */
  readonly verdict: PreToolUseVerdict | null;
}

const nullableText = z.string().nullable();
const recorded = z.object({
  behavior: z.enum(['pass', 'allow', 'unsure', 'ask', 'deny']),
  by: nullableText.default(null),
  reason: nullableText.default(null),
  input: z.record(z.string(), z.json()).nullable().default(null),
  contexts: z.array(z.string()).default([]),
  stop: nullableText.default(null),
  notices: z.array(z.string()).default([]),
});

/** The call as hooks see it. */
export function viewOf(scope: CallScope, input: JsonObject): ToolCallView {
  const { call, tool, deps } = scope;
  return {
    sessionId: call.shared.queryTracking.chainId,
    toolUseId: call.toolUseId,
    toolName: tool.name,
    input,
    cwd: deps.cwd,
    permissionMode: call.shared.permissionMode,
    depth: call.shared.depth,
  };
}

/** Asks the hooks and ends the call when one denies or stops; a changed input is read like one of the model. */
export async function askHooks(scope: CallScope, input: ReadInput): Promise<Step<HookedInput>> {
  const { deps, tool } = scope;
  const ask = deps.hooks.preToolUse([tool.name, ...tool.aliases]);
  if (ask === null) return { value: { ...input, verdict: null } };
  const verdict = await verdictOn(scope, input.json, ask);
  if (verdict === null) return { outcome: abortedOutcome() };
  for (const notice of verdict.notices) scope.io.notice(notice);
  const contexts = contextBlocks(scope, verdict.contexts);
  const ended = endedBy(scope, verdict);
  if (ended !== null) return { outcome: attach(ended, contexts) };
  if (verdict.input === null) return { value: { ...input, verdict } };
  const changed = await readInput(scope, verdict.input, { name: 'a PreToolUse hook', stage: 'preToolUse' });
  if ('outcome' in changed) return { outcome: attach(changed.outcome, contexts) };
  return { value: { ...changed.value, verdict } };
}

/** What the hooks say, or said before a crash; null after an abort. */
async function verdictOn(
  scope: CallScope,
  input: JsonObject,
  ask: NonNullable<ReturnType<ToolHooks['preToolUse']>>,
): Promise<PreToolUseVerdict | null> {
  const inputHash = hashInput(input);
  const known = recall(scope.call.decisions, inputHash);
  if (known !== null) return known;
  const verdict = await ask(viewOf(scope, input), askWithin(scope));
  if (verdict === null || scope.io.signal.aborted) return null;
  scope.io.decided({ kind: 'preToolUse', inputHash, answer: { ...verdict } });
  return verdict;
}

/** An earlier answer to the same input; one that came from a crash is asked again. */
function recall(decisions: readonly ToolDecision[], inputHash: string): PreToolUseVerdict | null {
  const decision = decisions.findLast((one) => one.kind === 'preToolUse' && one.inputHash === inputHash);
  const parsed = recorded.safeParse(decision?.answer);
  return parsed.success && parsed.data.behavior !== 'unsure' ? parsed.data : null;
}

function endedBy({ tool }: CallScope, verdict: PreToolUseVerdict): ToolOutcome | null {
  const { stop, behavior, by, reason } = verdict;
  if (stop !== null)
    return errorOutcome('preToolUse', `${tool.name} did not run: a hook stopped the loop: ${stop}`, { stop });
  if (behavior !== 'deny') return null;
  return errorOutcome(
    'preToolUse',
    `${tool.name} did not run. Denied by the PreToolUse hook ${by}: ${reason ?? 'no reason given'}`,
  );
}

/** What hooks want the model to know, as blocks behind the results of the turn. */
export function contextBlocks({ tool, call }: CallScope, contexts: readonly string[]): readonly UserBlock[] {
  return contexts.map((text) => noteBlock(`On ${tool.name} (${call.toolUseId}), ${text}`));
}
