/** Sub-agents of a query: what each takes over from the query that starts it, and how it runs inside a tool call. */
import { createHash } from 'node:crypto';
import { type AgentCall, type AgentRun, createAgentTool } from './agents/agent-tool.ts';
import { type AgentDefinition, type Agents, builtInAgents, checkAgents, narrowerMode } from './agents/definition.ts';
import { agentToolNames, allowedAgents, toolsOf } from './agents/tools-of.ts';
import { defaultConfig } from './core/config.ts';
import type { LoopState } from './core/state.ts';
import { finalText } from './inspect/final-text.ts';
import { modelNamed } from './model/aliases.ts';
import { UsageMeter } from './model/usage-meter.ts';
import type { QueryOptions } from './query-options.ts';
import type { Query } from './query.ts';
import { skillToolName } from './skills/skill-tool.ts';
import type { Tool } from './tools/tool.ts';

/** A sub-agent that starts, for `journalOf`. */
export interface StartedAgent {
  /** A uuid that depends on the call alone. */
  readonly agentId: string;
  /** Name of its definition. */
  readonly name: string;
  /** The call that starts it, in the history of its starter. */
  readonly toolUseId: string;
}

/** Starts a query: `query()` itself, which this file cannot import. */
export type StartQuery = (options: QueryOptions) => Query;

/**
 * The tool Agent of a query; null when the option `agents` is left out. `tools` gives those of the query when a call
 * comes.
 *
 * @throws TypeError with one sentence for a definition that cannot be used.
 */
export function agentToolOf(options: QueryOptions, tools: () => readonly Tool[], start: StartQuery): Tool | null {
  const { agents: given, rules = [], maxAgentDepth = defaultConfig.maxAgentDepth } = options;
  const depth = options.toolUseContext?.depth ?? 0;
  if (given === undefined || depth >= maxAgentDepth) return null;
  checkAgents(given);
  const agents = allowedAgents({ ...builtInAgents, ...given }, rules);
  return createAgentTool({
    agents,
    maxDepth: maxAgentDepth,
    start: (call) => startAgent(call, { options, agents, tools: tools(), start }),
  });
}

interface Starter {
  readonly options: QueryOptions;
  readonly agents: Agents;
  readonly tools: readonly Tool[];
  readonly start: StartQuery;
}

function startAgent(call: AgentCall, starter: Starter): AgentRun {
  const { context } = call;
  const child = childOptions(call, starter);
  const meter = new UsageMeter([child.model ?? defaultConfig.models[0]!, ...(child.fallbackModels ?? [])]);
  const run = starter.start({ ...child, beforeEvent: (_index, _event, state) => meter.see(state.query) });
  return {
    next: async () => {
      const { done, value } = await run.next();
      return done === true ? null : value;
    },
    terminal: () => run.terminal,
    text: () => finalText(run.state?.carried.messages ?? []),
    spent: () => {
      if (run.state !== null) meter.see(run.state.query);
      return meter.spent;
    },
    cost: () => run.state?.query.cost ?? 0,
    addedRules: () => run.state?.carried.toolUseContext.addedRules.slice(context.shared.addedRules.length) ?? [],
  };
}

/** Options that a sub-agent takes over as they are. The compiler asks for a word on each: none is taken over by accident. */
const takenOver: { readonly [Name in keyof QueryOptions]-?: boolean } = {
  profile: true,
  apiKey: true,
  baseUrl: true,
  fetch: true,
  headers: true,
  idleTimeoutMs: true,
  deadlineMs: true,
  smallModel: true,
  maxTurns: true,
  maxOutputTokens: true,
  defaultOutputCap: true,
  escalatedOutputCap: true,
  outputFloor: true,
  thinking: true,
  autoCompact: true,
  reactiveCompact: true,
  collapse: true,
  snip: true,
  microcompact: true,
  layers: true,
  messageResultChars: true,
  buffers: true,
  protectedTail: true,
  minimumFreed: true,
  limits: true,
  delays: true,
  toolConcurrency: true,
  maxSubAgents: true,
  maxAgentDepth: true,
  cwd: true,
  additionalRoots: true,
  rules: true,
  hooks: true,
  abortGraceMs: true,
  resultStore: true,
  log: true,
  inspect: true,
  journalOf: true,
  deps: true,
  prices: true,
  // What its starter has left of it: `withinCap`.
  maxCost: true,
  // Its model decides whether these hold for it.
  model: false,
  fallbackModels: false,
  contextWindow: false,
  modelMaxOutput: false,
  onDemandCompaction: false,
  memory: true,
  skills: true,
  fileChanges: false,
  appendSystem: false,
  // What they add has been added to the options of its starter.
  settingSources: false,
  settings: false,
  trusted: false,
  // It has its own.
  system: false,
  systemTokens: false,
  querySource: false,
  tools: false,
  mcpServers: false,
  agents: false,
  permissionMode: false,
  canUseTool: false,
  toolUseContext: false,
  signal: false,
  parent: false,
  journal: false,
  beforeEvent: false,
  // They are about the conversation of its starter.
  prompt: false,
  messages: false,
  queued: false,
  staged: false,
  session: false,
  compact: false,
  resume: false,
  compactInstructions: false,
  attachments: false,
  tokenBudget: false,
  taskBudget: false,
  promptBudget: false,
  outputSchema: false,
};

