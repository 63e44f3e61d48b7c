/** Which effects run in a state. An effect exists because the state says so: there is no second list to keep in step. */
import type { EffectName } from './effect.ts';
import type { LoopState, Phase, ToolRun } from './state.ts';
import { isRunning } from './tools/schedule.ts';

/** The effect that each phase waits for; phases that are missing have none, `runningTools` has one for each tool. */
export const phaseEffects: { readonly [Name in Phase]?: EffectName } = {
  compacting: 'compact',
  streaming: 'streamModel',
  compactingReactively: 'compact',
  attaching: 'collectAttachments',
  runningStopHooks: 'runStopHooks',
};

/** Id of the effect that the phase waits for, or null. */
export function phaseEffectId(state: LoopState): string | null {
  const { scratch } = state;
  switch (phaseEffects[state.phase]) {
    case 'streamModel':
      return scratch.attempt?.effectId ?? null;
    case 'compact':
      return scratch.compaction?.effectId ?? null;
    case undefined:
      return null;
    default:
      return scratch.effectId;
  }
}

/** The tool runs that are under way; they outlive the phase in which they started, but not their attempt. */
export function runningTools(state: LoopState): readonly ToolRun[] {
  const { toolRuns } = state.scratch;
  return toolRuns.some(isRunning) ? toolRuns.filter(isRunning) : none;
}

const none: readonly ToolRun[] = [];

/** True when an answer of the effect is still waited for. */
export function isLive(state: LoopState, effectId: string): boolean {
  if (phaseEffectId(state) === effectId || state.carried.pendingToolUseSummary?.effectId === effectId) return true;
  if (state.query.pendingSpan?.effectId === effectId) return true;
  return state.scratch.toolRuns.some((run) => isRunning(run) && run.effectId === effectId);
}
