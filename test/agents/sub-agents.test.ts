import { getEventListeners } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InspectionEvent } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Emitted } from '../../src/core/output.ts';
import { bound } from '../../src/core/bound.ts';
import type { LoopState } from '../../src/core/state.ts';
import type { PermissionRequest } from '../../src/tools/can-use-tool.ts';
import { memoryJournal, type RecordedQuery, replay } from '../../src/session/journal.ts';
import { runInVirtualTime } from '../../src/testing/virtual-clock.ts';
import { tool } from '../../src/tools/tool.ts';
import { type AgentQuery, agentQuery, calls, says, starts } from '../support/agents.ts';
import { drain, echo } from '../support/scripted.ts';

const run = ({ query, clock }: AgentQuery): ReturnType<typeof drain> => runInVirtualTime(clock, drain(query));

interface Result {
  readonly text: string;
  readonly isError: boolean;
}

/** The results that the model sees, by the id of the call. */
function resultsOf(state: LoopState | null): Readonly<Record<string, Result>> {
  const blocks = (state?.carried.messages ?? []).flatMap((message) =>
    message.role === 'user' ? message.content.filter((block) => block.type === 'tool_result') : [],
  );
  return Object.fromEntries(
    blocks.map(({ tool_use_id: id, content, is_error: isError }) => [id, { text: JSON.stringify(content), isError }]),
  );
}

function progressOf(emitted: readonly Emitted[], toolUseId: string): readonly string[] {
  return emitted.flatMap((item) => (item.type === 'progress' && item.toolUseId === toolUseId ? [item.text] : []));
}

describe('a sub-agent', () => {
  it('runs the same loop with its own prompt, history and tools, and gives its last words', async () => {
    const asked = agentQuery([starts('scout'), says('done')], { scout: [calls('echo', 'e1'), says('found it')] });
    const { emitted, terminal } = await run(asked);
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
    const result = resultsOf(asked.query.state)['a-scout'];
    expect([result?.text.includes('found it'), result?.isError]).toEqual([true, false]);
    const [first] = asked.models['scout']?.requests ?? [];
    expect(JSON.stringify(first?.messages)).toContain('work, scout');
    expect(JSON.stringify(first?.messages)).not.toContain('"go"');
    expect(progressOf(emitted, 'a-scout')).toEqual(expect.arrayContaining(['scout: ask scout', 'echo {}']));
  });

  it('runs beside others: the whole takes as long as the longest', async () => {
    const asked = agentQuery([starts('a', 'b'), says('done')], {
      a: [says('from a', 5_000)],
      b: [says('from b', 3_000)],
    });
    const begun = asked.clock.now();
    await run(asked);
    expect(asked.clock.now() - begun).toBe(5_000);
    expect(Object.values(resultsOf(asked.query.state)).map(({ text }) => text)).toEqual([
      expect.stringContaining('from a'),
      expect.stringContaining('from b'),
    ]);
  });

  it.each(['interrupt', 'submit'] as const)(
    'beside another is ended with the query by %s, and nothing is left',
    async (kind) => {
      const signals: AbortSignal[] = [];
      const wait = tool({
        name: 'wait',
        description: 'Waits.',
        input: z.looseObject({}),
        run: (_input, { signal, clock }) => {
          signals.push(signal);
          return new Promise<string>((resolve) => {
            const cancel = clock.schedule(() => resolve('waited'), 60_000);
            signal.addEventListener(
              'abort',
              () => {
                cancel();
                resolve('stopped');
              },
              { once: true },
            );
          });
        },
      });
      const journals: ReturnType<typeof memoryJournal>[] = [];
      const asked = agentQuery(
        [starts('a', 'b'), says('never')],
        { a: [calls('wait', 'w1', 1_000), says('never')], b: [says('never', 30_000)] },
        {
          tools: [wait],
          journalOf: () => {
            const journal = memoryJournal();
            journals.push(journal);
            return journal;
          },
        },
      );
      asked.clock.schedule(
        () => (kind === 'interrupt' ? asked.query.interrupt() : asked.query.submit('now this')),
        2_000,
      );
      const begun = asked.clock.now();
      const { terminal } = await run(asked);
      expect([terminal.reason, asked.clock.now() - begun]).toEqual(['aborted_tools', 2_000]);
      expect(asked.clock.pending).toBe(0);
      expect(signals.map((signal) => [signal.aborted, getEventListeners(signal, 'abort').length])).toEqual([[true, 0]]);
      const ends = journals.map((journal) => replay(journal.recorded()!).terminal?.reason);
      expect(ends).toEqual(['aborted_tools', 'aborted_streaming']);
      expect([asked.models['a']?.requests.length, asked.models['b']?.requests.length]).toEqual([1, 1]);
      expect(Object.values(resultsOf(asked.query.state)).map(({ isError }) => isError)).toEqual([true, true]);
    },
  );

  it('is stopped with a query that is closed', async () => {
    const asked = agentQuery([starts('a'), says('never')], { a: [says('never', 30_000)] });
    asked.clock.schedule(() => void asked.query.return(), 2_000);
    const drained = async (): Promise<void> => {
      while ((await asked.query.next()).done !== true);
    };
    await runInVirtualTime(asked.clock, drained());
    expect([asked.clock.pending, asked.models['a']?.requests.length]).toEqual([0, 1]);
  });

  it('that does not end as done gives an error that names its end and what it had', async () => {
    const endless = [
      {
        ...calls('echo', 'e1'),
        stream: [{ text: 'half' }, { tool: 'echo', id: 'e1', input: {} }, { stop: 'tool_use' }],
      },
    ];
    const asked = agentQuery([starts('a'), says('done')], { a: endless }, { define: { a: { maxTurns: 1 } } });
    await run(asked);
    const result = resultsOf(asked.query.state)['a-a'];
    expect(result?.isError).toBe(true);
    expect(result?.text).toMatch(/The agent a is not done: it ended as max_turns.*half/s);
  });
});

