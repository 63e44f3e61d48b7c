import { describe, expect, it } from 'vitest';
import type { StopAnswer, StopHook, StopView } from '../../src/hooks/hook.ts';
import { askStopHooks } from '../../src/hooks/run-stop-hooks.ts';
import { runInVirtualTime, VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { AskHook } from '../../src/tools/hook-port.ts';
import { settle } from '../../src/tools/settle.ts';

const view: StopView = {
  stopHookActive: false,
  messages: [],
  querySource: 'sdk',
  sessionId: 's',
  cwd: '/work',
  permissionMode: 'default',
};

function ask(clock = new VirtualClock(), signal = new AbortController().signal): AskHook {
  return (work, timeoutMs) => settle(work, { clock, signal, timeoutMs });
}

function hook(answer: unknown, name = 'lint'): StopHook {
  return { name, run: () => answer as StopAnswer };
}

describe('stop hooks', () => {
  it('agree when they say nothing', async () => {
    const hooks = [hook(undefined), hook(null), hook({}), hook({ block: [] })];
    expect(await askStopHooks(hooks, view, ask())).toEqual({ errors: [], prevent: null, notices: [] });
  });

  it('block and prevent in the order of the list', async () => {
    const hooks = [hook({ block: ['a', 'b'] }), hook({ prevent: 'first' }), hook({ block: ['c'], prevent: 'second' })];
    expect(await askStopHooks(hooks, view, ask())).toEqual({ errors: ['a', 'b', 'c'], prevent: 'first', notices: [] });
  });

  it('never make a blank message', async () => {
    const verdict = await askStopHooks([hook({ block: [''], prevent: ' ' })], view, ask());
    expect(verdict.errors).toEqual(['The stop hook lint blocks and does not say why.']);
    expect(verdict.prevent).toBe('The stop hook lint ended the query.');
  });

  it('B17: pass with a notice when they crash or say nonsense', async () => {
    const crash = {
      name: 'crash',
      run: () => {
        throw new Error('boom');
      },
    };
    const verdict = await askStopHooks([crash, hook({ block: 'no list' }), hook({ block: ['real'] })], view, ask());
    expect(verdict.errors).toEqual(['real']);
    expect(verdict.notices).toEqual([
      'The stop hook crash crashed: boom',
      expect.stringContaining('The stop hook lint gave an answer that is none'),
    ]);
  });

  it('pass with a notice when they hang, each by its own time, side by side', async () => {
    const clock = new VirtualClock();
    const hang = (name: string, timeoutMs?: number): StopHook => ({
      name,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      run: () => new Promise(() => undefined),
    });
    const begin = clock.now();
    const verdict = await runInVirtualTime(clock, askStopHooks([hang('a'), hang('b', 1_000)], view, ask(clock)));
    expect(clock.now() - begin).toBe(60_000);
    expect(verdict.notices).toEqual([
      'The stop hook a gave no answer within 60 seconds.',
      'The stop hook b gave no answer within 1 seconds.',
    ]);
  });

  it('are told whether one has forced a retry before', async () => {
    const seen: boolean[] = [];
    const watch: StopHook = {
      name: 'watch',
      run: ({ stopHookActive }) => {
        seen.push(stopHookActive);
      },
    };
    await askStopHooks([watch], { ...view, stopHookActive: true }, ask());
    expect(seen).toEqual([true]);
  });
});
