import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromCallback } from 'xstate';
import { agentLoop } from '../../machines/agent-loop.ts';
import type { LoopConfig } from '../../src/core/config.ts';
import type { Effect, RunningEffect } from '../../src/core/effect.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import type { Output } from '../../src/core/output.ts';
import type { LoopState } from '../../src/core/state.ts';
import { allows, step } from '../../src/core/step.ts';
import { table } from '../../src/core/table.ts';
import { choices, configs, play, startOf } from '../support/random-run.ts';

type Machine = typeof agentLoop;

/** The chart with actors that only write down what they are asked. */
class RecordingChart {
  readonly started: RunningEffect[] = [];
  readonly stopped: string[] = [];
  readonly shown: Output[] = [];
  readonly #actor;

  constructor(machine: Machine, config: LoopConfig) {
    const record = fromCallback<LoopEvent, RunningEffect>(({ input }) => {
      this.started.push(input);
      return () => this.stopped.push(input.id);
    });
    const actors = {
      streamModel: record,
      compact: record,
      runStopHooks: record,
      collectAttachments: record,
      runTool: record,
      summarizeToolUse: record,
      summarizeSpan: record,
    };
    this.#actor = createActor(machine.provide({ actors: actors as never }), {
      input: { config, start: startOf(config), autoStart: false },
    });
    this.#actor.on('*', (output) => this.shown.push(output));
    this.#actor.start();
  }

  take(event: LoopEvent): LoopState {
    this.started.length = 0;
    this.stopped.length = 0;
    this.shown.length = 0;
    this.#actor.send(event);
    return this.#actor.getSnapshot().context.state;
  }

  get value(): unknown {
    return this.#actor.getSnapshot().value;
  }
}

const byId = (left: { id: string }, right: { id: string }): number => left.id.localeCompare(right.id);

function isRunning(effect: Effect): effect is RunningEffect {
  return effect.type !== 'emit' && effect.type !== 'cancel';
}

/** Plays the run on both readers of the rows and compares them after every event. */
function compare(machine: Machine, config: LoopConfig, numbers: readonly number[]): void {
  const chart = new RecordingChart(machine, config);
  let state = startOf(config);
  play(config, numbers, (event) => {
    const result = step(state, event, config);
    const charted = chart.take(event);
    expect(charted).toEqual(result.state);
    expect(chart.value).toBe(result.state.phase);
    expect(chart.shown).toEqual(result.effects.flatMap((effect) => (effect.type === 'emit' ? [effect.output] : [])));
    expect(chart.started.toSorted(byId)).toEqual(result.effects.filter(isRunning).toSorted(byId));
    const cancelled = result.effects.flatMap((effect) => (effect.type === 'cancel' ? [effect.id] : []));
    expect(chart.stopped).toEqual(expect.arrayContaining(cancelled));
    state = result.state;
    return state;
  });
}

describe('chart and step', () => {
  it('agree on state and effects after every event', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => compare(agentLoop, config, numbers)),
      { numRuns: 150 },
    );
  });

  it.each(['retried.failed', 'tools_started.asked', 'tool_reported.ended'])(
    'are told apart when the chart forgets %s',
    (forgotten) => {
      const rows = new Map(table.map((row) => [row.name, row]));
      const broken = agentLoop.provide({
        guards: {
          allows: ({ context, event }, { row }) =>
            row !== forgotten && allows(rows.get(row)!, context.state, event, context.config),
        },
      });
      const check = fc.property(configs, choices, (config, numbers) => compare(broken, config, numbers));
      expect(() => fc.assert(check, { numRuns: 300, endOnFailure: true })).toThrow();
    },
  );
});
