/** Tools before any call: which of them the model is told of, and what rules and the mode say of each. */
import type { PermissionMode } from '../core/config.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import { isAbout, parseRule, ruleNames } from './permission-rules.ts';
import { judgePermission, type PermissionVerdict } from './permissions.ts';
import { says } from './registry.ts';
import type { Tool } from './tool.ts';

/** False for a tool that a deny rule without a pattern names: none of its calls could run. */
export function isOffered(tool: Tool, rules: readonly PermissionRule[]): boolean {
  return !rules.some(
    (rule) => rule.behavior === 'deny' && parseRule(rule).pattern === null && isAbout(rule, ruleNames(tool)),
  );
}

/** What is decided about a tool, as far as that is known before a call. */
export interface ToolJudgement<Rule extends PermissionRule> {
  /** For a call that no rule with a pattern is about. */
  readonly verdict: PermissionVerdict;
  /** The rule that decided; null: the mode did. */
  readonly decidedBy: Rule | null;
  /** Rules with a pattern, which decide about some calls. */
  readonly patterns: readonly Rule[];
}

/** Judges a tool by its rules and the mode. */
export function judgeTool<Rule extends PermissionRule>(
  tool: Tool,
  rules: readonly Rule[],
  mode: PermissionMode,
): ToolJudgement<Rule> {
  const names = ruleNames(tool);
  const about = rules.filter((rule) => isAbout(rule, names));
  const bare = about.filter((rule) => parseRule(rule).pattern === null);
  const verdict = judgePermission({
    rules: bare,
    subject: { names, target: { type: 'none' }, cwd: '/' },
    mode,
    // What a tool says depends on the call, but for one that starts an agent, each of whose own calls is judged.
    opinion: { behavior: says(tool.startsAgent, {}) ? 'allow' : 'pass' },
    hook: 'pass',
    hookReason: null,
    readOnly: says(tool.isReadOnly, {}),
    edit: says(tool.isEdit, {}),
  });
  const decidedBy = verdict.by === 'rule' ? (bare.find(({ behavior }) => behavior === verdict.behavior) ?? null) : null;
  return { verdict, decidedBy, patterns: about.filter((rule) => parseRule(rule).pattern !== null) };
}