describe('the limits of sub-agents', () => {
  it('a query starts no more than maxSubAgents, whatever the model asks for', async () => {
    const asked = agentQuery(
      [starts('1:a', '2:a', '3:a'), starts('4:a'), says('done')],
      { a: [{ ...says('fine'), repeat: true }] },
      { maxSubAgents: 2 },
    );
    await run(asked);
    expect(asked.models['a']?.requests).toHaveLength(2);
    expect(Object.values(resultsOf(asked.query.state)).map(({ isError }) => isError)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(resultsOf(asked.query.state)['a-4']?.text).toContain('maxSubAgents');
    expect(asked.query.state?.query.subAgents).toBe(2);
  });

  it('a sub-agent has no tool Agent at the default depth, and has it where more is allowed', async () => {
    const script = { a: [starts('b'), says('from a')], b: [starts('a'), says('from b')] };
    const flat = agentQuery([starts('a'), says('done')], script);
    await run(flat);
    expect([flat.models['a']?.requests.length, flat.models['b']?.requests.length]).toEqual([2, 0]);
    const deep = agentQuery([starts('a'), says('done')], script, { maxAgentDepth: 2 });
    await run(deep);
    expect([deep.models['a']?.requests.length, deep.models['b']?.requests.length]).toEqual([2, 2]);
  });

  it('an unknown name is answered with those that there are', async () => {
    const asked = agentQuery([starts('x'), says('done')], { a: [] });
    await run(asked);
    expect(resultsOf(asked.query.state)['a-x']?.text).toMatch(/No agent goes by the name.*general-purpose, a\./);
  });

  it('a rule takes an agent away', async () => {
    const rules = [{ behavior: 'deny', rule: 'Agent(a)' }] as const;
    const script = { a: [says('never')], b: [says('from b')] };
    const asked = agentQuery([starts('a', 'b'), says('done')], script, { rules, permissionMode: 'default' });
    await run(asked);
    expect(asked.models['a']?.requests).toHaveLength(0);
    expect(resultsOf(asked.query.state)['a-b']?.isError).toBe(false);
    expect(asked.query.state?.query.tools[0]?.description).not.toContain('Is a.');
  });

  it('none is there without the option agents', async () => {
    const asked = agentQuery([says('done')], {}, { agents: undefined as never });
    await run(asked);
    expect(asked.query.state?.query.tools.map(({ name }) => name)).toEqual(['echo']);
  });
});

describe('permissions of a sub-agent', () => {
  const write = tool({ name: 'change', description: 'Changes.', input: z.looseObject({}), run: () => 'changed' });
  const children = { a: [calls('change', 'c1'), says('ok')] };

  it('are asked of the person whom the query asks, in the name of the agent', async () => {
    const requests: PermissionRequest[] = [];
    const asked = agentQuery([starts('a'), says('done')], children, {
      tools: [write],
      permissionMode: 'default',
      canUseTool: (_name, _input, request) => {
        requests.push(request);
        return { behavior: 'allow', addedRules: [{ behavior: 'allow', rule: 'change' }] };
      },
    });
    await run(asked);
    expect(requests.map(({ agent, toolUseId }) => [agent, toolUseId])).toEqual([['a', 'c1']]);
    expect(asked.query.state?.carried.toolUseContext.addedRules).toEqual([{ behavior: 'allow', rule: 'change' }]);
  });

  it('are denied where nobody is there', async () => {
    const asked = agentQuery([starts('a'), says('done')], children, { tools: [write], permissionMode: 'default' });
    await run(asked);
    expect(JSON.stringify(asked.models['a']?.requests[1]?.messages)).toMatch(/is_error":true/);
  });

  it.each([
    ['plan', 'bypassPermissions', true],
    ['bypassPermissions', 'plan', true],
    ['bypassPermissions', 'bubble', false],
  ] as const)('are the narrower of the modes: %s of the query, %s of the agent', async (mode, own, isDenied) => {
    const asked = agentQuery([starts('a'), says('done')], children, {
      tools: [write],
      permissionMode: mode,
      define: { a: { permissionMode: own } },
    });
    await run(asked);
    expect(JSON.stringify(asked.models['a']?.requests[1]?.messages).includes('is_error":true')).toBe(isDenied);
  });

  it('obey the rules of the query', async () => {
    const rules = [{ behavior: 'deny', rule: 'change' }] as const;
    const asked = agentQuery([starts('a'), says('done')], children, { tools: [write], rules });
    await run(asked);
    expect(JSON.stringify(asked.models['a']?.requests[1]?.messages)).toMatch(/is_error":true/);
  });
});

describe('what a sub-agent used', () => {
  it('counts in the usage of the query and not in its token budget, and a replay gives the same', async () => {
    const journal = memoryJournal();
    const asked = agentQuery(
      [starts('a', 'b'), says('done')],
      { a: [calls('echo', 'e1'), says('x')], b: [says('y')] },
      { journal, tokenBudget: 1 },
    );
    const { terminal } = await run(asked);
    const { usage, spentByTools, budgetUsed } = asked.query.state!.query;
    expect(spentByTools.map(({ model, usage: { output } }) => [model, output])).toEqual([
      ['b', 10],
      ['a', 20],
    ]);
    expect(terminal.usage.output).toBe(usage.output + 30);
    expect(budgetUsed).toBe(usage.output);
    const again = replay(JSON.parse(JSON.stringify(journal.recorded())) as RecordedQuery);
    expect(JSON.stringify(again)).toBe(JSON.stringify(asked.query.state));
  });

  it('of a sub-agent is in its own bound', async () => {
    const journals: ReturnType<typeof memoryJournal>[] = [];
    const journalOf = (): ReturnType<typeof memoryJournal> => {
      const journal = memoryJournal();
      journals.push(journal);
      return journal;
    };
    const asked = agentQuery(
      [starts('a'), says('done')],
      { a: [says('x')] },
      { journalOf, define: { a: { maxTurns: 3 } } },
    );
    await run(asked);
    const recorded = journals[0]!.recorded()!;
    expect(recorded.config).toMatchObject({ querySource: 'agent:a', system: 'You are a.', maxTurns: 3 });
    expect(replay(recorded).query.modelCalls).toBeLessThanOrEqual(bound(recorded.config).modelCalls);
  });
});

/** What an inspector draws the arrow from. */
const parentOf = (actor: object): unknown => Reflect.get(actor, '_parent');

describe('who watches the query', () => {
  it('sees the chart of the sub-agent, as a child of the actor that runs the call', async () => {
    const seen: InspectionEvent[] = [];
    const asked = agentQuery([starts('a'), says('done')], { a: [says('x')] }, { inspect: (event) => seen.push(event) });
    await run(asked);
    const roots = new Set(seen.map(({ rootId }) => rootId));
    expect(roots.size).toBe(1);
    const child = seen.find(
      ({ type, actorRef }) => type === '@xstate.actor' && 'id' in actorRef && actorRef.id === 'agent:a',
    );
    expect(parentOf(child!.actorRef)).toMatchObject({ id: expect.stringMatching(/^runTool-/) as string });
    const steps = seen.filter(({ type, actorRef }) => type === '@xstate.microstep' && actorRef === child?.actorRef);
    expect(steps.length).toBeGreaterThan(3);
  });
});

describe('a crash while a sub-agent runs', () => {
  it('gives its call an error result: what it did is not known', async () => {
    const journal = memoryJournal();
    const asked = agentQuery([starts('a'), says('done')], { a: [says('x')] }, { journal });
    await run(asked);
    const recorded = journal.recorded()!;
    const cut = recorded.events.findIndex(({ type }) => type === 'tool.ended');
    const cutRecord = { ...recorded, events: recorded.events.slice(0, cut) };
    const resumed = agentQuery([says('done')], { a: [] }, { resume: cutRecord });
    const { terminal } = await run(resumed);
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
    expect(resumed.models['a']?.requests).toHaveLength(0);
    expect(resultsOf(resumed.query.state)['a-a']?.text).toContain('Interrupted');
    expect(resumed.query.state?.query.subAgents).toBe(1);
  });
});

describe('hooks at the end of a sub-agent', () => {
  it('are those of subagentStop, in place of stop', async () => {
    const told: string[] = [];
    const hook = (name: string) => ({ name, run: () => void told.push(name) });
    const asked = agentQuery(
      [starts('a'), says('done')],
      { a: [says('x')] },
      {
        hooks: { stop: [hook('stop')], subagentStop: [hook('subagentStop')] },
      },
    );
    await run(asked);
    expect(told).toEqual(['subagentStop', 'stop']);
  });
});

describe('the tools of a sub-agent', () => {
  it('are those that its definition names, without those that it excludes', async () => {
    const other = tool({ name: 'mcp__db__ask', description: 'Asks.', input: z.looseObject({}), run: () => 'x' });
    const journals: ReturnType<typeof memoryJournal>[] = [];
    const asked = agentQuery(
      [starts('a', 'b', 'c', 'd'), says('done')],
      { a: [says('x')], b: [says('x')], c: [says('x')], d: [] },
      {
        tools: [echo, other],
        journalOf: () => journals[journals.push(memoryJournal()) - 1]!,
        define: {
          a: { tools: ['mcp__db', 'Nothing'] },
          b: { disallowedTools: ['mcp__db__*'] },
          d: { tools: ['Nothing'] },
        },
      },
    );
    await run(asked);
    const given = journals.map((journal) => journal.recorded()?.initial.query.tools.map(({ name }) => name));
    expect(given).toEqual([['mcp__db__ask'], ['echo'], ['echo', 'mcp__db__ask']]);
    expect(resultsOf(asked.query.state)['a-d']?.text).toContain('None of the tools of the agent is there: Nothing.');
  });

  it('hold Skill once where the definition names it or names none, and the skills of the starter', async () => {
    const home = mkdtempSync(join(tmpdir(), 'escapement-skills-'));
    mkdirSync(join(home, '.claude/skills/greet'), { recursive: true });
    writeFileSync(join(home, '.claude/skills/greet/SKILL.md'), '---\nname: greet\ndescription: Greets\n---\nBow.\n');
    const journals: ReturnType<typeof memoryJournal>[] = [];
    const asked = agentQuery(
      [starts('a', 'b', 'c'), says('done')],
      { a: [calls('Skill', 's1', 0, { skill: 'greet' }), says('x')], b: [says('x')], c: [says('x')] },
      {
        tools: [echo],
        skills: { home },
        journalOf: () => journals[journals.push(memoryJournal()) - 1]!,
        define: { b: { tools: ['echo'] }, c: { tools: ['Skill'] } },
      },
    );
    // Skills are read from a real disk, for which a virtual clock does not wait.
    await drain(asked.query);
    const given = journals.map((journal) => journal.recorded()?.initial.query.tools.map(({ name }) => name));
    expect(given).toEqual([['Skill', 'echo'], ['echo'], ['Skill']]);
    expect(JSON.stringify(asked.models['a']?.requests[1]?.messages)).toContain('Bow.');
  });
});
