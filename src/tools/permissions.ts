/**
 * May this call run? A pure judgement from rules, hooks, the tool's own word and the mode, in this order; only what
 * nobody has decided is asked. What is unknown is asked, and where nobody is there to ask it is denied.
 */
import type { PermissionMode } from '../core/config.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import { commandCoverage, firstMatch, firstUnclear, type RuleSubject } from './permission-rules.ts';
import type { PermissionOpinion } from './tool.ts';

/** Who decided. `nobody`: it had to be asked and there was nobody. */
export type Decider = 'rule' | 'tool' | 'mode' | 'hook' | 'user' | 'nobody';

/** Everything that the judgement of a call depends on. */
export interface PermissionQuestion {
  /** All rules, those that were added while the query ran included. */
  readonly rules: readonly PermissionRule[];
  readonly subject: RuleSubject;
  readonly mode: PermissionMode;
  readonly opinion: PermissionOpinion;
  /** What the PreToolUse hooks said, a denial aside: that never comes here. `unsure`: one of them crashed. */
  readonly hook: 'pass' | 'allow' | 'unsure' | 'ask';
  /** Why the hook asks; null when it gave no reason. */
  readonly hookReason: string | null;
  readonly readOnly: boolean;
  /** An edit of files in the workspace. */
  readonly edit: boolean;
}

/** What is to be done with a call; `ask` where only a person can say. */
export interface PermissionVerdict {
  readonly behavior: 'allow' | 'deny' | 'ask';
  readonly by: Decider;
  /** One sentence: why it is denied or must be asked; for an allowed call who let it pass. */
  readonly reason: string;
}

/**
 * Judges a call. Deny beats ask beats allow, in every mode:
 * 1. a deny rule, the tool's own denial, and plan mode for whatever is not read-only, deny;
 * 2. an ask rule, a rule that cannot be judged, and a hook's `ask`, ask, also in `bypassPermissions`;
 * 3. an allow rule, a hook's `allow`, the tool's own `allow`, allow;
 * 4. a crashed hook and the tool's own `ask` (a path outside of the workspace) ask, but not in `bypassPermissions`;
 * 5. the mode decides the rest.
 * A crashed hook is stronger than every allowance of 3, but not than the mode `bypassPermissions`. In `dontAsk` the
 * verdict is `ask` as in `default`; it is the caller that asks nobody then.
 */
export function judgePermission(question: PermissionQuestion): PermissionVerdict {
  return denial(question) ?? demand(question) ?? allowance(question) ?? doubt(question) ?? modeVerdict(question);
}

function denial(question: PermissionQuestion): PermissionVerdict | null {
  const rule = firstMatch(question.rules, 'deny', question.subject);
  if (rule !== null) return deny('rule', `The rule "deny ${rule.rule}" forbids it.`);
  if (question.opinion.behavior === 'deny') return deny('tool', question.opinion.reason);
  if (question.mode === 'plan' && !question.readOnly) {
    return deny('mode', 'Permission mode plan lets only reading pass: finish the plan and present it.');
  }
  return null;
}

function demand(question: PermissionQuestion): PermissionVerdict | null {
  const rule = firstMatch(question.rules, 'ask', question.subject);
  if (rule !== null) return ask('rule', `The rule "ask ${rule.rule}" wants it to be asked.`);
  const unclear = firstUnclear(question.rules, question.subject);
  if (unclear !== null) {
    return ask('rule', `Whether the rule "${unclear.behavior} ${unclear.rule}" forbids it cannot be told.`);
  }
  return question.hook === 'ask' ? ask('hook', question.hookReason ?? 'A hook wants it to be asked.') : null;
}

function allowance(question: PermissionQuestion): PermissionVerdict | null {
  if (question.hook === 'unsure') return null;
  const rule = firstMatch(question.rules, 'allow', question.subject);
  if (rule !== null) return allow('rule', `The rule "allow ${rule.rule}" lets it pass.`);
  const covered = commandCoverage(question.rules, question.subject, question.mode);
  if (covered !== null && covered.by !== null) return allow(covered.by, covered.reason);
  if (question.hook === 'allow') return allow('hook', question.hookReason ?? 'A hook lets it pass.');
  return question.opinion.behavior === 'allow' ? allow('tool', 'The tool lets it pass.') : null;
}

function doubt(question: PermissionQuestion): PermissionVerdict | null {
  if (question.mode === 'bypassPermissions') return allow('mode', 'Permission mode bypassPermissions lets it pass.');
  if (question.hook === 'unsure') return ask('hook', question.hookReason ?? 'A hook gave no answer.');
  return question.opinion.behavior === 'ask' ? ask('tool', question.opinion.reason) : null;
}

function modeVerdict({ mode, readOnly, edit, rules, subject }: PermissionQuestion): PermissionVerdict {
  if (readOnly) return allow('mode', 'It only reads.');
  if (mode === 'acceptEdits' && edit)
    return allow('mode', 'Permission mode acceptEdits lets edits in the workspace pass.');
  return ask('mode', commandCoverage(rules, subject, mode)?.reason ?? 'It may change something.');
}

function allow(by: Decider, reason: string): PermissionVerdict {
  return { behavior: 'allow', by, reason };
}

function deny(by: Decider, reason: string): PermissionVerdict {
  return { behavior: 'deny', by, reason };
}

function ask(by: Decider, reason: string): PermissionVerdict {
  return { behavior: 'ask', by, reason };
}
