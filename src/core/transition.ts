/** What a rule is: a named, documented row of plain data. `step` and the chart read the same rows. */
import type { LoopConfig } from './config.ts';
import type { EventOf, EventType, LoopEvent } from './event.ts';
import type { DecidingPhase, LoopState, Phase, WaitingPhase } from './state.ts';

/** What makes a row look: an event, or `always`: at once, as soon as the phase is entered or its state has changed. */
export type Trigger = EventType | 'always';

type TriggerEvent<On extends Trigger> = On extends EventType ? EventOf<On> : LoopEvent;

/** One arrow of a transition. */
export interface Arrow<On extends Trigger = Trigger> {
  readonly from: readonly Phase[];
  readonly on: On;
  /** The phase that follows; null: the same one, its effects going on. */
  readonly to: Phase | null;
  /** Starts the effect of the phase anew although the phase stays the same. Default false. */
  readonly reenters?: true;
  readonly when: (state: LoopState, event: TriggerEvent<On>, config: LoopConfig) => boolean;
  /** The state afterwards; the phase is set by `to`. */
  readonly set: (state: LoopState, event: TriggerEvent<On>, config: LoopConfig) => LoopState;
}

/** A reason to move, with every arrow that moves for it. */
export interface Transition<Arrows extends string = string> {
  /** Why it exists: one or two sentences for the reader of the chart. */
  readonly why: string;
  readonly arrows: { readonly [Name in Arrows]: Arrow };
}

/** Types an arrow by its trigger, then forgets the trigger so that arrows of all kinds stand in one list. */
export function arrow<On extends Trigger>(definition: Arrow<On>): Arrow {
  return definition as unknown as Arrow;
}

/** The guard of an arrow without a condition. */
export const yes = (): boolean => true;

/** Every phase that waits for an event, in the order of a turn. */
export const waitingPhases: readonly WaitingPhase[] = [
  'ready',
  'compacting',
  'streaming',
  'compactingReactively',
  'runningTools',
  'attaching',
  'runningStopHooks',
];

/** Every phase that decides at once. */
export const decidingPhases: readonly DecidingPhase[] = ['preparing', 'settling', 'advancing', 'budgeting'];
