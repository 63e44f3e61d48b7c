/** Performs `runStopHooks`: asks every stop hook whether the model is done. */
import type { StopHook } from '../hooks/hook.ts';
import { runAllStopHooks } from '../hooks/run-stop-hooks.ts';
import type { EffectRunner } from './io.ts';

export interface RunStopHooksDeps {
  readonly hooks: readonly StopHook[];
}

/** Answers with `stopHooks.ended`; a hook that crashes or hangs is a notice and counts as a pass. Posts nothing after a cancel. */
export function runStopHooks(deps: RunStopHooksDeps): EffectRunner<'runStopHooks'> {
  return async ({ id, stopHookActive, messages }, io) => {
    const { errors, prevent, notices } = await runAllStopHooks(deps.hooks, { stopHookActive, messages }, io);
    if (io.signal.aborted) return;
    io.post({ type: 'stopHooks.ended', effectId: id, errors, prevent, notices });
  };
}
