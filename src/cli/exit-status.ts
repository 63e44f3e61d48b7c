/** Exit statuses of the command. */
import type { Terminal } from '../core/state.ts';
import { isGood } from './format.ts';

export const exitStatus = {
  /** The query completed and the model said that it is done, or spent the token budget it was given; every scenario of `simulate` ran without a violation. */
  done: 0,
  /** The query ended in any other way; a scenario of `simulate` had a violation. */
  notDone: 1,
  /** The command cannot be carried out as it was given. */
  usage: 2,
  /** Interrupted by the user. */
  interrupted: 130,
} as const;

/** The status for how a query ended. */
export function statusOf(terminal: Terminal): number {
  if (isGood(terminal)) return exitStatus.done;
  const isAborted = terminal.reason === 'aborted_streaming' || terminal.reason === 'aborted_tools';
  return isAborted ? exitStatus.interrupted : exitStatus.notDone;
}
