/** What an effect posts and shows, gathered. */
import type { LoopEvent } from '../../src/core/event.ts';
import type { Observation } from '../../src/core/output.ts';
import type { EffectIo } from '../../src/effects/io.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';

export interface TestIo extends EffectIo {
  readonly clock: VirtualClock;
  readonly events: LoopEvent[];
  readonly observations: Observation[];
  readonly abort: () => void;
}

export function testIo(): TestIo {
  const events: LoopEvent[] = [];
  const observations: Observation[] = [];
  const controller = new AbortController();
  return {
    events,
    observations,
    abort: () => controller.abort(),
    post: (event) => void events.push(event),
    observe: (observation) => void observations.push(observation),
    ready: async () => undefined,
    clock: new VirtualClock(),
    signal: controller.signal,
  };
}
