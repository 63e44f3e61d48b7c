/** The hooks around a query, wired into `query()`. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { sessionFacts } from '../src/core/session-facts.ts';
import type { Hooks, HookSession } from '../src/hooks/hook.ts';
import type { ModelEntry } from '../src/testing/scenario.ts';
import { runInVirtualTime } from '../src/testing/virtual-clock.ts';
import { drain, echo, scriptedQuery } from './support/scripted.ts';

const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };
const useEcho: ModelEntry = { stream: [{ tool: 'echo', id: 't1', input: {} }, { stop: 'tool_use' }] };

const crash = (): never => {
  throw new Error('boom');
};

/** What the model was asked, as one text. */
function asked(requests: readonly unknown[]): string {
  return JSON.stringify(requests);
}

describe('UserPromptSubmit hooks', () => {
  it('may block: the query ends without a call, and the prompt is left out of later requests', async () => {
    const hooks: Partial<Hooks> = { userPromptSubmit: [{ name: 'guard', run: () => ({ block: 'no passwords' }) }] };
    const { query, model } = scriptedQuery([done], { prompt: 'my password is x', hooks });
    const { terminal } = await drain(query);
    expect(terminal).toMatchObject({ reason: 'hook_stopped', detail: 'no passwords', modelCalls: 0 });
    expect(model.requests).toHaveLength(0);
    expect(query.state?.carried.messages.at(-1)?.refused).toBe(true);
  });

  it('may add context behind the prompt', async () => {
    const prompts: string[] = [];
    const hooks: Partial<Hooks> = {
      userPromptSubmit: [
        {
          name: 'date',
          run: ({ prompt }) => {
            prompts.push(prompt);
            return { context: 'today is Monday' };
          },
        },
      ],
    };
    const { query, model } = scriptedQuery([useEcho, done], { prompt: 'go on', hooks });
    expect((await drain(query)).terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
    expect(prompts).toEqual(['go on']);
    expect(model.violations).toEqual([]);
    expect(model.requests.map((request) => asked([request]).includes('today is Monday'))).toEqual([true, true]);
    expect(query.state?.carried.messages[1]).toMatchObject({ role: 'user', origin: 'attachment' });
  });

  it('that crash or hang are a notice and a pass', async () => {
    const hooks: Partial<Hooks> = {
      userPromptSubmit: [
        { name: 'a', run: crash },
        { name: 'b', timeoutMs: 1_000, run: () => new Promise(() => {}) },
      ],
    };
    const { query, clock } = scriptedQuery([done], { hooks });
    const { terminal, emitted } = await runInVirtualTime(clock, drain(query));
    expect(terminal.outcome).toBe('done');
    expect(emitted.filter((item) => item.type === 'notice').map((item) => item.text)).toEqual([
      'The UserPromptSubmit hook a crashed: boom',
      'The UserPromptSubmit hook b gave no answer within 1 seconds.',
    ]);
  });

  it('are cancelled by an interruption, which makes no call', async () => {
    let cancelled = false;
    const hooks: Partial<Hooks> = {
      userPromptSubmit: [
        {
          name: 'slow',
          run: (_view, signal) =>
            new Promise((resolve) =>
              signal.addEventListener('abort', () => {
                cancelled = true;
                resolve(undefined);
              }),
            ),
        },
      ],
    };
    const { query, model } = scriptedQuery([done], { hooks });
    const ended = drain(query);
    for (let round = 0; round < 20; round += 1) await setImmediate();
    query.interrupt();
    expect((await ended).terminal.reason).toBe('aborted_streaming');
    expect(cancelled).toBe(true);
    expect(model.requests).toHaveLength(0);
  });

  it('are not asked about the work of a sub-agent, a compaction by hand, or a query without a prompt', async () => {
    let asks = 0;
    const count = (): void => void (asks += 1);
    const hooks: Partial<Hooks> = { userPromptSubmit: [{ name: 'count', run: count }] };
    await drain(scriptedQuery([done], { hooks, querySource: 'agent:helper' }).query);
    const first = scriptedQuery([done]).query;
    await drain(first);
    const messages = first.state?.carried.messages ?? [];
    const { prompt: _, ...rest } = { prompt: 'x' };
    await drain(scriptedQuery([done], { ...rest, messages, prompt: undefined as never, hooks }).query);
    expect(asks).toBe(0);
  });
});

describe('SessionStart hooks', () => {
  it('are asked when a conversation begins and when a stored one is taken up, not while it goes on', async () => {
    const sources: string[] = [];
    const hooks: Partial<Hooks> = {
      sessionStart: [
        { name: 'all', run: ({ source }) => void sources.push(source) },
        { name: 'startup', causes: ['startup'], run: () => ({ context: 'the branch is main' }) },
      ],
    };
    const first = scriptedQuery([done], { hooks });
    await drain(first.query);
    expect(asked(first.model.requests)).toContain('the branch is main');
    const state = first.query.state!;
    const { messages, toolUseContext } = state.carried;
    const stored = scriptedQuery([done], { hooks, messages });
    await drain(stored.query);
    await drain(scriptedQuery([done], { hooks, messages, toolUseContext, session: sessionFacts(state) }).query);
    expect(sources).toEqual(['startup', 'resume']);
  });
});

describe('hooks around a compaction', () => {
  it('are told before it and after it, with what was asked for and what came of it', async () => {
    const told: unknown[] = [];
    const hooks: Partial<Hooks> = {
      preCompact: [
        {
          name: 'before',
          run: ({ trigger, instructions }) => {
            told.push(['before', trigger, instructions]);
            return { notices: ['saved'] };
          },
        },
        { name: 'other', causes: ['auto'], run: () => void told.push('never') },
      ],
      postCompact: [{ name: 'after', run: ({ trigger, summary }) => void told.push(['after', trigger, summary]) }],
    };
    const words = 'word '.repeat(2_000);
    const messages = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0
        ? {
            role: 'user' as const,
            id: `m${index}`,
            origin: 'user' as const,
            content: [{ type: 'text' as const, text: words }],
            refused: false,
          }
        : {
            role: 'assistant' as const,
            id: `m${index}`,
            model: 'scripted',
            content: [{ type: 'text' as const, text: words }],
            refused: false,
          },
    );
    const { query } = scriptedQuery([], {
      messages,
      prompt: undefined as never,
      compact: { instructions: 'keep names' },
      hooks,
      deps: {
        compact: async ({ id }, { post }) => {
          const usage = { input: 1, output: 1, cacheRead: 0, cacheCreation: 0 };
          told.push('summary');
          post({ type: 'compact.answered', effectId: id, text: 'short', block: null, stopReason: 'end_turn', usage });
        },
      },
    });
    const { terminal, emitted } = await drain(query);
    await query.background;
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
    expect(told.slice(0, 2)).toEqual([['before', 'manual', 'keep names'], 'summary']);
    expect(told[2]).toEqual(['after', 'manual', expect.stringContaining('short')]);
    expect(told).toHaveLength(3);
    expect(emitted).toContainEqual({ type: 'notice', text: 'PreCompact hook before: saved' });
  });
});

