/** What happened in a query, in order: the state it began with and every event. Enough to fold it again, bit for bit. */
import type { Layer, LoopConfig } from '../core/config.ts';
import type { LoopEvent } from '../core/event.ts';
import type { LoopState } from '../core/state.ts';
import { step } from '../core/step.ts';

const journalVersion = 1;

/** A whole recorded query; plain JSON but for `config.microcompactor`. */
export interface RecordedQuery {
  readonly version: typeof journalVersion;
  readonly config: LoopConfig;
  readonly initial: LoopState;
  readonly events: readonly LoopEvent[];
}

/** Where a query writes. Contract: `append` has stored the event when it returns; it must not throw for a valid event. */
export interface Journal {
  /** Called once, before the first event. */
  readonly begin: (config: LoopConfig, initial: LoopState) => void;
  /** Called with every event, before its effects are performed. */
  readonly append: (event: LoopEvent) => void;
  /** Called with the answer of an effect that came when the query was over: it changes nothing. */
  readonly late?: (event: LoopEvent) => void;
}

export interface MemoryJournal extends Journal {
  /** What was recorded so far; null before the query began. */
  readonly recorded: () => RecordedQuery | null;
  /** Answers that came after the end. */
  readonly lateEvents: readonly LoopEvent[];
}

/** A journal that keeps everything in memory. */
export function memoryJournal(): MemoryJournal {
  let begun: { readonly config: LoopConfig; readonly initial: LoopState } | null = null;
  const events: LoopEvent[] = [];
  const lateEvents: LoopEvent[] = [];
  return {
    begin: (config, initial) => {
      begun = { config, initial };
    },
    append: (event) => {
      events.push(event);
    },
    late: (event) => {
      lateEvents.push(event);
    },
    recorded: () => (begun === null ? null : { version: journalVersion, ...begun, events: [...events] }),
    lateEvents,
  };
}

/** True when the query had a microcompactor that was lost on the way through JSON, which keeps null but no function. */
function lacksMicrocompactor({ config }: RecordedQuery): boolean {
  return (config.microcompactor as unknown) === undefined;
}

/** The journal with the microcompactor that JSON has lost; the same object where none is missing or none is given. */
export function withMicrocompactor(recorded: RecordedQuery, microcompactor: Layer | undefined): RecordedQuery {
  if (microcompactor === undefined || !lacksMicrocompactor(recorded)) return recorded;
  return { ...recorded, config: { ...recorded.config, microcompactor } };
}

/**
 * The state after the first `count` events of a recorded query; all of them by default. Any prefix is a fork point.
 *
 * @throws Error for a journal of another version; TypeError for one whose microcompactor was lost in JSON.
 */
export function replay(recorded: RecordedQuery, count = recorded.events.length): LoopState {
  if (recorded.version !== journalVersion) {
    throw new Error(`This journal has version ${String(recorded.version)}; this version of escapement reads 1.`);
  }
  if (lacksMicrocompactor(recorded)) {
    throw new TypeError(
      'This journal was recorded with a microcompactor of its host, a function that JSON does not hold: give it as deps.microcompact of query(), or put it into config.microcompactor.',
    );
  }
  return recorded.events
    .slice(0, count)
    .reduce((state, event) => step(state, event, recorded.config).state, recorded.initial);
}

/** Ids of the user messages that a recorded query took from its queue, in order: each was shown as `started`. */
export function startedCommands(recorded: RecordedQuery): readonly string[] {
  let state = recorded.initial;
  return recorded.events.flatMap((event) => {
    state = step(state, event, recorded.config).state;
    return state.outbox.flatMap((output) => (output.type === 'command' ? [output.messageId] : []));
  });
}
