/** Starts tools of the whole state: scheduling, and the count of sub-agents. */
import type { LoopConfig } from '../config.ts';
import type { LoopState, ToolRun } from '../state.ts';
import { endWith, isRunning, schedule } from './schedule.ts';

/** The state with `runs` as its tool runs, and those started that may start; while the model streams, only harmless ones. */
export function scheduleTools(state: LoopState, runs: readonly ToolRun[], config: LoopConfig): LoopState {
  const mode = state.phase === 'streaming' ? 'early' : 'all';
  // A sub-agent never starts early, so nothing is refused before the answer is whole.
  const allowed = mode === 'early' ? runs : refuseBeyond(runs, config.maxSubAgents - state.query.subAgents);
  const toolRuns = schedule(allowed, mode, config);
  const started = toolRuns.filter((run, index) => startsAgent(run) && isRunning(run) && !isRunning(allowed[index]!));
  const query =
    started.length === 0 ? state.query : { ...state.query, subAgents: state.query.subAgents + started.length };
  return { ...state, query, scratch: { ...state.scratch, toolRuns } };
}

function startsAgent({ verdict }: ToolRun): boolean {
  return verdict.startsAgent === true;
}

/** Ends the waiting sub-agents for which no place is left, the last calls first. */
function refuseBeyond(runs: readonly ToolRun[], places: number): readonly ToolRun[] {
  let left = places;
  return runs.map((run) => {
    if (run.status !== 'waiting' || !startsAgent(run)) return run;
    left -= 1;
    return left < 0 ? endWith(run, tooMany) : run;
  });
}

const tooMany = 'Not run: this query has started as many sub-agents as it may (maxSubAgents). Do the work yourself.';