describe('Notification hooks', () => {
  it('are told that the user is asked, and hold nothing up', async () => {
    const told: unknown[] = [];
    const hooks: Partial<Hooks> = {
      notification: [
        {
          name: 'bell',
          run: ({ message, kind }) => {
            told.push([message, kind]);
            return new Promise(() => {});
          },
        },
      ],
    };
    const { isReadOnly: _, ...changes } = echo;
    const writes = { ...changes, isReadOnly: () => false };
    const { query, clock } = scriptedQuery([useEcho, done], {
      tools: [writes],
      permissionMode: 'default',
      canUseTool: () => ({ behavior: 'allow' }),
      hooks,
    });
    expect((await drain(query)).terminal.outcome).toBe('done');
    expect(told).toEqual([['Permission is needed to use echo', 'permission_prompt']]);
    await runInVirtualTime(clock, query.background);
    expect(clock.pending).toBe(0);
  });
});

describe('hooks at the end', () => {
  it('of a sub-agent are those of sub-agents', async () => {
    const stops: string[] = [];
    const hooks: Partial<Hooks> = {
      stop: [{ name: 'top', run: () => void stops.push('top') }],
      subagentStop: [{ name: 'sub', run: ({ querySource }) => void stops.push(querySource) }],
    };
    await drain(scriptedQuery([done], { hooks }).query);
    await drain(scriptedQuery([done], { hooks, querySource: 'agent:helper' }).query);
    expect(stops).toEqual(['top', 'agent:helper']);
  });

  it('work in the background after the answer, which does not wait for them', async () => {
    let finish = (): void => {};
    const seen: (HookSession & { readonly messages: readonly unknown[] })[] = [];
    const hooks: Partial<Hooks> = {
      afterAnswer: [
        {
          name: 'memory',
          run: (view) => {
            seen.push(view);
            return new Promise((resolve) => {
              finish = () => resolve(undefined);
            });
          },
        },
        { name: 'broken', run: crash },
      ],
    };
    const logged: string[] = [];
    const { query } = scriptedQuery([done], { hooks, log: (sentence) => logged.push(sentence) });
    const { terminal } = await drain(query);
    expect(terminal.outcome).toBe('done');
    expect(seen[0]?.messages).toHaveLength(2);
    let settled = false;
    const background = query.background.then(() => (settled = true));
    for (let round = 0; round < 20; round += 1) await setImmediate();
    expect(settled).toBe(false);
    finish();
    await background;
    expect(logged).toEqual(['The afterAnswer hook broken crashed: boom']);
  });

  it('do not work after an abort or an error', async () => {
    let runs = 0;
    const hooks: Partial<Hooks> = { afterAnswer: [{ name: 'memory', run: () => void (runs += 1) }] };
    await drain(scriptedQuery([{ status: 400, message: 'no' }], { hooks }).query);
    const aborted = scriptedQuery([done], { hooks }).query;
    aborted.interrupt();
    await drain(aborted);
    expect(runs).toBe(0);
  });
});

describe('PostToolUse hooks', () => {
  it('may put something in the place of the output of an MCP tool, and of no other', async () => {
    const hooks: Partial<Hooks> = { postToolUse: [{ name: 'redact', run: () => ({ output: 'redacted' }) }] };
    const results: string[] = [];
    for (const name of ['mcp__a__b', 'echo']) {
      const use: ModelEntry = { stream: [{ tool: name, id: 't1', input: {} }, { stop: 'tool_use' }] };
      const { query } = scriptedQuery([use, done], { tools: [{ ...echo, name }], hooks });
      await drain(query);
      results.push(JSON.stringify(query.state?.carried.messages[2]?.content));
    }
    expect(results[0]).toContain('redacted');
    expect(results[1]).not.toContain('redacted');
  });
});
