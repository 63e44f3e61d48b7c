import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PostToolUseHook, PreToolUseAnswer, PreToolUseHook } from '../../src/hooks/hook.ts';
import { runInVirtualTime, VirtualClock } from '../../src/testing/virtual-clock.ts';
import { hashInput } from '../../src/tools/hash.ts';
import { type Tool, type ToolDefinition, tool } from '../../src/tools/tool.ts';
import { callTool, type Setting } from './call-tool.ts';

const schema = z.object({ path: z.string() });

function make(more: Partial<ToolDefinition<typeof schema>> = {}): Tool {
  return tool({ name: 'look', description: '', input: schema, run: ({ path }) => `saw ${path}`, ...more });
}

function pre(answer: unknown, name = 'guard'): PreToolUseHook {
  return { name, run: () => answer as PreToolUseAnswer };
}

function before(...preToolUse: PreToolUseHook[]): Setting {
  return { tools: [make()], hooks: { preToolUse } };
}

function after(...postToolUse: PostToolUseHook[]): Setting {
  return { tools: [make()], hooks: { postToolUse } };
}

const crash = (): never => {
  throw new Error('boom');
};

describe('PreToolUse hooks', () => {
  it('may let pass, and record that they were asked', async () => {
    const { text, decisions } = await callTool(before(pre(undefined)), 'look', { path: 'a' });
    expect(text).toBe('saw a');
    expect(decisions[0]).toMatchObject({
      kind: 'preToolUse',
      inputHash: hashInput({ path: 'a' }),
      answer: { behavior: 'pass' },
    });
  });

  it('may deny, finally, with a reason that the model reads', async () => {
    const setting = before(
      pre({ decision: 'allow' }, 'first'),
      pre({ decision: 'deny', reason: 'not this one' }),
      pre({ decision: 'allow' }, 'last'),
    );
    const { outcome, text } = await callTool({ ...setting, rules: [{ behavior: 'allow', rule: 'look' }] }, 'look', {
      path: 'a',
    });
    expect(outcome).toMatchObject({ stage: 'preToolUse', isError: true, stop: null });
    expect(text).toBe('look did not run. Denied by the PreToolUse hook guard: not this one');
  });

  it('may ask, and may allow what would be asked', async () => {
    expect((await callTool(before(pre({ decision: 'ask', reason: 'odd' })), 'look', { path: 'a' })).text).toContain(
      'odd Nobody is there to ask',
    );
    expect(
      (await callTool({ ...before(pre({ decision: 'allow' })), mode: 'default' }, 'look', { path: 'a' })).text,
    ).toBe('saw a');
  });

  it('may change the input, one after another; what they make is checked', async () => {
    const add = (letter: string): PreToolUseHook => ({
      name: letter,
      run: ({ input }) => ({ input: { path: `${input['path'] as string}${letter}` } }),
    });
    expect((await callTool(before(add('b'), add('c')), 'look', { path: 'a' })).text).toBe('saw abc');
    const { outcome, text } = await callTool(before(pre({ input: { path: 7 } })), 'look', { path: 'a' });
    expect(outcome.stage).toBe('preToolUse');
    expect(text).toContain('The input that a PreToolUse hook made does not fit look');
  });

  it('make the permission check look at the changed input', async () => {
    const checked: string[] = [];
    const made = make({
      checkPermission: ({ path }) => {
        checked.push(path);
        return { behavior: 'pass' };
      },
    });
    await callTool({ tools: [made], hooks: { preToolUse: [pre({ input: { path: 'b' } })] } }, 'look', { path: 'a' });
    expect(checked).toEqual(['a', 'b']);
  });

  it('do not allow what a later hook makes of the input', async () => {
    const setting = {
      ...before(pre({ decision: 'allow' }), pre({ input: { path: 'b' } }, 'later')),
      mode: 'default' as const,
    };
    expect((await callTool(setting, 'look', { path: 'a' })).outcome.stage).toBe('permission');
    const own = { ...before(pre({ decision: 'allow', input: { path: 'b' } })), mode: 'default' as const };
    expect((await callTool(own, 'look', { path: 'a' })).text).toBe('saw b');
  });

  it('may add context, also to a denial', async () => {
    const { outcome } = await callTool(before(pre({ context: 'the build is red' })), 'look', { path: 'a' });
    expect(JSON.stringify(outcome.attachments)).toContain(
      '<loop-note>On look (toolu_1), PreToolUse hook guard: the build is red</loop-note>',
    );
    const denied = await callTool(before(pre({ context: 'why', decision: 'deny' })), 'look', { path: 'a' });
    expect(denied.outcome.attachments).toHaveLength(1);
  });

  it('B19: may stop the loop: the call does not run', async () => {
    let ran = false;
    const made = make({
      run: () => {
        ran = true;
        return '';
      },
    });
    const { outcome } = await callTool({ tools: [made], hooks: { preToolUse: [pre({ stop: 'enough' })] } }, 'look', {
      path: 'a',
    });
    expect(outcome).toMatchObject({ stage: 'preToolUse', stop: 'enough', isError: true });
    expect(ran).toBe(false);
    expect((await callTool(before(pre({ stop: '' })), 'look', { path: 'a' })).outcome.stop).toBe(
      'The hook guard stopped the loop.',
    );
  });

  it('are asked about the tools that they name', async () => {
    const hook = { ...pre({ decision: 'deny' }), tools: ['other'] };
    expect((await callTool(before(hook), 'look', { path: 'a' })).text).toBe('saw a');
    expect((await callTool(before({ ...hook, tools: ['look'] }), 'look', { path: 'a' })).outcome.stage).toBe(
      'preToolUse',
    );
  });

  it.each<[string, PreToolUseHook, RegExp]>([
    ['throws', { name: 'guard', run: crash }, /guard crashed: boom/],
    ['says nonsense', pre('yes'), /answer that is none/],
    ['misspells its answer', pre({ decison: 'deny' }), /answer that is none/],
    ['decides what nobody knows', pre({ decision: 'block' }), /answer that is none/],
  ])('are a notice and a question when one %s, but no block', async (_, hook, notice) => {
    const bypass = await callTool(before(hook), 'look', { path: 'a' });
    expect(bypass.text).toBe('saw a');
    expect(bypass.notices[0]).toMatch(notice);
    const canUseTool = async () => ({ behavior: 'allow' as const });
    expect((await callTool({ ...before(hook), mode: 'default', canUseTool }, 'look', { path: 'a' })).text).toBe(
      'saw a',
    );
    const alone = await callTool(
      { ...before(hook), mode: 'default', rules: [{ behavior: 'allow', rule: 'look' }] },
      'look',
      { path: 'a' },
    );
    expect(alone.outcome.stage).toBe('permission');
  });

  it('are given up after a minute on the clock of the engine', async () => {
    const clock = new VirtualClock();
    const begin = clock.now();
    const hook = { name: 'slow', run: () => new Promise<undefined>(() => undefined) };
    const { text, notices } = await runInVirtualTime(
      clock,
      callTool({ ...before(hook), clock }, 'look', { path: 'a' }),
    );
    expect(clock.now() - begin).toBe(60_000);
    expect(text).toBe('saw a');
    expect(notices[0]).toContain('no answer within 60 seconds');
  });

  it('cannot change the input behind the back of the engine', async () => {
    const hook: PreToolUseHook = {
      name: 'sly',
      run: ({ input }) => {
        (input as Record<string, string>)['path'] = 'evil';
      },
    };
    const { text, decisions } = await callTool(before(hook), 'look', { path: 'a' });
    expect(text).toBe('saw a');
    expect(decisions.map(({ inputHash }) => inputHash)).toEqual([hashInput({ path: 'a' }), hashInput({ path: 'a' })]);
  });

  it('are not asked again about the same input after a crash, but about another one they are', async () => {
    const first = await callTool(before(pre({ decision: 'deny', reason: 'once' })), 'look', { path: 'a' });
    const setting = { ...before({ name: 'guard', run: crash }), decisions: first.decisions };
    expect((await callTool(setting, 'look', { path: 'a' })).text).toContain('once');
    expect((await callTool(setting, 'look', { path: 'b' })).notices).toHaveLength(1);
    const crashed = await callTool(before({ name: 'guard', run: crash }), 'look', { path: 'a' });
    expect(
      (await callTool({ ...before(pre({ decision: 'deny' })), decisions: crashed.decisions }, 'look', { path: 'a' }))
        .outcome.stage,
    ).toBe('preToolUse');
  });
});

