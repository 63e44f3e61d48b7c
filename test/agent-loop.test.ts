import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { assign, createActor, setup, waitFor } from 'xstate';
import { agentLoop, snapshotOf } from '../machines/agent-loop.ts';
import { defaultConfig } from '../src/core/config.ts';
import type { Terminal } from '../src/core/state.ts';
import { loopActors } from '../src/effects/actors.ts';
import { watchPath } from '../src/inspect/watch-path.ts';
import { loopParts } from '../src/loop-parts.ts';
import { scriptedFetch } from '../src/testing/scripted-fetch.ts';
import { ScriptedModel } from '../src/testing/scripted-model.ts';
import { VirtualClock } from '../src/testing/virtual-clock.ts';
import { chartJson, chartMermaid } from './generate.ts';
import { echo } from './support/scripted.ts';

const seed = '00000000-0000-4000-8000-000000000000';

/** The machine with real effects against a script. */
async function machine() {
  const model = new ScriptedModel({
    model: [
      { stream: [{ tool: 'echo', id: 't1', input: { say: 'hi' } }, { stop: 'tool_use' }] },
      { stream: [{ text: 'done' }, { stop: 'end_turn' }] },
    ],
    limits: { contextWindow: 200_000, maxOutput: 64_000 },
    clock: new VirtualClock(),
  });
  const options = {
    prompt: 'go',
    tools: [echo],
    apiKey: 'k',
    baseUrl: 'http://x.invalid',
    fetch: scriptedFetch(model),
  };
  const { config, start, runners } = await loopParts({ ...options, permissionMode: 'bypassPermissions' });
  return { loop: agentLoop.provide({ actors: loopActors(runners) }), model, config, start };
}

describe('agentLoop', () => {
  it('runs in an actor of a user, watched by an inspector', async () => {
    const path: string[] = [];
    const { loop, model, config, start } = await machine();
    const actor = createActor(loop, {
      input: { config, start },
      inspect: watchPath({ onContinue: (name) => path.push(name) }),
    });
    const shown: string[] = [];
    actor.on('*', ({ type }) => shown.push(type));
    actor.start();
    const ended = await waitFor(actor, ({ status }) => status === 'done');
    expect(ended.output).toMatchObject({ reason: 'completed', outcome: 'done', turns: 2 });
    expect(path).toEqual(['next_turn']);
    expect(shown).toEqual(['assistant', 'user', 'assistant']);
    expect(model.violations).toEqual([]);
  });

  it('runs inside a machine of a user', async () => {
    const { loop, config, start } = await machine();
    const parent = setup({
      types: { context: {} as { terminal: Terminal | null } },
      actors: { loop },
    }).createMachine({
      context: { terminal: null },
      initial: 'working',
      states: {
        working: {
          invoke: {
            src: 'loop',
            input: { config, start },
            onDone: { target: 'done', actions: assign({ terminal: ({ event }) => event.output }) },
          },
        },
        done: { type: 'final' },
      },
    });
    const actor = createActor(parent).start();
    const { context } = await waitFor(actor, ({ status }) => status === 'done');
    expect(context.terminal?.reason).toBe('completed');
  });

  it('waits for its first event when it is asked to, and goes on from a snapshot', async () => {
    const { loop, config, start } = await machine();
    const waiting = createActor(loop, { input: { config, start, autoStart: false } }).start();
    expect(waiting.getSnapshot().value).toBe('ready');
    const { state } = waiting.getSnapshot().context;
    const actor = createActor(loop, {
      snapshot: snapshotOf(state, config),
      input: { config, start: state },
    }).start();
    actor.send({ type: 'query.resumed' });
    expect((await waitFor(actor, ({ status }) => status === 'done')).output?.reason).toBe('completed');
  });

  it('says which effect has no actor', async () => {
    const input = { config: defaultConfig, start: { seed, prompt: 'go' } };
    const actor = createActor(agentLoop, { input });
    const failed = new Promise<unknown>((resolve) => actor.subscribe({ error: resolve }));
    actor.start();
    expect(String(await failed)).toContain('No actor for the effect streamModel');
  });

  it('stands in its generated files as it is', async () => {
    const read = (name: string): Promise<string> => readFile(new URL(`../machines/${name}`, import.meta.url), 'utf8');
    expect(await read('agent-loop.json')).toBe(chartJson());
    expect(await read('agent-loop.mmd')).toBe(chartMermaid());
  });
});
