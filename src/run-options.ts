/** What a run of the chart is given. */
import type { ActorOptions, AnyActorRef } from 'xstate';
import type { agentLoop } from '../machines/agent-loop.ts';
import type { Clock } from './clock.ts';
import type { LoopConfig } from './core/config.ts';
import type { LoopEvent } from './core/event.ts';
import type { LoopState } from './core/state.ts';
import type { EffectRunners } from './effects/io.ts';
import type { Journal } from './session/journal.ts';

export interface RunOptions {
  readonly config: LoopConfig;
  /** In phase `ready`, or any other phase when `resumes`. */
  readonly state: LoopState;
  readonly resumes: boolean;
  /** Commands that the query took before it was resumed. */
  readonly consumed: readonly string[];
  readonly runners: EffectRunners;
  readonly journal: Journal;
  readonly clock: Clock;
  /** How long the end waits for effects that were cancelled, in milliseconds. */
  readonly graceMs: number;
  /** Watches the actors: an XState inspector. */
  readonly inspect?: NonNullable<ActorOptions<typeof agentLoop>['inspect']>;
  /** The actor that this query is a child of; its inspector watches, and `inspect` is not looked at. */
  readonly parent?: AnyActorRef;
  /** Called before each event is written, with its index in the journal; may interrupt the run. */
  readonly beforeEvent?: (index: number, event: LoopEvent, state: LoopState) => void;
}
