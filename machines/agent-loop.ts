/**
 * The loop as an XState chart, built from the rows of `core/table.ts`. It holds no rule of its own: its guard calls
 * `allows`, its assign calls `follow`, its invokes come from the map of phases to effects.
 *
 * The seven continues and the ten terminals are states: children of `continue` and of `terminal`. A query that is over
 * rests in `ended`, and the output of the machine is its terminal.
 */
import { type AnyMachineSnapshot, assign, fromCallback, setup } from 'xstate';
import type { LoopConfig } from '../src/core/config.ts';
import type { EffectName, EffectOf } from '../src/core/effect.ts';
import { phaseEffect, runningIds, spawnedBetween } from '../src/core/effects-between.ts';
import type { LoopEvent } from '../src/core/event.ts';
import { initialState, type QueryStart } from '../src/core/initial-state.ts';
import type { Output } from '../src/core/output.ts';
import { phaseEffectId, phaseEffects } from '../src/core/running.ts';
import type { LoopState, Phase, Terminal } from '../src/core/state.ts';
import { allows, clearOutbox, follow } from '../src/core/step.ts';
import { type Row, table } from '../src/core/table.ts';
import { decidingPhases, waitingPhases } from '../src/core/transition.ts';

/** What an actor of the machine is created with. */
export interface AgentLoopInput {
  readonly config: LoopConfig;
  /** Where the query begins: a start, or a state in phase `ready`. */
  readonly start: QueryStart | LoopState;
  /** Begin at once instead of waiting for `query.started`. Default true. */
  readonly autoStart?: boolean;
}

export interface AgentLoopContext {
  readonly config: LoopConfig;
  readonly state: LoopState;
  readonly autoStart: boolean;
  /** The state before the newest move: what is new since then is spawned, what is gone is stopped. */
  readonly before: LoopState;
}

/** Stands for an effect until an actor is provided: the chart can be drawn and searched without one, not run. */
function missing<Name extends EffectName>(name: Name) {
  return fromCallback<LoopEvent, EffectOf<Name>>(() => {
    throw new Error(`No actor for the effect ${name}: provide one with agentLoop.provide({ actors: { ${name} } }).`);
  });
}

const rowsByName: ReadonlyMap<string, Row> = new Map(table.map((row) => [row.name, row]));

function rowNamed(name: string): Row {
  const row = rowsByName.get(name);
  if (row === undefined) throw new Error(`The chart names a row that does not exist: ${name}.`);
  return row;
}

/** An event clears what the one before it showed; a move that follows at once adds to it. */
function stateFor(row: Row, state: LoopState): LoopState {
  return row.arrow.on === 'always' ? state : clearOutbox(state);
}

const base = setup({
  types: {
    context: {} as AgentLoopContext,
    events: {} as LoopEvent,
    input: {} as AgentLoopInput,
    output: {} as Terminal | null,
    emitted: {} as Output,
  },
  actors: {
    streamModel: missing('streamModel'),
    compact: missing('compact'),
    runStopHooks: missing('runStopHooks'),
    collectAttachments: missing('collectAttachments'),
    runTool: missing('runTool'),
    summarizeToolUse: missing('summarizeToolUse'),
    summarizeSpan: missing('summarizeSpan'),
  },
  guards: {
    allows: ({ context, event }, params: { readonly row: string }) => {
      const row = rowNamed(params.row);
      return allows(row, stateFor(row, context.state), event, context.config);
    },
  },
});

const chart = base.extend({
  actions: {
    follow: assign(({ context, event }, params: { readonly row: string }) => {
      const row = rowNamed(params.row);
      const before = stateFor(row, context.state);
      return { before, state: follow(row, before, event, context.config) };
    }),
    // Tools and background summaries outlive the phase that they started in, so no state invokes them.
    perform: base.enqueueActions(({ context: { before, state, config }, enqueue }) => {
      const spawned = spawnedIds(state);
      for (const id of spawnedIds(before)) if (!spawned.includes(id)) enqueue.stopChild(id);
      for (const output of state.outbox.slice(before.outbox.length)) enqueue.emit(output);
      for (const effect of spawnedBetween(before, state, config)) {
        enqueue.spawnChild(effect.type as 'runTool', { id: effect.id, input: effect as EffectOf<'runTool'> });
      }
    }),
    autoStart: base.enqueueActions(({ context, enqueue }) => {
      if (context.autoStart) enqueue.raise({ type: 'query.started', blocked: null });
    }),
  },
});

