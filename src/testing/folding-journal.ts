/** A journal of bounded size: it keeps the state that its events lead to in the place of the events. */
import type { LoopConfig } from '../core/config.ts';
import type { LoopState } from '../core/state.ts';
import { step } from '../core/step.ts';
import { type Journal, memoryJournal, type RecordedQuery } from '../session/journal.ts';

/** A journal whose record begins with the newest state and holds no event: it replays to what the whole one would. */
export function foldingJournal(): Journal & { readonly recorded: () => RecordedQuery | null } {
  const begun = memoryJournal();
  let config: LoopConfig | null = null;
  let state: LoopState | null = null;
  return {
    begin: (configuration, initial) => {
      begun.begin(configuration, initial);
      config = configuration;
      state = initial;
    },
    append: (event) => {
      if (config !== null && state !== null) state = step(state, event, config).state;
    },
    recorded: () => {
      const recorded = begun.recorded();
      return recorded === null || state === null ? null : { ...recorded, initial: state };
    },
  };
}
