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
  /** Absolute path of the folder that the session works in. */
  readonly cwd: string;
  readonly querySource: string;
}

/** Answers with `stopHooks.ended`; a hook that crashes or hangs is a notice and counts as a pass. Posts nothing after a cancel. */
export function runStopHooks(deps: RunStopHooksDeps): EffectRunner<'runStopHooks'> {
  return async ({ id, stopHookActive, messages, context }, io) => {
    const { clock, signal } = io;
    const ask: AskHook = (work, timeoutMs) => settle(work, { clock, signal, timeoutMs, graceMs: abortGraceMs });
    const { hooks, cwd, querySource } = deps;
    const session = { sessionId: context.queryTracking.chainId, cwd, permissionMode: context.permissionMode };
    const view = { ...session, stopHookActive, messages, querySource };
    const { errors, prevent, notices } = await askStopHooks(hooks, view, ask);
    if (signal.aborted) return;
    io.post({ type: 'stopHooks.ended', effectId: id, errors, prevent, notices });
  };
}
