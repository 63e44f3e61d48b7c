import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { EffectOf } from '../../src/core/effect.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { type RunToolDeps, runTool } from '../../src/effects/run-tool.ts';
import { type Hooks, noHooks } from '../../src/hooks/hook.ts';
import { runInVirtualTime } from '../../src/testing/virtual-clock.ts';
import { type ToolDefinition, tool } from '../../src/tools/tool.ts';
import { depsOf, emptyShared } from '../tools/call-tool.ts';
import { type TestIo, testIo } from './effect-io.ts';

const schema = z.object({ path: z.string() });

function deps(more: Partial<ToolDefinition<typeof schema>> = {}, hooks: Partial<Hooks> = {}): RunToolDeps {
  const made = tool({
    name: 'look',
    description: '',
    input: schema,
    summary: ({ path }) => `at ${path}`,
    run: () => 'seen',
    ...more,
  });
  return { ...depsOf({ tools: [made] }), hooks: { ...noHooks, ...hooks } };
}

function effect(input: JsonObject = { path: 'a' }, name = 'look'): EffectOf<'runTool'> {
  return { type: 'runTool', id: 'runTool-1', toolUseId: 'toolu_1', name, input, context: emptyShared, decisions: [] };
}

function pause(io: TestIo, ms: number): Promise<void> {
  return new Promise((resolve) => void io.clock.schedule(resolve, ms));
}

describe('runTool', () => {
  it('answers with decisions, then with one outcome', async () => {
    const io = testIo();
    await runTool(deps())(effect(), io);
    expect(io.events.map((event) => event.type)).toEqual(['tool.decided', 'tool.ended']);
    expect(io.events[1]).toMatchObject({
      effectId: 'runTool-1',
      toolUseId: 'toolu_1',
      outcome: { isError: false, stage: 'run' },
    });
    expect(JSON.parse(JSON.stringify(io.events))).toEqual(io.events);
    expect(io.clock.pending).toBe(0);
  });

  it('shows start and end, with the time of the tool and not of the prompt', async () => {
    const io = testIo();
    const slow = deps({ run: () => pause(io, 700).then(() => 'first line\nsecond') });
    const asking: RunToolDeps = {
      ...slow,
      canUseTool: () => pause(io, 9_000).then(() => ({ behavior: 'allow' as const })),
    };
    const asked = { ...effect(), context: { ...emptyShared, permissionMode: 'default' as const } };
    await runInVirtualTime(io.clock, runTool(asking)(asked, io));
    expect(io.observations).toEqual([
      { type: 'progress', toolUseId: 'toolu_1', name: 'look', status: 'started', ms: 0, text: 'at a', isError: null },
      {
        type: 'progress',
        toolUseId: 'toolu_1',
        name: 'look',
        status: 'ended',
        ms: 700,
        text: 'first line second',
        isError: false,
        stage: 'run',
      },
    ]);
  });

  it('describes an input that does not fit by the input, and survives a summary that throws', async () => {
    for (const [wrong, expected] of [
      [effect({ path: 7 }), '{"path":7}'],
      [effect({}, 'nope'), '{}'],
    ] as const) {
      const io = testIo();
      await runTool(deps())(wrong, io);
      expect(io.observations[0]).toMatchObject({ status: 'started', text: expected });
      expect(io.observations[1]).toMatchObject({ status: 'ended', isError: true });
    }
    const io = testIo();
    await runTool(
      deps({
        summary: () => {
          throw new Error('no');
        },
      }),
    )(effect(), io);
    expect(io.observations[0]).toMatchObject({ text: '{"path":"a"}' });
  });

  it('coalesces progress: the newest of what comes too fast', async () => {
    const io = testIo();
    const chatty = deps({
      run: async (_, { progress }) => {
        for (let index = 0; index < 1_000; index += 1) {
          progress(`line ${index}`);
          if (index % 100 === 99) await pause(io, 50);
        }
        return '';
      },
    });
    await runInVirtualTime(io.clock, runTool(chatty)(effect(), io));
    const running = io.observations.filter((seen) => seen.type === 'progress' && seen.status === 'running');
    expect(running.map((seen) => (seen.type === 'progress' ? [seen.ms, seen.text] : null))).toEqual([
      [0, 'line 0'],
      [200, 'line 399'],
      [400, 'line 799'],
    ]);
  });

  it('shows at once that a hook crashed', async () => {
    const io = testIo();
    const preToolUse = [
      {
        name: 'guard',
        run: () => {
          throw new Error('boom');
        },
      },
    ];
    await runTool(deps({}, { preToolUse }))(effect(), io);
    expect(io.observations[1]).toMatchObject({ status: 'running', text: 'The PreToolUse hook guard crashed: boom' });
  });

  it('posts and shows nothing after a cancel', async () => {
    const io = testIo();
    const hanging = deps({
      run: (_, { signal, progress }) => {
        progress('running');
        return new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            progress('late');
            resolve('late');
          }),
        );
      },
    });
    const running = runTool(hanging)(effect(), io);
    await new Promise((resolve) => setImmediate(resolve));
    const before = [io.events.length, io.observations.length];
    io.abort();
    await running;
    expect([io.events.length, io.observations.length]).toEqual(before);
    expect(io.events.map((event) => event.type)).toEqual(['tool.decided']);
    expect(io.clock.pending).toBe(0);
  });

  it('leaves a tool behind that ignores its cancel', async () => {
    const io = testIo();
    const running = runTool(deps({ run: () => new Promise(() => undefined) }))(effect(), io);
    await new Promise((resolve) => setImmediate(resolve));
    io.abort();
    await runInVirtualTime(io.clock, running);
    expect(io.events.some((event) => event.type === 'tool.ended')).toBe(false);
    expect(io.clock.pending).toBe(0);
  });

  it('B20: a crash of a hook after one of three tools leaves the others alone', async () => {
    const postToolUse = [
      {
        name: 'format',
        run: ({ toolUseId }: { toolUseId: string }) => {
          if (toolUseId === 't1') throw new Error('boom');
        },
      },
    ];
    const run = runTool(deps({}, { postToolUse }));
    const errors = await Promise.all(
      ['t1', 't2', 't3'].map(async (toolUseId) => {
        const io = testIo();
        await run({ ...effect(), toolUseId }, io);
        const ended = io.events.find((event) => event.type === 'tool.ended');
        return ended?.type === 'tool.ended' ? ended.outcome.isError : null;
      }),
    );
    expect(errors).toEqual([true, false, false]);
  });
});