describe('PostToolUse hooks', () => {
  it('see what the tool gave and may add context', async () => {
    const seen: unknown[] = [];
    const hook: PostToolUseHook = {
      name: 'format',
      run: (call) => {
        seen.push(call);
        return { context: 'formatted' };
      },
    };
    const { outcome, text } = await callTool(after(hook), 'look', { path: 'a' });
    expect(seen).toEqual([
      expect.objectContaining({ toolName: 'look', isError: false, content: [{ type: 'text', text: 'saw a' }] }),
    ]);
    expect(text).toBe('saw a');
    expect(outcome.stage).toBe('run');
    expect(JSON.stringify(outcome.attachments)).toContain('PostToolUse hook format: formatted');
  });

  it('may stop the loop; the result stays', async () => {
    const { outcome, text } = await callTool(after({ name: 'a', run: () => ({ stop: 'enough' }) }), 'look', {
      path: 'a',
    });
    expect(outcome).toMatchObject({ stage: 'postToolUse', isError: false, stop: 'enough' });
    expect(text).toBe('saw a');
  });

  it('B20: make an error result that carries the output when one crashes', async () => {
    const change = { type: 'fileRead' as const, path: '/a', record: { mtimeMs: 1, hash: 'h', partial: false } };
    const made = make({ run: () => ({ content: 'done', contextChanges: [change] }) });
    const hooks = {
      postToolUse: [
        { name: 'format', run: crash },
        { name: 'fine', run: () => ({ context: 'c' }) },
      ],
    };
    const { outcome, text, notices } = await callTool({ tools: [made], hooks }, 'look', { path: 'a' });
    expect(outcome).toMatchObject({ stage: 'postToolUse', isError: true, stop: null, contextChanges: [change] });
    expect(text).toContain('The PostToolUse hook format crashed: boom');
    expect(text).toContain('done');
    expect(notices).toHaveLength(1);
    expect(outcome.attachments).toHaveLength(1);
  });

  it('run after a failure of the tool, and not when it never ran', async () => {
    const seen: boolean[] = [];
    const hooks = {
      postToolUse: [
        {
          name: 'a',
          run: ({ isError }: { isError: boolean }) => {
            seen.push(isError);
          },
        },
      ],
    };
    await callTool({ tools: [make({ run: crash })], hooks }, 'look', { path: 'a' });
    await callTool({ tools: [make()], hooks, mode: 'plan' }, 'look', { path: 'a' });
    await callTool({ tools: [make()], hooks }, 'look', { path: 7 });
    expect(seen).toEqual([true]);
  });

  it('run side by side', async () => {
    const clock = new VirtualClock();
    const begin = clock.now();
    const slow = (name: string): PostToolUseHook => ({
      name,
      run: () => new Promise((resolve) => void clock.schedule(() => resolve(undefined), 1_000)),
    });
    await runInVirtualTime(clock, callTool({ ...after(slow('a'), slow('b')), clock }, 'look', { path: 'a' }));
    expect(clock.now() - begin).toBe(1_000);
  });

  it('stand behind what PreToolUse hooks said', async () => {
    const hooks = {
      preToolUse: [pre({ context: 'one' })],
      postToolUse: [{ name: 'a', run: () => ({ context: 'two' }) }],
    };
    const { outcome } = await callTool({ tools: [make()], hooks }, 'look', { path: 'a' });
    expect(outcome.attachments.map((block) => (block.type === 'text' ? block.text : ''))).toEqual([
      expect.stringContaining('one'),
      expect.stringContaining('two'),
    ]);
  });
});
