/** Every arrow of every transition in the one order that counts: the first that allows an event is taken. */
import { continues } from './continue.ts';
import { inside, type InsideName } from './inside.ts';
import type { ContinueName, Phase, TerminalName } from './state.ts';
import { terminals } from './terminal.ts';
import type { Arrow, Transition, Trigger } from './transition.ts';

export type RowKind = 'continue' | 'terminal' | 'inside';

/** An arrow with the name of its transition. */
export interface Row {
  readonly kind: RowKind;
  readonly transition: ContinueName | TerminalName | InsideName;
  /** `transition.arrow`: unique, and what the chart and the coverage of the rows call it. */
  readonly name: string;
  readonly why: string;
  readonly arrow: Arrow;
}

/** Rows of the arrows that are named, or of all arrows of the transition. */
function rows(
  kind: RowKind,
  transition: Row['transition'],
  { why, arrows }: Transition,
  names: readonly string[],
): readonly Row[] {
  const chosen = names.length === 0 ? Object.keys(arrows) : names;
  return chosen.map((name) => {
    const arrow = arrows[name];
    if (arrow === undefined) throw new Error(`The table names an arrow that does not exist: ${transition}.${name}`);
    return { kind, transition, name: `${transition}.${name}`, why, arrow };
  });
}

const move = (name: InsideName, ...names: string[]): readonly Row[] => rows('inside', name, inside[name], names);
const goOn = (name: ContinueName, ...names: string[]): readonly Row[] => rows('continue', name, continues[name], names);
const stop = (name: TerminalName, ...names: string[]): readonly Row[] => rows('terminal', name, terminals[name], names);

export const table: readonly Row[] = [
  // Whatever the phase: answers that nobody waits for change nothing; an abort beats everything else.
  move('late_ignored'),
  stop('aborted_streaming'),
  stop('aborted_tools', 'aborted'),
  move('message_queued'),
  move('summary_shown'),
  move('span_staged'),
  stop('completed', 'costBeforeResuming'),
  move('resumed'),

  // ready
  stop('hook_stopped', 'promptBlocked'),
  move('started'),

  // preparing: the cost, layers, compact, refuse, send
  stop('completed', 'costBeforeRequest'),
  move('compaction_began', 'byHand'),
  stop('completed', 'nothingToCompact'),
  move('context_layered'),
  move('span_requested'),
  stop('blocking_limit', 'refilled', 'hopeless'),
  move('compaction_began', 'overThreshold'),
  stop('blocking_limit', 'full'),
  move('request_refused'),
  move('request_sent'),

  // compacting; what the user asked for ends the query
  stop('completed', 'compacted'),
  move('compaction_worked'),
  move('compaction_shrunk', 'proactive'),
  stop('prompt_too_long', 'notCompacted'),
  stop('completed', 'compactionRefused'),
  stop('model_error', 'notCompacted', 'summaryUnusable'),
  move('compaction_failed'),

  // streaming; a denial that ends the turn, while tools run too
  move('block_reported'),
  move('clearing_shown'),
  move('attempt_ended'),
  move('tool_reported'),
  move('decision_recorded'),
  stop('aborted_tools', 'denied'),

  // settling, 0: the answer is none, or none that can be used
  stop('completed', 'refusal'),
  stop('hook_stopped', 'earlyToolHook'),
  stop('completed', 'costBeforeAsking'),
  move('fell_back'),
  move('retried'),
  move('pause_resent'),
  move('malformed_reasked'),
  move('thinking_only_reasked'),
  move('output_reasked'),
  stop('completed', 'empty', 'invalidOutput'),
  move('max_tokens_lowered'),
  move('thinking_stripped'),
  stop('model_error', 'retriesSpent'),
  // 1: tools
  move('tools_started'),
  // 2 and 3: it does not fit
  goOn('collapse_drain_retry'),
  move('media_replaced'),
  stop('blocking_limit', 'refilledReactively'),
  move('reactive_compaction_began'),
  stop('prompt_too_long', 'noRungLeft'),
  stop('image_error', 'noRungLeft'),
  // 4: the output limit
  goOn('max_output_tokens_escalate'),
  goOn('max_output_tokens_recovery'),
  stop('completed', 'outputLimit'),
  // 5: the API answered and asking again cannot help; stop hooks are not asked
  stop('completed', 'apiError'),
  // 6: done
  move('stop_hooks_asked'),
  move('stop_hooks_skipped'),

  // compactingReactively
  goOn('reactive_compact_retry'),
  move('compaction_shrunk', 'reactive'),
  stop('prompt_too_long', 'compactionAnswered', 'compactionFailed'),
  stop('image_error', 'compactionAnswered', 'compactionFailed'),

  // runningTools: a hook that ends the loop, all done
  stop('hook_stopped', 'toolHook'),
  move('tools_done'),

  // attaching
  move('attachments_collected'),

  // advancing
  stop('max_turns'),
  stop('completed', 'costBeforeTurn'),
  goOn('next_turn'),

  // runningStopHooks
  stop('stop_hook_prevented'),
  stop('completed', 'costBeforeBlock'),
  goOn('stop_hook_blocking'),
  stop('completed', 'stopHookLimit'),
  move('stop_hooks_passed'),

  // budgeting
  stop('completed', 'costBeforeNudge'),
  goOn('token_budget_continuation'),
  stop('completed', 'budgetSpent', 'done'),
].flat();

type RowIndex = { [Name in Phase]?: { [On in Trigger]?: Row[] } };

const index: RowIndex = {};
for (const row of table) {
  for (const phase of row.arrow.from) {
    const byTrigger = (index[phase] ??= {});
    (byTrigger[row.arrow.on] ??= []).push(row);
  }
}

const noRows: readonly Row[] = [];

/** The rows that may answer `trigger` in `phase`, in their order. */
export function rowsFor(phase: Phase, trigger: Trigger): readonly Row[] {
  return index[phase]?.[trigger] ?? noRows;
}
