/** Which tools a sub-agent gets. */
import type { PermissionRule } from '../core/tools/context.ts';
import type { Tool } from '../tools/tool.ts';
import type { AgentDefinition, Agents } from './definition.ts';

/** The tool that starts sub-agents, under the name that files and rules use today and the one that they used before. */
export const agentToolNames = ['Agent', 'Task'] as const;

/** The tools of a sub-agent, out of those of the query that starts it. Names that nothing goes by are passed over. */
export function toolsOf(agent: AgentDefinition, all: readonly Tool[]): readonly Tool[] {
  const { tools, disallowedTools = [] } = agent;
  const given = tools === undefined ? all : all.filter((tool) => tools.some((name) => means(name, tool)));
  return given.filter((tool) => !disallowedTools.some((name) => means(name, tool)));
}

function means(name: string, tool: Tool): boolean {
  if (tool.name === name || tool.aliases.includes(name)) return true;
  const server = /^mcp__[^*]*?(?=(?:__\*)?$)/.exec(name)?.[0];
  return server !== undefined && tool.name.startsWith(`${server}__`);
}

/** The agents that no rule `Agent(name)` denies. */
export function allowedAgents(agents: Agents, rules: readonly PermissionRule[]): Agents {
  const denied = new Set(rules.flatMap((rule) => deniedAgent(rule) ?? []));
  return Object.fromEntries(Object.entries(agents).filter(([name]) => !denied.has(name)));
}

/** The rules without those that deny one agent: such an agent is not there, and the others need not be asked about. */
export function withoutAgentDenials(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  return rules.filter((rule) => deniedAgent(rule) === null);
}

function deniedAgent({ behavior, rule }: PermissionRule): string | null {
  if (behavior !== 'deny') return null;
  return /^(?:Agent|Task)\((?<name>[^()*]+)\)$/.exec(rule.trim())?.groups?.['name']?.trim() ?? null;
}
