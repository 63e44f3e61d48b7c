import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/core/json.ts';
import type { ToolDecision } from '../../src/core/state.ts';
import type { CanUseTool, PermissionAnswer, PermissionRequest } from '../../src/tools/can-use-tool.ts';
import { hashInput } from '../../src/tools/hash.ts';
import { type Tool, type ToolDefinition, tool } from '../../src/tools/tool.ts';
import { callTool, emptyShared } from './call-tool.ts';

const schema = z.object({ msg: z.string() });

function make(more: Partial<ToolDefinition<typeof schema>> = {}): Tool {
  return tool({ name: 'send', description: '', input: schema, run: ({ msg }) => `sent ${msg}`, ...more });
}

interface Asked {
  readonly input: JsonObject;
  readonly request: PermissionRequest;
}

function prompt(answer: unknown): { readonly canUseTool: CanUseTool; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const canUseTool: CanUseTool = (_, input, request) => {
    asked.push({ input, request });
    return typeof answer === 'function' ? (answer as () => PermissionAnswer)() : (answer as PermissionAnswer);
  };
  return { canUseTool, asked };
}

function decision(input: JsonObject, answer: JsonObject): ToolDecision {
  return { kind: 'permission', inputHash: hashInput(input), answer };
}

describe('permission in the pipeline', () => {
  it('asks with the reason, a summary and rules that would let it pass', async () => {
    const { canUseTool, asked } = prompt({ behavior: 'allow' });
    const bash = make({
      name: 'Bash',
      permissionTarget: ({ msg }) => ({ type: 'command', command: msg }),
      summary: () => 'sum',
    });
    const { text } = await callTool({ tools: [bash], mode: 'default', canUseTool }, 'Bash', { msg: 'npm test' });
    expect(text).toBe('sent npm test');
    expect(asked[0]?.request).toMatchObject({
      toolUseId: 'toolu_1',
      reason: 'No rule allows "npm test".',
      summary: 'sum',
      suggestions: [{ behavior: 'allow', rule: 'Bash(npm test)' }],
    });
  });

  it.each([
    ['a folder', { type: 'paths', paths: ['/w/src/a.ts'] }, [{ behavior: 'allow', rule: 'send(//w/src/**)' }]],
    ['no folder with odd letters', { type: 'paths', paths: ['/w/s*c/a.ts'] }, []],
    [
      'a rule for each part of a command',
      { type: 'command', command: 'a; b > c' },
      [
        { behavior: 'allow', rule: 'send(a)' },
        { behavior: 'allow', rule: 'send(b)' },
        { behavior: 'allow', rule: 'Edit(//w/c)' },
      ],
    ],
    [
      'what a subcommand of git does with any message',
      { type: 'command', command: 'git commit -m "a * b"' },
      [{ behavior: 'allow', rule: 'send(git commit *)' }],
    ],
    ['nothing for a part that runs anything', { type: 'command', command: 'a; sudo b' }, []],
    ['nothing for a shell', { type: 'command', command: 'bash -c a' }, []],
    ['nothing for code in a word', { type: 'command', command: "python3 -c 'a'" }, []],
    ['nothing for a pattern', { type: 'command', command: 'rm a*' }, []],
    ['nothing for what cannot be told', { type: 'command', command: 'a; $B' }, []],
    ['the tool itself', { type: 'none' }, [{ behavior: 'allow', rule: 'send' }]],
  ] as const)('suggests %s', async (_, target, suggestions) => {
    const { canUseTool, asked } = prompt({ behavior: 'allow' });
    await callTool(
      { tools: [make({ permissionTarget: () => target })], mode: 'default', canUseTool, cwd: '/w' },
      'send',
      { msg: 'a' },
    );
    expect(asked[0]?.request.suggestions).toEqual(suggestions);
  });

  it.each<[string, unknown, string]>([
    ['a denial', { behavior: 'deny' }, 'Denied by the user.'],
    ['a denial with a message', { behavior: 'deny', message: 'use mail' }, 'Denied by the user: use mail'],
    ['a prompt that says nonsense', 'yes', 'answer that is none'],
    [
      'an allowance with a broken rule',
      { behavior: 'allow', addedRules: [{ behavior: 'allow', rule: '(' }] },
      'answer that is none',
    ],
    [
      'a prompt that throws',
      () => {
        throw new Error('no terminal');
      },
      'no terminal',
    ],
  ])('B65: is denied by %s, says why and by whom', async (_, answer, expected) => {
    const { canUseTool } = prompt(answer);
    const { outcome, text } = await callTool({ tools: [make()], mode: 'default', canUseTool }, 'send', { msg: 'a' });
    expect(outcome).toMatchObject({ stage: 'permission', isError: true, interrupt: false });
    expect(text).toContain('send did not run.');
    expect(text).toContain(expected);
  });

  it('passes on that the user wants the turn to end', async () => {
    const { canUseTool } = prompt({ behavior: 'deny', interrupt: true });
    const { outcome } = await callTool({ tools: [make()], mode: 'default', canUseTool }, 'send', { msg: 'a' });
    expect(outcome.interrupt).toBe(true);
  });

  it('denies where nobody is there to ask, and in dontAsk asks nobody', async () => {
    const alone = await callTool({ tools: [make()], mode: 'default' }, 'send', { msg: 'a' });
    expect(alone.text).toContain('Nobody is there to ask');
    const orphan = await callTool({ tools: [make()], mode: 'bubble' }, 'send', { msg: 'a' });
    expect(orphan.text).toContain('Nobody above is there to ask');
    const above = prompt({ behavior: 'allow' });
    expect(
      (await callTool({ tools: [make()], mode: 'bubble', canUseTool: above.canUseTool }, 'send', { msg: 'a' })).text,
    ).toBe('sent a');
    const { canUseTool, asked } = prompt({ behavior: 'allow' });
    const quiet = await callTool({ tools: [make()], mode: 'dontAsk', canUseTool }, 'send', { msg: 'a' });
    expect(quiet.text).toContain('dontAsk');
    expect(asked).toEqual([]);
  });

  it('names the rule or the mode that denies', async () => {
    const rules = [{ behavior: 'deny' as const, rule: 'send' }];
    expect((await callTool({ tools: [make()], rules }, 'send', { msg: 'a' })).text).toContain('"deny send"');
    expect((await callTool({ tools: [make()], mode: 'plan' }, 'send', { msg: 'a' })).text).toContain('plan');
  });

  it('heeds rules that were added while the query ran', async () => {
    const shared = { ...emptyShared, addedRules: [{ behavior: 'deny' as const, rule: 'send' }] };
    expect((await callTool({ tools: [make()], shared }, 'send', { msg: 'a' })).outcome.stage).toBe('permission');
  });

  it('adds the rules that the user gave to the shared context', async () => {
    const rule = { behavior: 'allow' as const, rule: 'send' };
    const { canUseTool } = prompt({ behavior: 'allow', addedRules: [rule] });
    const { outcome } = await callTool({ tools: [make()], mode: 'default', canUseTool }, 'send', { msg: 'a' });
    expect(outcome.contextChanges).toEqual([{ type: 'ruleAdded', rule }]);
  });

  it('runs with the input of the user, checked again', async () => {
    const changed = (updatedInput: JsonObject) => ({
      tools: [make()],
      mode: 'default' as const,
      ...prompt({ behavior: 'allow', updatedInput }),
    });
    expect((await callTool(changed({ msg: 'b' }), 'send', { msg: 'a' })).text).toBe('sent b');
    const wrong = await callTool(changed({ msg: 7 }), 'send', { msg: 'a' });
    expect(wrong.outcome.stage).toBe('permission');
    expect(wrong.text).toContain('The input that the user made does not fit send');
  });

  it('lets no deny rule be evaded by an input of the user', async () => {
    const { canUseTool } = prompt({ behavior: 'allow', updatedInput: { msg: 'rm x' } });
    const bash = make({ name: 'Bash', permissionTarget: ({ msg }) => ({ type: 'command', command: msg }) });
    const rules = [{ behavior: 'deny' as const, rule: 'Bash(rm *)' }];
    const { outcome } = await callTool({ tools: [bash], mode: 'default', canUseTool, rules }, 'Bash', { msg: 'ls' });
    expect(outcome.stage).toBe('permission');
  });

  it('gives prompts a copy: what they do to it changes nothing', async () => {
    const canUseTool: CanUseTool = (_, input) => {
      (input as Record<string, string>)['msg'] = 'evil';
      return { behavior: 'allow' };
    };
    const seen: unknown[] = [];
    const watch = { name: 'watch', run: ({ input }: { input: unknown }) => void seen.push(input) };
    const setting = { tools: [make()], mode: 'default' as const, canUseTool, hooks: { postToolUse: [watch] } };
    expect((await callTool(setting, 'send', { msg: 'a' })).text).toBe('sent a');
    expect(seen).toEqual([{ msg: 'a' }]);
  });

  it('treats a check of the tool that fails as a question', async () => {
    const { canUseTool, asked } = prompt({ behavior: 'allow' });
    for (const checkPermission of [
      () => {
        throw new Error('boom');
      },
      () => 'yes' as never,
    ]) {
      await callTool(
        { tools: [make({ checkPermission, isReadOnly: () => true })], mode: 'default', canUseTool },
        'send',
        { msg: 'a' },
      );
    }
    expect(asked.map(({ request }) => request.reason)).toEqual([
      "The tool's own check failed: boom",
      "The tool's own check gave no answer.",
    ]);
  });

  it('lets a tool leave the workspace only when something allowed that', async () => {
    const outside = (more: Partial<ToolDefinition<typeof schema>>): Tool =>
      make({
        isReadOnly: () => true,
        checkPermission: () => ({ behavior: 'ask', reason: 'outside' }),
        run: (_, { outsideAllowed }) => String(outsideAllowed),
        ...more,
      });
    const { canUseTool } = prompt({ behavior: 'allow' });
    const rules = [{ behavior: 'allow' as const, rule: 'send' }];
    const run = (setting: Parameters<typeof callTool>[0]) =>
      callTool(setting, 'send', { msg: 'a' }).then(({ text }) => text);
    expect(await run({ tools: [outside({})], mode: 'default', canUseTool })).toBe('true');
    expect(await run({ tools: [outside({})], mode: 'default', rules })).toBe('true');
    expect(await run({ tools: [outside({})] })).toBe('true');
    expect(await run({ tools: [outside({ checkPermission: () => ({ behavior: 'pass' }) })] })).toBe('false');
    expect(await run({ tools: [outside({})], mode: 'default' })).toContain('did not run');
  });
});

