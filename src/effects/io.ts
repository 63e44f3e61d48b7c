/** What an effect may use of its host. A host is the chart, `query()`, or anybody's own runtime around `step`. */
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../clock.ts';
import type { EffectName, EffectOf } from '../core/effect.ts';
import type { LoopEvent } from '../core/event.ts';
import type { Observation } from '../core/output.ts';
import type { CallIo, CallPurpose } from '../model/transport.ts';

export interface EffectIo {
  /** Reports an event to the loop. After a cancel it does nothing. */
  readonly post: (event: LoopEvent) => void;
  /** Shows a fragment to the consumer. */
  readonly observe: (observation: Observation) => void;
  /** Resolves when the consumer wants more: await it before reading more of a stream. */
  readonly ready: () => Promise<void>;
  readonly clock: Clock;
  /** Aborts when the effect is cancelled. */
  readonly signal: AbortSignal;
  /** The actor that performs the effect, so that a query inside of it can be its child. Left out outside of the chart. */
  readonly actor?: AnyActorRef;
}

/**
 * Performs one effect. Contract: must answer with exactly one closing event unless cancelled; must not throw or reject
 * (a throw is reported by the host as a failure of class `thrown`); must leave nothing running after a cancel.
 */
export type EffectRunner<Name extends EffectName> = (effect: EffectOf<Name>, io: EffectIo) => Promise<void>;

/** One runner per effect: what the chart is provided with. */
export type EffectRunners = { readonly [Name in EffectName]: EffectRunner<Name> };

/** How a request is made whose answer nobody sees while it is written: no consumer holds it up. */
export function unseenCall(purpose: CallPurpose, { signal, clock }: EffectIo): CallIo {
  return { purpose, signal, clock, ready: () => Promise.resolve() };
}
