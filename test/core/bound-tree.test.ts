import { describe, expect, it } from 'vitest';
import { bound } from '../../src/core/bound.ts';
import { boundWithSubAgents } from '../../src/core/bound-tree.ts';
import { defaultConfig, type LoopConfig } from '../../src/core/config.ts';
import { memoryJournal } from '../../src/session/journal.ts';
import { runInVirtualTime } from '../../src/testing/virtual-clock.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { agentQuery, calls, starts } from '../support/agents.ts';
import { drain } from '../support/scripted.ts';

const parent: LoopConfig = { ...defaultConfig, maxTurns: 5, maxSubAgents: 3 };
const small: LoopConfig = { ...defaultConfig, maxTurns: 2, maxSubAgents: 3, querySource: 'agent:small' };
const large: LoopConfig = { ...small, maxTurns: 7 };

describe('the bound of a tree', () => {
  it('is that of the query where no agent can start', () => {
    const { modelCalls, summaryCalls } = bound(parent);
    const alone = { modelCalls, summaryCalls, queries: 1 };
    expect(boundWithSubAgents({ ...parent, maxAgentDepth: 0 })).toEqual(alone);
    expect(boundWithSubAgents({ ...parent, maxSubAgents: 0 })).toEqual(alone);
    expect(boundWithSubAgents(parent, [])).toEqual(alone);
  });

  it('is the sum of the query and of as many of the costliest agent as may start', () => {
    const { modelCalls, queries } = boundWithSubAgents(parent, [small, large]);
    expect([modelCalls, queries]).toEqual([bound(parent).modelCalls + 3 * bound(large).modelCalls, 4]);
  });

  it('grows with the depth', () => {
    const { modelCalls, queries } = boundWithSubAgents({ ...parent, maxAgentDepth: 2 }, [small]);
    expect([modelCalls, queries]).toEqual([bound(parent).modelCalls + (3 + 9) * bound(small).modelCalls, 13]);
  });

  it('is infinite where an agent has no limit of turns', () => {
    expect(boundWithSubAgents(defaultConfig)).toEqual({
      modelCalls: Number.POSITIVE_INFINITY,
      summaryCalls: Number.POSITIVE_INFINITY,
      queries: 11,
    });
  });

  it('holds for a model that starts agents as long as it may, at every level', async () => {
    const journals: ReturnType<typeof memoryJournal>[] = [];
    const more = (entry: ModelEntry): ModelEntry => ({ ...entry, repeat: true });
    const asked = agentQuery(
      [starts('1:a', '2:a', '3:a'), more(calls('echo', 'e'))],
      { a: [more(starts('1:a', '2:a', '3:a'))] },
      {
        maxTurns: 3,
        maxSubAgents: 2,
        maxAgentDepth: 2,
        journalOf: () => journals[journals.push(memoryJournal()) - 1]!,
        define: { a: { maxTurns: 2 } },
      },
    );
    await runInVirtualTime(asked.clock, drain(asked.query));
    const ran = Object.values(asked.models).reduce((sum, { requests }) => sum + requests.length, 0);
    const configs = journals.map((journal) => journal.recorded()!.config);
    const most = boundWithSubAgents({ ...configs[0]!, maxTurns: 3, querySource: 'sdk' }, configs);
    expect(journals.length + 1).toBe(most.queries);
    expect(ran).toBeLessThanOrEqual(most.modelCalls);
  });
});