function spawnedIds(state: LoopState): readonly string[] {
  return phaseEffectId(state) === null ? runningIds(state) : runningIds(state).slice(1);
}

/** Where a row leads in the chart; undefined: nowhere, and what the phase invokes goes on. */
function targetOf(row: Row): string | undefined {
  if (row.kind !== 'inside') return `#agentLoop.${row.kind}.${row.transition}`;
  return row.arrow.to === null ? undefined : `#agentLoop.${row.arrow.to}`;
}

function transitionOf(row: Row) {
  const target = targetOf(row);
  const params = { row: row.name };
  return {
    ...(target === undefined ? {} : { target }),
    ...(row.arrow.reenters === true ? { reenter: true } : {}),
    description: row.why,
    guard: { type: 'allows' as const, params },
    actions: [{ type: 'follow' as const, params }, { type: 'perform' as const }],
  };
}

function rowsFrom(phase: Phase): readonly Row[] {
  return table.filter((row) => row.arrow.from.includes(phase));
}

function eventsOf(phase: Phase): readonly Row['arrow']['on'][] {
  return [...new Set(rowsFrom(phase).map((row) => row.arrow.on))].filter((on) => on !== 'always');
}

/** The chart state of a phase: one transition for each of its rows, in the order of the table. */
function stateOf(phase: Phase) {
  const rows = rowsFrom(phase);
  const transitionsOn = (on: Row['arrow']['on']) => rows.filter((row) => row.arrow.on === on).map(transitionOf);
  const always = transitionsOn('always');
  const effect = phaseEffects[phase];
  return {
    ...(effect === undefined ? {} : { invoke: { id: effect, src: effect, input: phaseInput } }),
    ...(phase === 'ready' ? { entry: { type: 'autoStart' as const } } : {}),
    ...(always.length === 0 ? {} : { always }),
    on: Object.fromEntries(eventsOf(phase).map((on) => [on, transitionsOn(on)])),
  };
}

function phaseInput({ context }: { context: AgentLoopContext }): never {
  // The effect fits its actor, since both are looked up by the same phase; the compiler cannot see that.
  return phaseEffect(context.state, context.config) as never;
}

function namesOf(kind: Row['kind']): readonly string[] {
  return [...new Set(table.filter((row) => row.kind === kind).map((row) => row.transition))];
}

function childrenOf<Child>(kind: Row['kind'], child: Child): Record<string, Child> {
  return Object.fromEntries(namesOf(kind).map((name) => [name, child]));
}

const phases: readonly Phase[] = [...waitingPhases, ...decidingPhases];

/** The machine. Give it actors with `agentLoop.provide({ actors })`; `escapement` makes them with `loopActors`. */
export const agentLoop = chart.createMachine({
  id: 'agentLoop',
  initial: 'ready',
  context: ({ input }) => {
    const state = 'version' in input.start ? input.start : initialState(input.start, input.config);
    return { config: input.config, state, before: state, autoStart: input.autoStart ?? true };
  },
  states: {
    ...Object.fromEntries(phases.map((phase) => [phase, stateOf(phase)])),
    continue: {
      description: 'The seven ways an iteration starts again. Always entered by name.',
      initial: 'next_turn',
      states: childrenOf('continue', { always: { target: '#agentLoop.preparing' } }),
    },
    terminal: {
      description: 'The ten ways a query ends. Always entered by name.',
      initial: 'completed',
      states: childrenOf('terminal', { type: 'final' as const }),
      onDone: { target: '#agentLoop.ended' },
    },
    ended: { type: 'final' },
  },
  output: ({ context }) => context.state.terminal,
});

/**
 * A snapshot of the machine in `state`, to go on from: `createActor(agentLoop, { snapshot })`, then send
 * `query.resumed` so that the effects that waited are started again.
 */
export function snapshotOf(state: LoopState, config: LoopConfig): AnyMachineSnapshot {
  return agentLoop.resolveState({ value: state.phase, context: { config, state, before: state, autoStart: false } });
}
