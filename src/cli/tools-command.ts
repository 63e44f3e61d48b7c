/** `escapement tools`: the tools that a query would have, and what is decided about each before anybody is asked. */
import type { PermissionMode } from '../core/config.ts';
import { builtInTools } from '../tools/builtin/index.ts';
import { isOffered, judgeTool } from '../tools/offered.ts';
import { createRegistry, says } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import { exitStatus } from './exit-status.ts';
import type { CliIo } from './io.ts';
import { flagRules, type SourcedRule, type ToolsFlags } from './rule-flags.ts';

interface ToolReport {
  readonly name: string;
  readonly from: string;
  /** False: a deny rule without a pattern keeps it from the model. */
  readonly offered: boolean;
  readonly readOnly: boolean;
  readonly concurrencySafe: boolean;
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly why: string;
  /** Where the rule that decides was written; null when none does. */
  readonly source: string | null;
  /** Rules with a pattern: each decides about some calls. */
  readonly rules: readonly SourcedRule[];
}

/** Prints the tools. `rules` are those of settings files, the strongest first. */
export function toolsCommand(flags: ToolsFlags, io: CliIo, rules: readonly SourcedRule[] = []): number {
  const all = [...flagRules(flags), ...rules];
  const mode = flags.permissionMode ?? 'default';
  const reports = createRegistry(builtInTools()).tools.map((tool) => reportOf(tool, all, mode));
  if (flags.json) io.out(`${JSON.stringify({ permissionMode: mode, tools: reports }, null, 2)}\n`);
  else io.out(`permission mode ${mode}\n\n${reports.map(textOf).join('\n')}`);
  return exitStatus.done;
}

function reportOf(tool: Tool, rules: readonly SourcedRule[], mode: PermissionMode): ToolReport {
  const { verdict, decidedBy, patterns } = judgeTool(tool, rules, mode);
  return {
    name: tool.name,
    from: tool.isBuiltIn ? 'built-in' : 'added',
    offered: isOffered(tool, rules),
    readOnly: says(tool.isReadOnly, {}),
    concurrencySafe: says(tool.isConcurrencySafe, {}),
    decision: verdict.behavior,
    why: verdict.reason,
    source: decidedBy?.source ?? null,
    rules: patterns,
  };
}

function textOf({ name, from, offered, readOnly, concurrencySafe, decision, why, source, rules }: ToolReport): string {
  const traits = [
    from,
    readOnly ? 'only reads' : 'may change something',
    concurrencySafe ? 'runs beside others' : 'runs alone',
  ];
  const hidden = offered ? '' : ' The model is not told of it.';
  const where = source === null ? '' : ` (${source})`;
  const lines = [
    `${name}: ${traits.join(', ')}`,
    `  ${decision}: ${why}${where}${hidden}`,
    ...rules.map((rule) => `  but ${rule.behavior} ${rule.rule} (${rule.source})`),
  ];
  return `${lines.join('\n')}\n`;
}
