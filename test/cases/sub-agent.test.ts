/** A query inside a tool (B60): no file can say it, since its tool runs a loop of its own. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { query } from '../../src/query.ts';
import { abortEverywhere } from '../../src/testing/everywhere.ts';
import { parseScenario, type Scenario } from '../../src/testing/scenario.ts';
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts';
import { ScriptedModel } from '../../src/testing/scripted-model.ts';
import { simulate } from '../../src/testing/simulate.ts';
import { type Tool, tool } from '../../src/tools/tool.ts';
import { ending, verdicts } from '../support/simulated.ts';

const limits = { contextWindow: 200_000, maxOutput: 64_000 };
const look = tool({ name: 'look', description: 'Looks.', input: z.looseObject({}), run: () => 'seen' });

/** Each turn takes a virtual second; the third says that it is done. */
const turns = [
  { stream: [{ wait: 1_000 }, { tool: 'look', id: 'c1', input: {} }, { stop: 'tool_use' }] },
  { stream: [{ wait: 1_000 }, { tool: 'look', id: 'c2', input: {} }, { stop: 'tool_use' }] },
  { stream: [{ wait: 1_000 }, { text: 'found' }, { stop: 'end_turn' }], repeat: true },
];

/** A tool that runs a query of its own, and what became of each. */
function agentTool(): { readonly agent: Tool; readonly children: { requests: () => number; ended: string }[] } {
  const children: { requests: () => number; ended: string }[] = [];
  const agent = tool({
    name: 'agent',
    description: 'Runs a query of its own.',
    input: z.looseObject({}),
    run: async (_input, { clock, signal }) => {
      const model = new ScriptedModel({ model: turns, limits, clock });
      const child = { requests: () => model.requests.length, ended: 'running' };
      children.push(child);
      const running = query({
        prompt: 'look around',
        querySource: 'agent:scout',
        model: 'child',
        contextWindow: limits.contextWindow,
        modelMaxOutput: limits.maxOutput,
        apiKey: 'scripted',
        baseUrl: 'http://scripted.invalid',
        fetch: scriptedFetch(model),
        tools: [look],
        permissionMode: 'bypassPermissions',
        signal,
        deps: { clock },
      });
      while ((await running.next()).done !== true);
      child.ended = running.terminal?.reason ?? 'never';
      return JSON.stringify(running.state?.carried.messages.at(-1)?.content ?? []);
    },
  });
  return { agent, children };
}

const parent = (members: Partial<Scenario> = {}): Scenario =>
  parseScenario({
    name: 'B60',
    prompt: 'go',
    model: [
      { stream: [{ tool: 'agent', id: 't1', input: {} }, { stop: 'tool_use' }] },
      { stream: [{ text: 'done' }, { stop: 'end_turn' }], repeat: true },
    ],
    ...members,
  });

describe('a sub-agent (B60)', () => {
  it('gives its last words to its parent', async () => {
    const { agent, children } = agentTool();
    const result = await simulate(parent(), { query: { tools: [agent] } });
    expect([result.violations, ending(result), result.ms]).toEqual([[], 'completed done', 3_000]);
    expect(children.map(({ requests, ended }) => [requests(), ended])).toEqual([[3, 'completed']]);
    expect(JSON.stringify(result.messages)).toContain('found');
  });

  it('ends in its second turn when its parent is interrupted then, and starts no third', async () => {
    const { agent, children } = agentTool();
    const user = [{ abort: 'interrupt' as const, at: { phase: 'runningTools', after: 1_500 } }];
    const result = await simulate(parent({ user }), { query: { tools: [agent] } });
    expect([result.violations, ending(result), result.ms]).toEqual([[], 'aborted_tools', 1_500]);
    expect(children.map(({ requests, ended }) => [requests(), ended])).toEqual([[2, 'aborted_streaming']]);
    expect(verdicts(result)).toEqual([['t1', true]]);
  });

  it('leaves nothing behind, wherever its parent is interrupted', async () => {
    const { agent, children } = agentTool();
    expect(await abortEverywhere(parent(), { query: { tools: [agent] } })).toEqual([]);
    expect(children.filter(({ ended }) => ended === 'running')).toEqual([]);
    expect(children.some(({ ended }) => ended === 'aborted_streaming')).toBe(true);
  });
});

/** The same with the tool Agent: parent and child ask the same script in turn, so its second to fourth answers are the child's. */
const withAgent = (members: Partial<Scenario> = {}): Scenario => {
  const input = { description: 'look', prompt: 'look around', subagent_type: 'scout' };
  return parent({
    model: [
      { stream: [{ tool: 'Agent', id: 't1', input }, { stop: 'tool_use' }] },
      ...turns.map((turn) => ({ stream: turn.stream })),
      { stream: [{ text: 'done' }, { stop: 'end_turn' }], repeat: true },
    ],
    ...members,
  });
};

const agents = { scout: { description: 'Looks.', prompt: 'You look around.' } };

describe('the tool Agent (B60; the half in which the parent is idle needs sub-agents in the background: there are none)', () => {
  it('gives the last words of the child to its parent', async () => {
    const result = await simulate(withAgent(), { query: { tools: [look], agents } });
    expect([result.violations, ending(result), result.ms]).toEqual([[], 'completed done', 3_000]);
    expect([result.requests.length, result.counts.modelCalls]).toEqual([5, 2]);
    expect(JSON.stringify(result.messages)).toContain('found');
  });

  it('ends the child in its second turn when the parent is interrupted then, and no third is asked for', async () => {
    const user = [{ abort: 'interrupt' as const, at: { phase: 'runningTools', after: 1_500 } }];
    const result = await simulate(withAgent({ user }), { query: { tools: [look], agents } });
    expect([result.violations, ending(result), result.ms]).toEqual([[], 'aborted_tools', 1_500]);
    expect([result.requests.length, verdicts(result)]).toEqual([3, [['t1', true]]]);
  });

  it('leaves nothing behind, wherever the parent is interrupted', async () => {
    expect(await abortEverywhere(withAgent(), { query: { tools: [look], agents } })).toEqual([]);
  });
});
