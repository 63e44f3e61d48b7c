/** An answer on a permission as it is recorded: data of the journal, which a resumed query does not ask for again. */
import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import type { ToolDecision } from '../core/state.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import type { PermissionAnswer } from './can-use-tool.ts';
import type { Decider } from './permissions.ts';

/** Who let a call run or not, why, and what was changed on the way. Holds for one hash of an input. */
export interface RecordedAnswer {
  readonly behavior: 'allow' | 'deny';
  readonly by: Decider;
  /** One sentence; empty when the user gave none. */
  readonly reason: string;
  /** What the user put in place of the input; null: nothing. */
  readonly updatedInput: JsonObject | null;
  readonly addedRules: readonly PermissionRule[];
  /** The user wants the query to end. */
  readonly interrupt: boolean;
  /** The tool had asked to leave the workspace when this was answered. */
  readonly outside: boolean;
}

const recorded = z.object({
  behavior: z.enum(['allow', 'deny']),
  by: z.enum(['rule', 'tool', 'mode', 'hook', 'user', 'nobody']).default('user'),
  reason: z.string().default(''),
  updatedInput: z.record(z.string(), z.json()).nullable().default(null),
  addedRules: z.array(z.object({ behavior: z.enum(['allow', 'deny', 'ask']), rule: z.string() })).default([]),
  interrupt: z.boolean().default(false),
  outside: z.boolean().default(true),
});

/** The newest earlier answer on an input with this hash, or null. That nobody was there to ask is no answer. */
export function recallAnswer(decisions: readonly ToolDecision[], inputHash: string): RecordedAnswer | null {
  const decision = decisions.findLast((one) => one.kind === 'permission' && one.inputHash === inputHash);
  const parsed = recorded.safeParse(decision?.answer);
  return parsed.success && parsed.data.by !== 'nobody' ? parsed.data : null;
}

/** The decision to be journaled. */
export function decisionOf(answer: RecordedAnswer, inputHash: string): ToolDecision {
  const { addedRules, ...rest } = answer;
  const rules = addedRules.map(({ behavior, rule }) => ({ behavior, rule }));
  return { kind: 'permission', inputHash, answer: { ...rest, addedRules: rules } };
}

/** An answer that holds no more than who decided what, and why. */
export function plainAnswer(
  behavior: RecordedAnswer['behavior'],
  by: Decider,
  reason: string,
  outside = false,
): RecordedAnswer {
  return { behavior, by, reason, updatedInput: null, addedRules: [], interrupt: false, outside };
}

/** What the user said. */
export function userAnswer(answer: PermissionAnswer, outside: boolean): RecordedAnswer {
  if (answer.behavior === 'deny') {
    return {
      ...plainAnswer('deny', 'user', answer.message?.toWellFormed() ?? ''),
      interrupt: answer.interrupt === true,
    };
  }
  const { updatedInput, addedRules } = answer;
  return {
    ...plainAnswer('allow', 'user', '', outside),
    updatedInput: updatedInput ?? null,
    addedRules: addedRules ?? [],
  };
}
