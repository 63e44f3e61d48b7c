/** An abort and a crash before every event: of the cases, of richer runs, of tools and hooks of one's own. */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sleep } from '../../src/clock.ts';
import { builtInTools } from '../../src/tools/builtin/index.ts';
import { type Tool, tool } from '../../src/tools/tool.ts';
import {
  abortEverywhere,
  crashEverywhere,
  type EverywhereOptions,
  type EverywhereViolation,
} from '../../src/testing/everywhere.ts';
import { parseScenario, type Scenario } from '../../src/testing/scenario.ts';
import { scenario } from '../support/scenarios.ts';

const done = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };
const uses = (...ids: readonly string[]) => ({
  stream: [...ids.map((id) => ({ tool: id.slice(0, -1), id, input: {} })), { stop: 'tool_use' }],
});

function file(members: Readonly<Record<string, unknown>>): Scenario {
  return parseScenario({ name: 'n', prompt: 'go', model: [done], ...members });
}

/** What went wrong when the run was broken, both ways. */
async function broken(what: Scenario, options: EverywhereOptions = {}): Promise<readonly EverywhereViolation[]> {
  return [...(await abortEverywhere(what, options)), ...(await crashEverywhere(what, options))];
}

const tools = {
  read: { safe: true, results: [{ ms: 20, text: 'x' }, { size: 2_000 }] },
  grep: { safe: true, results: [{ ms: 5, throws: 'boom' }] },
  write: { results: [{ ms: 30, text: 'written' }] },
  hang: { safe: true, readOnly: false, results: [{ hangs: true }] },
};

const rich: Readonly<Record<string, Scenario>> = {
  'a rich run': scenario('field/B59.json'),
  'parallel tools, one of which cancels the others': file({
    model: [uses('read1', 'read2', 'grep1', 'write1', 'write2'), uses('read3', 'grep2'), done],
    tools: { ...tools, grep: { safe: true, results: [{ ms: 5, text: 'e', isError: true, cancelsSiblings: true }] } },
  }),
  'tools that hang beside others': file({ model: [uses('hang1', 'read1', 'hang2'), done], tools }),
  'a tool that hangs while messages wait': file({
    model: [uses('read1'), uses('hang1')],
    tools,
    user: [
      { submit: 'b', at: { tool: 'read1' } },
      { submit: 'c', at: { tool: 'hang1' } },
    ],
  }),
  'a fallback in the middle of tools': file({
    config: { fallbackModels: ['second'] },
    model: [
      { stream: [{ tool: 'read', id: 'read1', input: {} }, { wait: 5 }, { error: 'overloaded_error' }], times: 3 },
      uses('read2', 'write1'),
      done,
    ],
    tools,
  }),
  'hooks of every kind': file({
    model: [uses('read1', 'write1', 'grep1'), done, done, done],
    tools,
    hooks: {
      preToolUse: [
        { tool: 'read', context: 'c' },
        { tool: 'write', input: { z: 1 } },
        { tool: 'grep', crash: true },
      ],
      postToolUse: [{ tool: 'read', context: 'd' }],
      stop: [{ block: ['lint'] }, { crash: true }],
    },
  }),
  'permissions that are asked for': file({
    config: { permissionMode: 'default' },
    model: [uses('write1', 'write2'), done],
    tools,
    permissions: [
      { tool: 'write', answer: 'allow' },
      { tool: 'write', answer: 'deny' },
    ],
  }),
  'an output limit up to its last recovery': scenario('transitions/completed-output-limit.json'),
  'a drain of collapses': scenario('transitions/collapse-drain-retry.json'),
  'a reactive compaction': scenario('transitions/reactive-compact-retry.json'),
  'a proactive compaction': scenario('transitions/auto-compact.json'),
  'summaries of tools in the background': scenario('transitions/tool-use-summary.json'),
  'answers that pause': scenario('field/B43.json'),
  'thinking and tools in turn': scenario('field/B32.json'),
  'a refusal': scenario('field/B45.json'),
  'a retry that waits': scenario('field/B54.json'),
  'media that is replaced': scenario('transitions/media-replaced.json'),
};

