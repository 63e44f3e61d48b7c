/** What must hold whenever a tool starts, whatever the outside did. */
import { runningTools } from '../core/running.ts';
import type { LoopState } from '../core/state.ts';

/** The laws that the start of a call breaks, one sentence each. `state` is the state in which it starts. */
export function brokenStarts(state: LoopState, toolUseId: string): readonly string[] {
  const running = runningTools(state);
  const started = running.find((run) => run.toolUseId === toolUseId);
  // What was dropped meanwhile starts in a state that knows nothing of it; its signal is aborted.
  if (started === undefined) return [];
  const { concurrencySafe, readOnly } = started.verdict;
  const isEarly = state.phase === 'streaming';
  const isAlone = running.length === 1;
  return [
    ...(isEarly && !(concurrencySafe && readOnly) ? [`The call ${toolUseId} could do harm and started early.`] : []),
    ...(isAlone || running.every(({ verdict }) => verdict.concurrencySafe)
      ? []
      : [`The call ${toolUseId} runs beside others, and one of them is not safe to.`]),
  ];
}
