/** Performs `runStopHooks`: asks every stop hook whether the model is done. */
import type { StopHook } from '../hooks/hook.ts';
import { askStopHooks } from '../hooks/run-stop-hooks.ts';
import type { AskHook } from '../tools/hook-port.ts';
import { settle } from '../tools/settle.ts';
import type { EffectRunner } from './io.ts';

/** After an abort a hook may clean up for so many milliseconds (a command hook kills its process). */
const abortGraceMs = 5_000;

/** The stop hooks of a query; may be empty. */
export interface RunStopHooksDeps {
  readonly hooks: readonly StopHook[];
}

/** Answers with `stopHooks.ended`; a hook that crashes or hangs is a notice and counts as a pass. Posts nothing after a cancel. */
export function runStopHooks(deps: RunStopHooksDeps): EffectRunner<'runStopHooks'> {
  return async ({ id, stopHookActive, messages }, io) => {
    const { clock, signal } = io;
    const ask: AskHook = (work, timeoutMs) => settle(work, { clock, signal, timeoutMs, graceMs: abortGraceMs });
    const { errors, prevent, notices } = await askStopHooks(deps.hooks, { stopHookActive, messages }, ask);
    if (signal.aborted) return;
    io.post({ type: 'stopHooks.ended', effectId: id, errors, prevent, notices });
  };
}
