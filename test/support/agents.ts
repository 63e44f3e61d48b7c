/** A query with sub-agents, each agent with a script of its own. */
import type { QueryOptions } from '../../src/query-options.ts';
import { type Query, query } from '../../src/query.ts';
import type { AgentDefinition } from '../../src/agents/definition.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts';
import { ScriptedModel } from '../../src/testing/scripted-model.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import { createMemoryStore } from '../../src/tools/result-store.ts';
import { echo } from './scripted.ts';

const limits = { contextWindow: 200_000, maxOutput: 64_000 };

export interface AgentQuery {
  readonly query: Query;
  readonly clock: VirtualClock;
  /** `parent`, and the agents by name. */
  readonly models: Readonly<Record<string, ScriptedModel>>;
}

/** Calls of the tool Agent in one answer: the id is `a-` and the name, or what stands before the colon. */
export function starts(...agents: readonly string[]): ModelEntry {
  const uses = agents.map((agent) => {
    const [id = '', name = id] = agent.split(':');
    const input = { description: `ask ${name}`, prompt: `work, ${name}`, subagent_type: name };
    return { tool: 'Agent', id: `a-${id}`, input };
  });
  return { stream: [...uses, { stop: 'tool_use' }] };
}

/** Without a pause no clock is needed. */
function pause(ms: number): readonly { readonly wait: number }[] {
  return ms === 0 ? [] : [{ wait: ms }];
}

/** An answer after `ms` virtual milliseconds. */
export function says(text: string, ms = 0, usage = { input: 100, output: 10 }): ModelEntry {
  return { stream: [...pause(ms), { text }, { stop: 'end_turn' }], usage };
}

/** A call of a tool after `ms` virtual milliseconds. */
export function calls(tool: string, id: string, ms = 0, input = {}): ModelEntry {
  return { stream: [...pause(ms), { tool, id, input }, { stop: 'tool_use' }], usage: { input: 100, output: 10 } };
}

/** Each agent asks a model of its own name, whose answers are its script. */
export function agentQuery(
  parent: readonly ModelEntry[],
  children: Readonly<Record<string, readonly ModelEntry[]>>,
  options: Partial<QueryOptions> & { readonly define?: Readonly<Record<string, Partial<AgentDefinition>>> } = {},
): AgentQuery {
  const { define = {}, ...rest } = options;
  const clock = new VirtualClock();
  const scripts = { parent, ...children };
  const models = Object.fromEntries(
    Object.entries(scripts).map(([name, model]) => [name, new ScriptedModel({ model, limits, clock, models: [name] })]),
  );
  const agents = Object.fromEntries(
    Object.keys(children).map((name) => [
      name,
      { description: `Is ${name}.`, prompt: `You are ${name}.`, model: name, ...define[name] },
    ]),
  );
  const started = query({
    prompt: 'go',
    model: 'parent',
    apiKey: 'scripted',
    baseUrl: 'http://scripted.invalid',
    fetch: routed(models),
    tools: [echo],
    permissionMode: 'bypassPermissions',
    resultStore: createMemoryStore(),
    agents,
    ...rest,
    deps: { clock, uuid: () => '00000000-0000-4000-8000-000000000000', ...rest.deps },
  });
  return { query: started, clock, models };
}

function routed(models: Readonly<Record<string, ScriptedModel>>): typeof fetch {
  return (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const asked = /\/models\/([^/?]+)/.exec(url)?.[1] ?? modelIn(init?.body);
    const model = models[asked];
    if (model === undefined) throw new Error(`No script for the model ${asked}.`);
    return scriptedFetch(model)(input, init);
  };
}

function modelIn(body: unknown): string {
  return (JSON.parse(String(body)) as { readonly model: string }).model;
}
