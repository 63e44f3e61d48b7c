import { describe, expect, it } from 'vitest';
import type { EffectOf } from '../../src/core/effect.ts';
import { runStopHooks } from '../../src/effects/run-stop-hooks.ts';
import { runInVirtualTime } from '../../src/testing/virtual-clock.ts';
import { testIo } from './effect-io.ts';

const effect: EffectOf<'runStopHooks'> = {
  type: 'runStopHooks',
  id: 'stop-1',
  stopHookActive: true,
  messages: [],
  context: {
    permissionMode: 'default',
    addedRules: [],
    filesRead: {},
    depth: 0,
    queryTracking: { chainId: 's', depth: 0 },
  },
};
const place = { cwd: '/work', querySource: 'sdk' };

describe('runStopHooks', () => {
  it('answers once, with what the hooks say', async () => {
    const io = testIo();
    const hooks = [
      { name: 'lint', run: () => ({ block: ['3 errors'] }) },
      {
        name: 'crash',
        run: () => {
          throw new Error('boom');
        },
      },
    ];
    await runStopHooks({ hooks, ...place })(effect, io);
    expect(io.events).toEqual([
      {
        type: 'stopHooks.ended',
        effectId: 'stop-1',
        errors: ['3 errors'],
        prevent: null,
        notices: ['The stop hook crash crashed: boom'],
      },
    ]);
  });

  it('posts nothing after a cancel, whatever the hooks do', async () => {
    const io = testIo();
    let told = false;
    const polite = {
      name: 'a',
      run: (_: unknown, signal: AbortSignal) =>
        new Promise<undefined>((resolve) =>
          signal.addEventListener('abort', () => {
            told = true;
            resolve(undefined);
          }),
        ),
    };
    const stubborn = { name: 'b', run: () => new Promise<undefined>(() => undefined) };
    const running = runStopHooks({ hooks: [polite, stubborn], ...place })(effect, io);
    io.abort();
    await runInVirtualTime(io.clock, running);
    expect(told).toBe(true);
    expect(io.events).toEqual([]);
    expect(io.clock.pending).toBe(0);
  });
});
