/** What a sub-agent is: its words for the model that may start it, its system prompt, its tools and limits. */
import { z } from 'zod';
import type { PermissionMode } from '../core/config.ts';

/** A sub-agent as a host defines it, or as a file does. Files of other coding agents have the same members. */
export interface AgentDefinition {
  /** When to use it; the model that may start it reads this. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** Names of the tools that it gets; `mcp__server` is all of a server. Default: all tools of the query that starts it. */
  readonly tools?: readonly string[];
  /** Names of tools that it does not get. Default: none. */
  readonly disallowedTools?: readonly string[];
  /** Default, and `inherit`: the model of the query that starts it. */
  readonly model?: string;
  /** Turns that it may take. Default: as many as the query that starts it. */
  readonly maxTurns?: number;
  /** Narrows the mode of the query that starts it and never widens it. Default: that mode. */
  readonly permissionMode?: PermissionMode | 'bubble';
}

/** Sub-agents by name. */
export type Agents = Readonly<Record<string, AgentDefinition>>;

/** Letters, digits, `_`, `-`, and `:` of plugins; it stands in `querySource`, in prompts and in journals. */
const agentName = /^[\p{L}\p{N}_][\p{L}\p{N}_:.-]{0,63}$/u;

const text = z.string().refine((value) => value.trim() !== '', 'must not be empty');
const names = z.array(z.string().min(1));

const definition = z.strictObject({
  description: text,
  prompt: text,
  tools: names.optional(),
  disallowedTools: names.optional(),
  model: z.string().min(1).optional(),
  maxTurns: z.int().positive().optional(),
  permissionMode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions', 'bubble']).optional(),
});

/** What is wrong with a definition, as the end of a sentence; null when nothing is. */
export function definitionProblem(name: string, given: unknown): string | null {
  if (!agentName.test(name)) {
    return 'its name must be 1 to 64 letters, digits, - or _';
  }
  const issue = definition.safeParse(given).error?.issues[0];
  if (issue === undefined) return null;
  const place = issue.path.map(String).join('.');
  return place === '' ? issue.message : `${place}: ${issue.message}`;
}

/**
 * Checks sub-agents that a host gave.
 *
 * @throws TypeError with one sentence that names the first one that cannot be used.
 */
export function checkAgents(agents: Agents): void {
  for (const [name, given] of Object.entries(agents)) {
    const problem = definitionProblem(name, given);
    if (problem !== null) throw new TypeError(`The agent ${JSON.stringify(name)} cannot be used: ${problem}.`);
  }
}

/** Name of the agent that is always there and that a call means which names none. */
export const generalPurpose = 'general-purpose';

/** The agents that every query with sub-agents has; one of the same name takes its place. */
export const builtInAgents: Agents = {
  [generalPurpose]: {
    description:
      'Works on a task of several steps by itself: searches in many files, research, changes that can be described in full.',
    prompt: [
      'You are a sub-agent of a coding agent. You got one task; nobody answers questions while you work on it.',
      'Do what was asked, no more and no less. Search broadly when you do not know where something stands.',
      'Your last message is your report and all that the caller sees: say what you found or changed, with absolute paths,',
      'and what you could not do.',
    ].join('\n'),
  },
};

/** From the mode that lets least pass without a question to the one that lets most pass. */
const modes: readonly PermissionMode[] = ['plan', 'dontAsk', 'default', 'acceptEdits', 'bypassPermissions'];

/** The mode of a sub-agent: the stricter one of its starter's and its own. `bubble` has no opinion: the starter is asked. */
export function narrowerMode(starter: PermissionMode, own: AgentDefinition['permissionMode']): PermissionMode {
  if (own === undefined || own === 'bubble') return starter;
  return modes.indexOf(own) < modes.indexOf(starter) ? own : starter;
}
