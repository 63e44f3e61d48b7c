import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Hooks } from '../../src/hooks/hook.ts';
import { runInVirtualTime, VirtualClock } from '../../src/testing/virtual-clock.ts';
import { runPipeline } from '../../src/tools/pipeline.ts';
import { createMemoryStore } from '../../src/tools/result-store.ts';
import { type Tool, type ToolDefinition, tool } from '../../src/tools/tool.ts';
import { callTool, depsOf, emptyShared } from './call-tool.ts';
import { thrownValues } from './thrown-values.ts';

const schema = z.object({
  path: z.string(),
  limit: z.number().int().default(3),
  edits: z.array(z.object({ old: z.string() })).optional(),
});

function make(more: Partial<ToolDefinition<typeof schema>> = {}): Tool {
  return tool({
    name: 'look',
    aliases: ['see'],
    description: '',
    input: schema,
    run: ({ path }) => `saw ${path}`,
    ...more,
  });
}

describe('the pipeline', () => {
  it('runs a call by name and by alias', async () => {
    for (const name of ['look', 'see']) {
      const { outcome, text } = await callTool({ tools: [make()] }, name, { path: 'a' });
      expect(text).toBe('saw a');
      expect(outcome).toMatchObject({ stage: 'run', isError: false, stop: null, interrupt: false });
    }
  });

  it('B49: names the known tools for one that nobody knows', async () => {
    for (const name of ['nope', '', 'ls -la /', 'x'.repeat(457), '__proto__']) {
      const { outcome, text } = await callTool({ tools: [make()] }, name, {});
      expect(outcome).toMatchObject({ stage: 'lookup', isError: true });
      expect(text).toContain('The tools are: look.');
    }
    expect((await callTool({ tools: [] }, 'nope', {})).text).toContain('There are no tools.');
  });

  it('says where an input does not fit and what was expected there', async () => {
    const input = { path: 7, limit: 1.5, edits: [{ old: 'a' }, { old: null }] };
    const { outcome, text } = await callTool({ tools: [make()] }, 'look', input);
    expect(outcome).toMatchObject({ stage: 'schema', isError: true });
    expect(text).toContain('- path: expected string, received number');
    expect(text).toContain('- limit: expected int');
    expect(text).toContain('- edits[1].old: expected string, received null');
  });

  it('says what the members of a union expected, and no more than ten issues', async () => {
    const either = tool({
      name: 'u',
      description: '',
      input: z.object({ a: z.union([z.string(), z.number()]) }),
      run: () => '',
    });
    expect((await callTool({ tools: [either] }, 'u', { a: null })).text).toContain(
      '- a: expected number, received null',
    );
    const many = await callTool({ tools: [make()] }, 'look', {
      path: 'a',
      edits: Array.from({ length: 30 }, () => ({})),
    });
    expect(many.text).toContain('- and 20 more');
  });

  it('asks the tool whether the input makes sense', async () => {
    const { outcome, text } = await callTool({ tools: [make({ validate: () => 'path is a joke.' })] }, 'look', {
      path: 'a',
    });
    expect(outcome.stage).toBe('validation');
    expect(text).toBe('path is a joke.');
  });

  it('gives the stages their turn: validation, hooks, permission, run, hooks after it', async () => {
    const seen: string[] = [];
    const made = make({
      validate: () => {
        seen.push('validate');
        return null;
      },
      backfill: (input) => {
        seen.push('backfill');
        return input;
      },
      checkPermission: () => {
        seen.push('check');
        return { behavior: 'pass' };
      },
      run: () => {
        seen.push('run');
        return '';
      },
    });
    await callTool(
      {
        tools: [made],
        mode: 'default',
        hooks: {
          preToolUse: [
            {
              name: 'a',
              run: () => {
                seen.push('before');
              },
            },
          ],
          postToolUse: [
            {
              name: 'b',
              run: () => {
                seen.push('after');
              },
            },
          ],
        },
        canUseTool: async () => {
          seen.push('prompt');
          return { behavior: 'allow' };
        },
      },
      'look',
      { path: 'a' },
    );
    expect(seen).toEqual(['validate', 'backfill', 'check', 'before', 'prompt', 'run', 'after']);
  });

  it('runs a slow check of the tool while the hooks run', async () => {
    const clock = new VirtualClock();
    const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.schedule(resolve, ms));
    const made = make({
      checkPermission: async () => {
        await wait(1_000);
        return { behavior: 'allow' };
      },
    });
    const begin = clock.now();
    const hooks = { preToolUse: [{ name: 'slow', run: () => wait(1_000) }] };
    const { outcome } = await runInVirtualTime(
      clock,
      callTool({ tools: [made], clock, hooks, mode: 'default' }, 'look', { path: 'a' }),
    );
    expect(outcome.stage).toBe('run');
    expect(clock.now() - begin).toBe(1_000);
  });

  it('shows the filled-in input to hooks, prompts and the tool, and leaves the original alone', async () => {
    const seen: unknown[] = [];
    const original = { path: 'a', edits: [{ old: 'x' }] };
    const made = make({
      backfill: (input, { cwd }) => ({ ...input, path: `${cwd}/${input.path}` }),
      run: (input) => {
        seen.push(input);
        return '';
      },
    });
    await callTool(
      {
        tools: [made],
        cwd: '/w',
        mode: 'default',
        hooks: {
          preToolUse: [
            {
              name: 'a',
              run: ({ input }) => {
                seen.push(input);
              },
            },
          ],
        },
        canUseTool: async (_, input) => {
          seen.push(input);
          return { behavior: 'allow' };
        },
      },
      'look',
      original,
    );
    const filled = { path: '/w/a', limit: 3, edits: [{ old: 'x' }] };
    expect(seen).toEqual([filled, filled, filled]);
    expect(original).toEqual({ path: 'a', edits: [{ old: 'x' }] });
  });

  it('gives the tool a copy: the transcript keeps what the model wrote', async () => {
    const sly = tool({
      name: 'sly',
      description: '',
      input: z.object({ any: z.any() }),
      run: ({ any }) => {
        (any as string[]).push('evil');
        return '';
      },
    });
    const input = { any: ['a'] };
    await callTool({ tools: [sly] }, 'sly', input);
    expect(input).toEqual({ any: ['a'] });
  });

  it.each(thrownValues)('makes an error result of a throw of %s', async (_, value, expected) => {
    const throws = (): never => {
      throw value;
    };
    const { outcome, text } = await callTool({ tools: [make({ run: throws })] }, 'look', { path: 'a' });
    expect(outcome).toMatchObject({ stage: 'run', isError: true });
    expect(text).toMatch(expected);
    const rejected = await callTool({ tools: [make({ run: async () => throws() })] }, 'look', { path: 'a' });
    expect(rejected.outcome).toEqual(outcome);
  });

  it.each<[string, Partial<ToolDefinition<typeof schema>>, string, string]>([
    [
      'validate',
      {
        validate: () => {
          throw new Error('boom');
        },
      },
      'validation',
      'boom',
    ],
    [
      'backfill',
      {
        backfill: () => {
          throw new Error('boom');
        },
      },
      'validation',
      'boom',
    ],
    [
      'permissionTarget',
      {
        permissionTarget: () => {
          throw new Error('boom');
        },
      },
      'run',
      'saw a',
    ],
    [
      'isReadOnly',
      {
        isReadOnly: () => {
          throw new Error('boom');
        },
      },
      'run',
      'saw a',
    ],
    [
      'summary',
      {
        summary: () => {
          throw new Error('boom');
        },
      },
      'run',
      'saw a',
    ],
  ])('survives a throw in %s', async (_, more, stage, expected) => {
    const { outcome, text } = await callTool({ tools: [make(more)] }, 'look', { path: 'a' });
    expect(outcome.stage).toBe(stage);
    expect(text).toContain(expected);
  });

  it.each([
    ['nothing', undefined, '(no output)', false],
    ['an empty string', '', '(no output)', false],
    ['blank text', ' \n', '(no output)', false],
    ['no blocks', { content: [] }, '(no output)', false],
    [
      'blocks',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: '' },
        ],
      },
      'a',
      false,
    ],
    ['an error', { content: 'no', isError: true }, 'no', true],
    ['half a character', 'a\uD83D', 'a\uFFFD', false],
    ['null', null, 'a bug of the tool', true],
    ['a number', 7, 'a bug of the tool', true],
    ['an unknown block', { content: [{ type: 'video' }] }, 'a bug of the tool', true],
    ['an unknown change', { content: '', contextChanges: [{ type: 'rm' }] }, 'a bug of the tool', true],
  ])('B41: makes a legal result of a tool that returns %s', async (_, value, expected, isError) => {
    const { outcome, text } = await callTool({ tools: [make({ run: () => value as string })] }, 'look', { path: 'a' });
    expect(text).toContain(expected);
    expect(outcome.isError).toBe(isError);
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
  });

  it('B67: puts the images of an error behind the results', async () => {
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png', data: 'AAAA' },
    };
    const content = [{ type: 'text' as const, text: 'no' }, image];
    const failed = await callTool({ tools: [make({ run: () => ({ content, isError: true }) })] }, 'look', {
      path: 'a',
    });
    expect(failed.outcome.content).toEqual([content[0]]);
    expect(failed.outcome.attachments).toEqual([image]);
    const worked = await callTool({ tools: [make({ run: () => ({ content }) })] }, 'look', { path: 'a' });
    expect(worked.outcome.content).toEqual(content);
    expect(worked.outcome.attachments).toEqual([]);
  });

  it('ends a tool that hangs at its time', async () => {
    const clock = new VirtualClock();
    const logged: string[] = [];
    const made = make({ timeoutMs: 500, run: () => new Promise(() => undefined) });
    const begin = clock.now();
    const setting = { tools: [made], clock, log: (sentence: string) => logged.push(sentence) };
    const { outcome, text } = await runInVirtualTime(clock, callTool(setting, 'look', { path: 'a' }));
    expect(clock.now() - begin).toBe(500);
    expect(outcome).toMatchObject({ stage: 'timeout', isError: true });
    expect(text).toContain('0.5 seconds');
    expect(clock.pending).toBe(0);
  });

  it('B56: leaves a tool behind that ignores its signal, and logs what comes late', async () => {
    const clock = new VirtualClock();
    const logged: string[] = [];
    const abort = new AbortController();
    let finish: (value: string) => void = () => undefined;
    const made = make({
      run: () =>
        new Promise<string>((resolve) => {
          finish = resolve;
          abort.abort();
        }),
    });
    const begin = clock.now();
    const setting = { tools: [made], clock, signal: abort.signal, log: (sentence: string) => logged.push(sentence) };
    const { outcome } = await runInVirtualTime(clock, callTool(setting, 'look', { path: 'a' }));
    expect(outcome.stage).toBe('abort');
    expect(clock.now() - begin).toBe(5_000);
    finish('late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(logged).toEqual([expect.stringContaining('look (toolu_1)')]);
  });

  it('runs nothing after an abort', async () => {
    let ran = false;
    const made = make({
      run: () => {
        ran = true;
        return '';
      },
    });
    const { outcome } = await callTool({ tools: [made], signal: AbortSignal.abort() }, 'look', { path: 'a' });
    expect(outcome.stage).toBe('abort');
    expect(ran).toBe(false);
  });

  it('ends as aborted whichever stage the abort meets', async () => {
    for (const stage of ['validate', 'hook', 'check', 'prompt', 'run', 'after'] as const) {
      const abort = new AbortController();
      const at = (name: string) => (): void => {
        if (name === stage) abort.abort();
      };
      const made = make({
        validate: () => {
          at('validate')();
          return null;
        },
        checkPermission: () => {
          at('check')();
          return { behavior: 'pass' };
        },
        run: () => {
          at('run')();
          return '';
        },
      });
      const { outcome } = await callTool(
        {
          tools: [made],
          mode: 'default',
          signal: abort.signal,
          hooks: { preToolUse: [{ name: 'a', run: at('hook') }], postToolUse: [{ name: 'b', run: at('after') }] },
          canUseTool: async () => {
            at('prompt')();
            return { behavior: 'allow' };
          },
        },
        'look',
        { path: 'a' },
      );
      expect([stage, outcome.stage]).toEqual([stage, 'abort']);
    }
  });

  it('shows progress while the tool runs and none after it', async () => {
    let leak: (text: string) => void = () => undefined;
    const made = make({
      run: (_, { progress }) => {
        leak = progress;
        progress('half');
        return '';
      },
    });
    const { progress } = await callTool({ tools: [made] }, 'look', { path: 'a' });
    leak('late');
    expect(progress).toEqual(['half']);
  });

  it('keeps a long result whole in the store', async () => {
    const store = createMemoryStore();
    const made = make({ maxResultSizeChars: 10_000, run: () => 'y'.repeat(20_000) });
    const { outcome, text } = await callTool({ tools: [made], store }, 'look', { path: 'a' });
    expect(outcome.isError).toBe(false);
    expect(text).toContain('/results/toolu_1.txt');
    expect(store.texts.get('/results/toolu_1.txt')).toHaveLength(20_000);
    expect(outcome.whole).toEqual({ path: '/results/toolu_1.txt', characters: 20_000 });
  });

  it('keeps whole what fits alone, errors and denials too, but nothing of a tool that limits itself', async () => {
    const long = 'y'.repeat(6_000);
    const store = createMemoryStore();
    const whole = { path: '/results/toolu_1.txt', characters: 6_000 };
    const called = (more: Parameters<typeof make>[0], hooks: Partial<Hooks> = {}) =>
      callTool({ tools: [make(more)], store, hooks }, 'look', { path: 'a' });
    const throws = (): never => {
      throw new Error('z'.repeat(1_500));
    };
    expect((await called({ run: () => long })).outcome).toMatchObject({ whole, content: [{ text: long }] });
    expect((await called({ run: () => ({ content: long, isError: true }) })).outcome).toMatchObject({ whole });
    expect((await called({ maxResultSizeChars: 1_000, run: throws })).text).toContain(
      '1,500 characters, is in /results/',
    );
    const denies = { name: 'no', tools: ['look'], run: () => ({ decision: 'deny' as const, reason: long }) };
    const denied = await called({ maxResultSizeChars: 1_000 }, { preToolUse: [denies] });
    expect(denied.text).toContain('is in /results/toolu_1.txt');
    expect(denied.text.length).toBeLessThanOrEqual(1_000);
    const exempt = await called({ maxResultSizeChars: Number.POSITIVE_INFINITY, run: () => long });
    expect(exempt.outcome.whole).toBeNull();
  });

  it('passes on context changes, attachments and the wish to cancel siblings', async () => {
    const change = { type: 'permissionMode' as const, mode: 'plan' as const };
    const attachment = { type: 'text' as const, text: 'more' };
    const run = () => ({
      content: 'no',
      isError: true,
      cancelsSiblings: true,
      contextChanges: [change],
      attachments: [attachment],
    });
    const { outcome } = await callTool({ tools: [make({ run })] }, 'look', { path: 'a' });
    expect(outcome).toMatchObject({ cancelsSiblings: true, contextChanges: [change], attachments: [attachment] });
  });

  it('survives a registry that fails', async () => {
    const deps = {
      ...depsOf({ tools: [] }),
      registry: () => {
        throw new Error('gone');
      },
    };
    const io = {
      clock: new VirtualClock(),
      signal: new AbortController().signal,
      progress() {},
      decided() {},
      notice() {},
      began() {},
    };
    const outcome = await runPipeline(
      { toolUseId: 't', name: 'a', input: {}, shared: emptyShared, decisions: [] },
      deps,
      io,
    );
    expect(outcome).toMatchObject({ stage: 'pipeline', isError: true });
  });
});
