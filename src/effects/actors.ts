/** Effects as XState actors: what `agentLoop.provide({ actors })` is given. */
import { fromCallback } from 'xstate';
import type { EffectName, EffectOf, RunningEffect } from '../core/effect.ts';
import type { LoopEvent } from '../core/event.ts';
import { failureOf } from '../core/failure.ts';
import { noUsage } from '../core/message.ts';
import type { Observation } from '../core/output.ts';
import { syntheticOutcome } from '../core/tools/schedule.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { EffectIo, EffectRunner, EffectRunners } from './io.ts';

/** What the host of the actors may take into its own hands; everything has a default that suits a plain actor system. */
export interface ActorHost {
  /** Takes an event instead of sending it to the machine. */
  readonly post?: (event: LoopEvent) => void;
  /** Takes a streamed fragment. Default: it is dropped. */
  readonly observe?: (observation: Observation) => void;
  /** Resolves when more may be read. Default: at once. */
  readonly ready?: () => Promise<void>;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
  /** Learns of every effect that begins, with a promise of its end. */
  readonly track?: (effect: RunningEffect, ended: Promise<void>) => void;
  /** False keeps effects from starting. Default: always true. */
  readonly mayStart?: () => boolean;
}

function actorOf<Name extends EffectName>(_name: Name, runners: EffectRunners, host: ActorHost) {
  return fromCallback<LoopEvent, EffectOf<Name>>(({ input, sendBack, self }) => {
    if (host.mayStart?.() === false) return undefined;
    const controller = new AbortController();
    const effect = input as RunningEffect;
    const ended = performEffect(runners, effect, { ...ioFor(host, controller.signal, sendBack), actor: self });
    host.track?.(effect, ended);
    return () => controller.abort();
  });
}

function ioFor(host: ActorHost, signal: AbortSignal, sendBack: (event: LoopEvent) => void): EffectIo {
  const post = host.post ?? sendBack;
  return {
    post: (event) => {
      if (!signal.aborted) post(event);
    },
    observe: (observation) => {
      if (!signal.aborted) host.observe?.(observation);
    },
    ready: host.ready ?? (() => Promise.resolve()),
    clock: host.clock ?? systemClock,
    signal,
  };
}

/**
 * Performs one effect of `step`. A runner that throws against its contract still answers, as a failure of class
 * `thrown`. Never rejects.
 */
export async function performEffect(runners: EffectRunners, effect: RunningEffect, io: EffectIo): Promise<void> {
  // The runner is looked up by the type of its effect; the compiler cannot follow that through the union.
  const runner = runners[effect.type] as EffectRunner<EffectName>;
  try {
    await runner(effect, io);
  } catch (error) {
    io.post(thrownEvent(effect, error));
  }
}

/** The event that ends an effect whose runner threw. */
function thrownEvent(effect: RunningEffect, error: unknown): LoopEvent {
  const text = error instanceof Error ? error.message : String(error);
  const failure = failureOf('thrown', `The effect ${effect.type} threw: ${text}`);
  const effectId = effect.id;
  switch (effect.type) {
    case 'streamModel':
      return { type: 'model.failed', effectId, failure, unfinished: null, usage: noUsage };
    case 'compact':
      return { type: 'compact.failed', effectId, failure };
    case 'runTool':
      return { type: 'tool.ended', effectId, toolUseId: effect.toolUseId, outcome: syntheticOutcome(failure.message) };
    case 'collectAttachments':
      return { type: 'attachments.collected', effectId, attachments: [], tools: null, notices: [failure.message] };
    case 'runStopHooks':
      return { type: 'stopHooks.ended', effectId, errors: [], prevent: null, notices: [failure.message] };
    case 'summarizeToolUse':
      return { type: 'toolUse.summarized', effectId, text: null };
    case 'summarizeSpan':
      return { type: 'span.summarized', effectId, text: null };
  }
}

/** Actors for the chart, one for each effect. */
export function loopActors(runners: EffectRunners, host: ActorHost = {}) {
  return {
    streamModel: actorOf('streamModel', runners, host),
    compact: actorOf('compact', runners, host),
    runStopHooks: actorOf('runStopHooks', runners, host),
    collectAttachments: actorOf('collectAttachments', runners, host),
    runTool: actorOf('runTool', runners, host),
    summarizeToolUse: actorOf('summarizeToolUse', runners, host),
    summarizeSpan: actorOf('summarizeSpan', runners, host),
  };
}