function childOptions(call: AgentCall, starter: Starter): QueryOptions {
  const { options } = starter;
  const { name, agent, prompt, context } = call;
  const { shared, signal, actor } = context;
  const started = { agentId: agentIdOf(call), name, toolUseId: context.toolUseId };
  const mode = narrowerMode(shared.permissionMode, agent.permissionMode);
  return {
    ...kept(options, (option) => takenOver[option]),
    ...modelOptions(agent, options),
    ...toolOptions(call, starter),
    ...(agent.maxTurns === undefined ? {} : { maxTurns: agent.maxTurns }),
    ...askingAs(name, options),
    prompt,
    system: agent.prompt,
    querySource: `agent:${name}`,
    permissionMode: mode,
    toolUseContext: {
      permissionMode: mode,
      addedRules: shared.addedRules,
      filesRead: {},
      depth: shared.depth + 1,
      queryTracking: { chainId: shared.queryTracking.chainId, depth: shared.queryTracking.depth + 1 },
    },
    signal,
    ...(actor === null ? {} : { parent: actor }),
    ...(options.journalOf === undefined ? {} : { journal: options.journalOf(started) }),
    deps: { ...options.deps, uuid: () => started.agentId },
  };
}

/** A sub-agent may cost what its starter has left. A cap that is used up lets no request start. */
export function withinCap(child: QueryOptions, starter: LoopState | null): QueryOptions {
  const { maxCost } = child;
  if (maxCost === undefined || maxCost === null || starter === null) return child;
  return { ...child, maxCost: Math.max(Number.MIN_VALUE, maxCost - (starter.query.cost ?? maxCost)) };
}

function kept(options: QueryOptions, isKept: (option: keyof QueryOptions) => boolean): QueryOptions {
  const entries = Object.entries(options).filter(([option]) => isKept(option as keyof QueryOptions));
  return Object.fromEntries(entries) as QueryOptions;
}

const ofTheModel: ReadonlySet<keyof QueryOptions> = new Set<keyof QueryOptions>([
  'model',
  'fallbackModels',
  'contextWindow',
  'modelMaxOutput',
  'onDemandCompaction',
]);

/** A model of its own has limits of its own, and no fallback. */
function modelOptions({ model }: AgentDefinition, options: QueryOptions): QueryOptions {
  const own = modelNamed(model, options);
  return own === null ? kept(options, (option) => ofTheModel.has(option)) : { model: own };
}

/** Its tools; Agent, only where its depth lets it start agents, and Skill are made anew for it. */
function toolOptions({ agent, context }: AgentCall, { options, agents, tools }: Starter): QueryOptions {
  const given = toolsOf(agent, tools);
  const has = (wanted: string): boolean => given.some(({ name }) => name === wanted);
  const others = given.filter(({ name }) => name !== agentToolNames[0] && name !== skillToolName);
  const mayStart = context.shared.depth + 1 < (options.maxAgentDepth ?? defaultConfig.maxAgentDepth);
  if (others.length === 0 && (agent.tools ?? []).length > 0 && given.length === 0) {
    throw new Error(`None of the tools of the agent is there: ${(agent.tools ?? []).join(', ')}.`);
  }
  return {
    tools: others,
    ...(mayStart && has(agentToolNames[0]) ? { agents } : {}),
    ...(has(skillToolName) ? {} : { skills: false }),
  };
}

/** Questions go to the person whom the starter asks, and say who wants to know. */
function askingAs(name: string, { canUseTool }: QueryOptions): QueryOptions {
  if (canUseTool === undefined) return {};
  return { canUseTool: (tool, given, request) => canUseTool(tool, given, { agent: name, ...request }) };
}

/** A uuid that the same call gets again in a replay. */
function agentIdOf({ context }: AgentCall): string {
  const { queryTracking } = context.shared;
  const digest = createHash('sha256')
    .update(`${queryTracking.chainId}:${queryTracking.depth}:${context.toolUseId}`)
    .digest('hex');
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `4${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}