describe('recorded decisions', () => {
  it('are told before the tool runs, with the hash of the input', async () => {
    const order: string[] = [];
    const { canUseTool } = prompt({ behavior: 'allow' });
    const made = make({
      run: () => {
        order.push('run');
        return '';
      },
    });
    const { decisions } = await callTool({ tools: [made], mode: 'default', canUseTool }, 'send', { msg: 'a' });
    expect(decisions).toEqual([
      {
        kind: 'permission',
        inputHash: hashInput({ msg: 'a' }),
        answer: expect.objectContaining({ behavior: 'allow', by: 'user' }) as unknown,
      },
    ]);
    expect(JSON.parse(JSON.stringify(decisions))).toEqual(decisions);
  });

  it('B62: are used without asking again', async () => {
    const { canUseTool, asked } = prompt({ behavior: 'deny' });
    const first = await callTool({ tools: [make()], mode: 'default', ...prompt({ behavior: 'allow' }) }, 'send', {
      msg: 'a',
    });
    const setting = { tools: [make()], mode: 'default' as const, canUseTool };
    const again = await callTool({ ...setting, decisions: first.decisions }, 'send', { msg: 'a' });
    expect(again.text).toBe('sent a');
    expect(asked).toEqual([]);
    const bare = await callTool({ ...setting, decisions: [decision({ msg: 'a' }, { behavior: 'allow' })] }, 'send', {
      msg: 'a',
    });
    expect(bare.text).toBe('sent a');
    const denied = await callTool(
      { ...setting, decisions: [decision({ msg: 'a' }, { behavior: 'deny', reason: 'no' })] },
      'send',
      { msg: 'a' },
    );
    expect(denied.text).toContain('Denied by the user: no');
  });

  it('B63: hold for the input that they were made on, and for no other', async () => {
    const { canUseTool, asked } = prompt({ behavior: 'deny' });
    const decisions = [decision({ msg: 'a' }, { behavior: 'allow' })];
    const { outcome } = await callTool({ tools: [make()], mode: 'default', canUseTool, decisions }, 'send', {
      msg: 'b',
    });
    expect(outcome.stage).toBe('permission');
    expect(asked).toHaveLength(1);
  });

  it('do not hold against a deny rule', async () => {
    const decisions = [decision({ msg: 'a' }, { behavior: 'allow' })];
    const rules = [{ behavior: 'deny' as const, rule: 'send' }];
    expect((await callTool({ tools: [make()], decisions, rules }, 'send', { msg: 'a' })).outcome.stage).toBe(
      'permission',
    );
  });

  it('bring back the input and the rules that the user gave', async () => {
    const rule = { behavior: 'allow' as const, rule: 'send' };
    const answer = { behavior: 'allow', updatedInput: { msg: 'b' }, addedRules: [rule] };
    const first = await callTool({ tools: [make()], mode: 'default', ...prompt(answer) }, 'send', { msg: 'a' });
    const again = await callTool({ tools: [make()], mode: 'default', decisions: first.decisions }, 'send', {
      msg: 'a',
    });
    expect(again.outcome).toEqual(first.outcome);
  });

  it('are made anew when nobody was there to ask, or when they make no sense', async () => {
    const alone = await callTool({ tools: [make()], mode: 'default' }, 'send', { msg: 'a' });
    const { canUseTool } = prompt({ behavior: 'allow' });
    for (const decisions of [alone.decisions, [decision({ msg: 'a' }, { behavior: 'maybe' })]]) {
      expect(
        (await callTool({ tools: [make()], mode: 'default', canUseTool, decisions }, 'send', { msg: 'a' })).text,
      ).toBe('sent a');
    }
  });
});