describe('an abort or a crash before every event', () => {
  it.each(Object.entries(rich))('does no harm to %s', { timeout: 60_000 }, async (_name, what) => {
    expect(await broken(what)).toEqual([]);
  });
});

/** A run with a tool of one's own. */
function withTool(own: Tool, time: 'virtual' | 'real' = 'virtual'): readonly [Scenario, EverywhereOptions] {
  const what = file({ model: [uses('own1'), done, { ...done, repeat: true }] });
  return [what, { query: { tools: [own] }, time }];
}

function ownTool(run: Tool['run']): Tool {
  return tool({ name: 'own', description: 'A tool of the test.', input: z.looseObject({}), run });
}

const sentences = (found: readonly EverywhereViolation[]): readonly string[] => [
  ...new Set(found.map(({ violation }) => violation.replace(/^Query \d: /, ''))),
];

describe('tools and hooks of one’s own', () => {
  it('pass when they behave', async () => {
    const own = ownTool(async (_input, { clock, signal }) => {
      await sleep(clock, 50, signal);
      return 'x';
    });
    expect(await broken(...withTool(own))).toEqual([]);
  });

  it('are found out by a timer that they leave', async () => {
    const own = ownTool((_input, { clock }) => {
      clock.schedule(() => {}, 60_000);
      return 'x';
    });
    expect(sentences(await abortEverywhere(...withTool(own)))).toEqual(['1 timers are left.']);
  });

  it('are found out by a timer that only an abort in the middle of a run leaves', async () => {
    const own = ownTool(
      (_input, { clock, signal }) =>
        new Promise((resolve) => {
          clock.schedule(() => resolve('x'), 60_000);
          signal.addEventListener('abort', () => resolve('gone'), { once: true });
        }),
    );
    const found = await abortEverywhere(...withTool(own));
    expect(found).toContainEqual({
      index: 4,
      moment: 'the tool own1 runs',
      phase: 'runningTools',
      what: 'submit',
      violation: 'Query 1: 1 timers are left.',
    });
  });

  it('are found out by a listener that they leave', async () => {
    const own = ownTool((_input, { signal }) => {
      signal.addEventListener('abort', () => {});
      return 'x';
    });
    expect(sentences(await broken(...withTool(own)))).toEqual([
      'An abort listener is left on the signal of the tool own.',
    ]);
    const hook = {
      name: 'careless',
      run: (_view: unknown, signal: AbortSignal) => signal.addEventListener('abort', () => {}),
    };
    const found = await abortEverywhere(file({}), { query: { hooks: { stop: [hook] } } });
    expect(sentences(found)).toEqual(['An abort listener is left on the signal of the hook careless.']);
  });

  it('are found out by a process that they leave', { timeout: 60_000 }, async () => {
    const children: ReturnType<typeof spawn>[] = [];
    const own = ownTool((_input, { signal }) => {
      const child = spawn('sleep', ['60'], { stdio: 'ignore' });
      children.push(child);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('left'), { once: true }));
    });
    const what = file({
      model: [uses('own1'), done, { ...done, repeat: true }],
      user: [{ abort: 'interrupt', at: { tool: 'own1' } }],
    });
    const found = await abortEverywhere(what, { query: { tools: [own] }, time: 'real' });
    for (const child of children) child.kill();
    expect(sentences(found)).toContain('1 child processes are left.');
  });

  it('may start processes when they end them', { timeout: 60_000 }, async () => {
    const input = { command: 'sleep 0.2; echo x' };
    const what = file({
      model: [{ stream: [{ tool: 'Bash', id: 'b1', input }, { stop: 'tool_use' }] }, done, { ...done, repeat: true }],
    });
    expect(await broken(what, { query: { tools: builtInTools() }, time: 'real' })).toEqual([]);
  });

  it('are held to laws of one’s own', async () => {
    const law = () => ['no'];
    const found = await crashEverywhere(file({}), { law });
    expect(found.map(({ index, what, violation }) => [index, what, violation])).toEqual([
      [0, 'crash', 'no'],
      [1, 'crash', 'no'],
      [2, 'crash', 'no'],
    ]);
  });
});
