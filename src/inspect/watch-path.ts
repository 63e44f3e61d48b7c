/** Follows the chart while it runs: an XState inspector that says which states are passed. */
import type { InspectionEvent } from 'xstate';
import type { ContinueName } from '../core/state.ts';

export interface PathWatcher {
  /** Called with every continue, in order. */
  readonly onContinue?: (name: ContinueName) => void;
  /** Called with every phase that is entered, again each time it is. */
  readonly onPhase?: (phase: string) => void;
}

/** Makes the inspector: give it to `query({ inspect })` or to `createActor`. It watches the first chart, not its sub-agents. */
export function watchPath(watcher: PathWatcher): (event: InspectionEvent) => void {
  let last = '';
  return (event) => {
    if (event.type !== '@xstate.microstep') return;
    // The charts of sub-agents are in the same system, with a path of their own.
    if (event.actorRef.sessionId !== event.rootId) return;
    const { value } = event.snapshot as { readonly value?: unknown };
    if (typeof value === 'object' && value !== null && 'continue' in value) {
      watcher.onContinue?.(value.continue as ContinueName);
      last = '';
    }
    if (typeof value !== 'string' || value === last) return;
    last = value;
    watcher.onPhase?.(value);
  };
}
