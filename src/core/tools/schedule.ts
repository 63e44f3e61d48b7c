/** Which tools may start now. Order of the calls is never changed, only how many run beside each other. */
import type { LoopConfig } from '../config.ts';
import type { ToolOutcome, ToolRun, ToolVerdict } from '../state.ts';

/** `early`: the stop reason is not known yet, so only tools that can do no harm start. */
export type ScheduleMode = 'early' | 'all';

export function isRunning(run: ToolRun): boolean {
  return run.status === 'running';
}

export function isEnded(run: ToolRun): boolean {
  return run.status === 'ended';
}

/** True when a hook or the user wants no further tool to start. */
function isHeld(runs: readonly ToolRun[]): boolean {
  return runs.some((run) => run.outcome !== null && (run.outcome.stop !== null || run.outcome.interrupt));
}

/** Indexes of the waiting runs that may start now, in the order of the calls. */
function startable(runs: readonly ToolRun[], mode: ScheduleMode, limit: number): readonly number[] {
  if (isHeld(runs)) return [];
  const started: number[] = [];
  let running = 0;
  let allSafe = true;
  for (const run of runs) {
    if (!isRunning(run)) continue;
    running += 1;
    allSafe &&= run.verdict.concurrencySafe;
  }
  for (let index = 0; index < runs.length; index += 1) {
    const { status, verdict } = runs[index]!;
    if (status !== 'waiting') continue;
    const fits = running < limit && (running === 0 || (verdict.concurrencySafe && allSafe));
    // A tool that must wait holds back those behind it: they may depend on what it does.
    if (!fits || (mode === 'early' && !isHarmless(verdict))) break;
    started.push(index);
    running += 1;
    allSafe &&= verdict.concurrencySafe;
  }
  return started;
}

/** True when it does not matter that it ran for an answer that is dropped. A sub-agent costs too much for that. */
function isHarmless({ concurrencySafe, readOnly, startsAgent }: ToolVerdict): boolean {
  return concurrencySafe && readOnly && startsAgent !== true;
}

/** Starts what may start. */
export function schedule(runs: readonly ToolRun[], mode: ScheduleMode, config: LoopConfig): readonly ToolRun[] {
  const starting = startable(runs, mode, Math.max(1, config.toolConcurrency));
  if (starting.length === 0) return runs;
  return runs.map((run, index) => (starting.includes(index) ? { ...run, status: 'running' as const } : run));
}

/** Puts an outcome on its run and ends what it makes pointless. */
export function recordOutcome(runs: readonly ToolRun[], toolUseId: string, outcome: ToolOutcome): readonly ToolRun[] {
  const cancels = outcome.isError && outcome.cancelsSiblings;
  const failed = runs.find((run) => run.toolUseId === toolUseId);
  return runs.map((run) => {
    if (run.toolUseId === toolUseId) return { ...run, status: 'ended' as const, outcome };
    if (!isRunning(run)) return run;
    if (outcome.interrupt) return endWith(run, 'Cancelled: the user denied another tool use and ended the turn.');
    if (cancels) return endWith(run, `Cancelled: ${failed?.name ?? 'a tool'}, which ran beside this one, failed.`);
    return run;
  });
}

/** Ends every run that has no outcome with an error result that says why. */
export function endAll(runs: readonly ToolRun[], why: (run: ToolRun) => string): readonly ToolRun[] {
  return runs.map((run) => (isEnded(run) ? run : endWith(run, why(run))));
}

/** Ends a run with an error result that says why. */
export function endWith(run: ToolRun, text: string): ToolRun {
  return { ...run, status: 'ended', outcome: syntheticOutcome(text) };
}

/** An error result that the loop makes up, since no tool gave one. */
export function syntheticOutcome(text: string): ToolOutcome {
  return {
    content: [{ type: 'text', text }],
    isError: true,
    whole: null,
    stage: 'loop',
    cancelsSiblings: false,
    contextChanges: [],
    attachments: [],
    notices: [],
    stop: null,
    interrupt: false,
  };
}
