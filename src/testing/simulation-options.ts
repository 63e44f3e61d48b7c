/** From a scenario to the options of its queries. */
import type { QueryOptions } from '../query-options.ts';
import { createMemoryStore } from '../tools/result-store.ts';
import type { Leftovers } from './leftovers.ts';
import type { Scenario } from './scenario.ts';
import { scenarioHooks, scenarioPermissions, scenarioTools, type SimulationProbe } from './scenario-tools.ts';
import { scriptedFetch } from './scripted-fetch.ts';
import { ScriptedModel } from './scripted-model.ts';
import type { SimulatedTime } from './simulated-time.ts';

const defaultWindow = 200_000;
const defaultMaxOutput = 64_000;
/** A script that repeats for ever must end all the same. */
const defaultMaxTurns = 20;

/** Options of `query()` that a simulation leaves to its caller: own tools, own hooks, and what they need. */
export type SimulatedQueryOptions = Partial<
  Pick<
    QueryOptions,
    | 'tools'
    | 'agents'
    | 'cwd'
    | 'additionalRoots'
    | 'rules'
    | 'canUseTool'
    | 'hooks'
    | 'attachments'
    | 'abortGraceMs'
    | 'resultStore'
    | 'log'
  >
> & {
  readonly deps?: Pick<NonNullable<QueryOptions['deps']>, 'compact' | 'microcompact'>;
};

/** What a simulation may be given beside its scenario. */
export interface SimulationOptions {
  /** Takes the place of what the scenario says of tools, hooks and permissions. Default: the scenario's own. */
  readonly query?: SimulatedQueryOptions;
  /**
   * `virtual`: waits cost nothing, and everything that runs must be in process. `real`: the clock of the machine, for
   * tools that read files or start processes. Default `virtual`.
   */
  readonly time?: 'virtual' | 'real';
  /**
   * `counts`: the result holds no events, no requests and of what was emitted only errors and tombstones, and no journal is
   * kept, so that a session of any length runs in bounded memory. All laws are checked all the same. Default `all`.
   */
  readonly keep?: 'all' | 'counts';
}

interface ModelLimits {
  readonly contextWindow: number;
  readonly modelMaxOutput: number;
}

function limitsOf({ config }: Scenario): ModelLimits {
  const { contextWindow = defaultWindow, modelMaxOutput = Math.min(defaultMaxOutput, contextWindow) } = config ?? {};
  return { contextWindow, modelMaxOutput };
}

/** The scripted model of a scenario. */
export function scenarioModel(
  scenario: Scenario,
  { clock }: SimulatedTime,
  keep: NonNullable<SimulationOptions['keep']>,
): ScriptedModel {
  const { contextWindow, modelMaxOutput } = limitsOf(scenario);
  return new ScriptedModel({
    model: scenario.model,
    byModel: Object.fromEntries(
      Object.entries(scenario.agents ?? {}).map(([name, { model }]) => [`agent-${name}`, model]),
    ),
    summary: scenario.summary ?? [],
    small: scenario.small ?? [],
    limits: { contextWindow, maxOutput: modelMaxOutput },
    clock,
    keep,
    profile: scenario.config?.profile ?? 'anthropic',
    systemTokens: scenario.config?.systemTokens ?? 0,
  });
}

/** What the parts of a simulation share. */
export interface SimulationParts {
  readonly time: SimulatedTime;
  readonly probe: SimulationProbe;
  readonly leftovers: Leftovers;
  readonly model: ScriptedModel;
  readonly onToolStart: (toolUseId: string) => void;
}

/** Each asks a model of its own, so that its answers are its own script. */
function scenarioAgents(scripts: NonNullable<Scenario['agents']>): NonNullable<QueryOptions['agents']> {
  return Object.fromEntries(
    Object.keys(scripts).map((name) => [
      name,
      { description: `Is ${name}.`, prompt: `You are ${name}.`, model: `agent-${name}` },
    ]),
  );
}

/** The options that all queries of a scenario have. */
export function simulatedOptions(
  scenario: Scenario,
  own: SimulatedQueryOptions,
  { time, probe, leftovers, model, onToolStart }: SimulationParts,
): QueryOptions {
  const canUseTool = scenarioPermissions(scenario);
  return {
    model: 'scripted-model',
    permissionMode: 'bypassPermissions',
    maxTurns: defaultMaxTurns,
    ...(scenario.small === undefined ? {} : { smallModel: 'scripted-small' }),
    ...scenario.config,
    ...limitsOf(scenario),
    apiKey: 'scripted',
    baseUrl: 'http://scripted.invalid',
    fetch: leftovers.watchFetch(scriptedFetch(model)),
    ...(canUseTool === null ? {} : { canUseTool }),
    ...(scenario.agents === undefined ? {} : { agents: scenarioAgents(scenario.agents) }),
    resultStore: createMemoryStore(),
    ...own,
    tools: leftovers.watchTools(own.tools ?? scenarioTools(scenario, time.clock), onToolStart),
    hooks: leftovers.watchHooks(own.hooks ?? scenarioHooks(scenario, probe)),
  };
}
