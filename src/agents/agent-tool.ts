/** The tool Agent: runs a sub-agent to its end and gives what it said last. */
import { z } from 'zod';
import type { Emitted } from '../core/output.ts';
import type { ModelUsage } from '../core/message.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import type { Terminal } from '../core/state.ts';
import { type Tool, tool, type ToolOutput, type ToolRunContext } from '../tools/tool.ts';
import { oneLine } from '../tools/text.ts';
import { type AgentDefinition, type Agents, generalPurpose } from './definition.ts';
import { agentToolNames } from './tools-of.ts';

/** A sub-agent that a call wants to start. */
export interface AgentCall {
  readonly name: string;
  readonly agent: AgentDefinition;
  readonly prompt: string;
  readonly context: ToolRunContext;
}

/** A sub-agent under way. */
export interface AgentRun {
  /** What it shows next; null when it is over. */
  readonly next: () => Promise<Emitted | null>;
  /** How it ended; null while it has not. */
  readonly terminal: () => Terminal | null;
  /** What it said last. */
  readonly text: () => string;
  /** What it used so far, its own sub-agents included. */
  readonly spent: () => readonly ModelUsage[];
  /** Dollars for it; null when a price is not known. */
  readonly cost: () => number | null;
  /** Rules that the user added while it ran: an "always" holds for the caller too. */
  readonly addedRules: () => readonly PermissionRule[];
}

/** What the tool needs of the query that it belongs to. */
export interface AgentToolDeps {
  readonly agents: Agents;
  /** Levels of sub-agents; see `LoopConfig.maxAgentDepth`. */
  readonly maxDepth: number;
  /** Starts a loop for the call. Throws an error with one sentence when it cannot. */
  readonly start: (call: AgentCall) => AgentRun;
}

const input = z.strictObject({
  description: z.string().describe('The task in three to five words'),
  prompt: z.string().min(1).describe('The whole task: the agent sees nothing of this conversation'),
  subagent_type: z.string().default(generalPurpose).describe('The name of the agent'),
});

type AgentInput = z.output<typeof input>;

/** Longest line of progress, in characters. */
const longestLine = 160;

/** Agent{description, prompt, subagent_type}: safe beside others; it asks nothing itself, since each call of the agent does. */
export function createAgentTool(deps: AgentToolDeps): Tool {
  const [name, ...aliases] = agentToolNames;
  return tool({
    name,
    aliases,
    isBuiltIn: true,
    description: describe(deps.agents),
    input,
    isConcurrencySafe: () => true,
    startsAgent: () => true,
    validate: (given, { shared }) => problemOf(given, shared.depth, deps),
    checkPermission: () => ({ behavior: 'allow' }),
    summary: ({ description, subagent_type: type }) => `${type}: ${description}`,
    run: (given, context) => runAgent(given, context, deps),
  });
}

function describe(agents: Agents): string {
  return [
    'Starts a sub-agent that works on a task by itself and reports once, at its end. It has its own context and sees only',
    'the prompt: put into it everything that it must know, and say what the report should hold. Several calls in one answer',
    'run side by side. The user does not see the report: tell what matters of it.',
    'Agents:',
    ...Object.entries(agents).map(([name, { description }]) => `- ${name}: ${description.trim()}`),
  ].join('\n');
}

function problemOf(
  { subagent_type: type }: AgentInput,
  depth: number,
  { agents, maxDepth }: AgentToolDeps,
): string | null {
  if (depth >= maxDepth) {
    return `Agents of this depth (${depth}) start no further ones (maxAgentDepth is ${maxDepth}): do the work yourself.`;
  }
  if (Object.hasOwn(agents, type)) return null;
  return `No agent goes by the name ${JSON.stringify(oneLine(type, 100))}. The agents are: ${Object.keys(agents).join(', ')}.`;
}

async function runAgent(given: AgentInput, context: ToolRunContext, deps: AgentToolDeps): Promise<ToolOutput> {
  const { subagent_type: name, prompt } = given;
  const agent = deps.agents[name];
  if (agent === undefined) throw new Error(`No agent goes by the name ${name}.`);
  const run = deps.start({ name, agent, prompt, context });
  const problem = await followed(run, context);
  const terminal = run.terminal();
  const facts = {
    spent: run.spent(),
    cost: run.cost(),
    contextChanges: run.addedRules().map((rule) => ({ type: 'ruleAdded' as const, rule })),
  };
  if (terminal?.reason === 'completed' && terminal.outcome === 'done') {
    return { ...facts, content: run.text().trim() === '' ? `The agent ${name} is done and said nothing.` : run.text() };
  }
  return { ...facts, isError: true, content: unfinished(name, problem ?? endOf(terminal), run.text()) };
}

/** Shows what the agent does until it is over; what was thrown comes back as a sentence. */
async function followed(run: AgentRun, { progress }: ToolRunContext): Promise<string | null> {
  try {
    for (let item = await run.next(); item !== null; item = await run.next()) {
      const line = lineOf(item);
      if (line !== null) progress(line);
    }
    return null;
  } catch (error) {
    return `failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** What a person sees of the work of an agent. */
function lineOf(item: Emitted): string | null {
  switch (item.type) {
    case 'progress':
      if (item.status === 'ended') return null;
      return oneLine(item.status === 'started' ? `${item.name} ${item.text}` : item.text, longestLine);
    case 'assistant': {
      const said = item.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
      return said.length === 0 ? null : oneLine(said.join(' '), longestLine);
    }
    case 'notice':
      return oneLine(item.text, longestLine);
    default:
      return null;
  }
}

function endOf(terminal: Terminal | null): string {
  if (terminal === null) return 'did not end.';
  const { reason, outcome, detail, failure } = terminal;
  const why = detail ?? failure?.message ?? null;
  return `ended as ${outcome === null ? reason : `${reason} (${outcome})`}${why === null ? '.' : `: ${why}`}`;
}

function unfinished(name: string, how: string, text: string): string {
  const rest = text.trim() === '' ? 'It had said nothing.' : `What it said last:\n${text}`;
  return `The agent ${name} is not done: it ${how}\n${rest}`;
}
