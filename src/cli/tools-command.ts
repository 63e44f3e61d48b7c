/** `escapement tools`: the tools that a query would have, and what is decided about each before anybody is asked. */
import { resolve } from 'node:path';
import { defaultConfig, type PermissionMode } from '../core/config.ts';
import { query } from '../query.ts';
import { agentToolOf } from '../sub-agents.ts';
import { agentsFor } from './agents.ts';
import { mcpServersFor } from './mcp.ts';
import { readSettings, tellSettings } from './settings.ts';
import { visible } from './visible.ts';
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

/** What the report is about. */
export interface ToolsShown {
  readonly tools: readonly Tool[];
  /** Where a tool comes from, by its name; a tool that is not named is built in. */
  readonly sources: Readonly<Record<string, string>>;
  /** The strongest first. */
  readonly rules: readonly SourcedRule[];
  readonly mode: PermissionMode;
}

/** Prints the tools that a query with these flags would have in this folder: MCP servers are started and asked for theirs. */
export async function toolsCommand(flags: ToolsFlags, io: CliIo): Promise<number> {
  const cwd = resolve(io.cwd, flags.cwd ?? '.');
  const settings = readSettings(cwd, flags, io);
  tellSettings(settings, {}, io);
  const agent = agentToolOf({ agents: agentsFor(cwd, flags.agents, io) }, () => [], query);
  const own = [...builtInTools(), ...(agent === null ? [] : [agent])];
  const { trusted } = settings;
  const servers = mcpServersFor({ cwd, given: flags.mcpConfig, from: io.cwd, trusted }, io);
  try {
    for (const notice of (await servers?.start()) ?? []) io.err(io.colors.dim(`${visible(notice)}\n`));
    const ofServers = servers?.tools(new Set(own.flatMap(({ name, aliases }) => [name, ...aliases]))) ?? [];
    const sources = Object.fromEntries((servers?.list() ?? []).map(({ name, source }) => [name, source]));
    const rules = [...flagRules(flags), ...settings.rules.map(({ file, ...rule }) => ({ ...rule, source: file }))];
    const mode = flags.permissionMode ?? settings.mode?.value ?? defaultConfig.permissionMode;
    showTools({ tools: [...own, ...ofServers], sources, rules, mode }, flags.json, io);
    return exitStatus.done;
  } finally {
    await servers?.close();
  }
}

/** Prints the report. */
export function showTools({ tools, sources, rules, mode }: ToolsShown, asJson: boolean, io: CliIo): void {
  const reports = createRegistry(tools).tools.map((tool) =>
    reportOf(tool, sources[tool.name] ?? (tool.isBuiltIn ? 'built-in' : 'added'), rules, mode),
  );
  if (asJson) io.out(`${JSON.stringify({ permissionMode: mode, tools: reports }, null, 2)}\n`);
  else io.out(`permission mode ${mode}\n\n${reports.map(textOf).join('\n')}`);
}

function reportOf(tool: Tool, from: string, rules: readonly SourcedRule[], mode: PermissionMode): ToolReport {
  const { verdict, decidedBy, patterns } = judgeTool(tool, rules, mode);
  return {
    name: tool.name,
    from,
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
    `${visible(name)}: ${traits.join(', ')}`,
    `  ${decision}: ${why}${where}${hidden}`,
    ...rules.map((rule) => `  but ${rule.behavior} ${rule.rule} (${rule.source})`),
  ];
  return `${lines.join('\n')}\n`;
}
