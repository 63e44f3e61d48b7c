import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { bound } from '../../src/core/bound.ts';
import type { LoopConfig } from '../../src/core/config.ts';
import { compactThreshold, hardLimit, outputFloor, tailSize } from '../../src/core/context/thresholds.ts';
import { initialState } from '../../src/core/initial-state.ts';
import type { LoopState } from '../../src/core/state.ts';
import { step } from '../../src/core/step.ts';
import { table } from '../../src/core/table.ts';
import { contextWindow, level, levelOf, marks, protectedTail, seed, sizes } from './canonical.ts';
import { type Environment, movesOf } from './environment.ts';
import { blank, type Features, featuresOf, keyOf } from './features.ts';
import type { Graph } from './graph.ts';
import { continuesInARow, type Cost, longest, modelCalls, order, summaryCalls } from './longest.ts';
import { rebuild } from './rebuild.ts';
import { explore, featuresFrom, startsOf } from './search.ts';
import { alone, configFor, coverage, loose, narrow, type Setting, suite, wide } from './settings.ts';
import { realEngine } from './trace.ts';

// Seconds alone; a busy machine may need longer.
vi.setConfig({ testTimeout: 120_000 });

const visited = { states: 0, edges: 0 };

function explored(config: LoopConfig, environment: Environment): { graph: Graph; sorted: Int32Array } {
  const graph = explore({ config, environment });
  visited.states += graph.keys.length;
  visited.edges += graph.edges.count;
  return { graph, sorted: order(graph) };
}

function named(settings: readonly Setting[]): { setting: Setting; name: string }[] {
  return settings.map((setting) => ({ setting, name: JSON.stringify(setting) }));
}

const compactionAlone = coverage.at(-1)!;

afterAll(() => console.log(`The search visited ${visited.states} states and ${visited.edges} edges.`));

describe('the longest run', () => {
  it.each(named(suite))('is as long as the bound, and no cycle avoids next_turn: $name', ({ setting }) => {
    const config = configFor(setting);
    const { graph, sorted } = explored(config, narrow(config));
    for (const turns of [1, 2, 3, 4, 5, 6]) {
      const worst = bound({ ...config, maxTurns: turns });
      const summaries = longest(graph, sorted, summaryCalls, turns).cost;
      expect(longest(graph, sorted, modelCalls, turns).cost).toBe(worst.modelCalls);
      expect(summaries).toBeLessThanOrEqual(worst.summaryCalls);
      const isLoose = loose.some((entry) => entry.setting === setting && entry.turns.includes(turns));
      expect(summaries === worst.summaryCalls).toBe(!isLoose);
      expect(1 + longest(graph, sorted, continuesInARow, 1).cost).toBe(worst.toolFreeIterations);
    }
  });

  it('is the same when turns are counted in the state', () => {
    const config = configFor({ limits: { refills: 1, refillTurns: 2 }, maxTurns: 2 });
    const { graph, sorted } = explored(config, narrow(config));
    // Two layers are enough for any number of turns here: the state itself says how many are left.
    expect(longest(graph, sorted, modelCalls, 2).cost).toBe(bound(config).modelCalls);
    expect(longest(graph, sorted, modelCalls, 9).cost).toBe(bound(config).modelCalls);
    expect(longest(graph, sorted, summaryCalls, 9).cost).toBe(bound(config).summaryCalls);
  });

  it('grows by one request at most when a dead process is resumed', () => {
    const config = configFor({ ...compactionAlone, stopHooks: true });
    const { graph, sorted } = explored(config, { ...narrow(config), bystanders: true });
    for (const cost of [modelCalls, summaryCalls]) {
      const { left } = longest(graph, sorted, cost, 2);
      expect(worstResume(graph, left, cost)).toBe(1);
    }
  });
});

/** How much more a resume can cost than what was left without it. */
function worstResume({ keys, edges }: Graph, left: Int32Array, cost: Cost): number {
  let worst = 0;
  for (let node = 0; node < keys.length; node += 1) {
    for (let edge = edges.from(node); edge < edges.to(node); edge += 1) {
      const facts = edges.facts(edge);
      if (facts.isResume) worst = Math.max(worst, cost(facts) + left[edges.target(edge)]! - left[node]!);
    }
  }
  return worst;
}

describe('all that the outside can send', () => {
  const fired = new Set<string>();
  const graphs = named(coverage).map(({ setting, name }) => ({ config: configFor(setting), name }));

  it.each(graphs)('spins nowhere, sticks nowhere and stays within the bound: $name', ({ config }) => {
    const { graph, sorted } = explored(config, wide(config));
    for (const name of graph.rows) fired.add(name);
    expect(longest(graph, sorted, modelCalls, 2).cost).toBeLessThanOrEqual(
      bound({ ...config, maxTurns: 2 }).modelCalls,
    );
    expect(stuck(graph)).toEqual([]);
  });

  it('block by block too', () => {
    const config = configFor({ ...alone, limits: { malformedAnswers: 1 } });
    const { graph, sorted } = explored(config, {
      ...wide(config),
      classes: 'all',
      grain: 'events',
      levels: [level.low, level.hard],
    });
    for (const name of graph.rows) fired.add(name);
    expect(longest(graph, sorted, modelCalls, 2).cost).toBe(bound({ ...config, maxTurns: 2 }).modelCalls);
    expect(stuck(graph)).toEqual([]);
  });

  it('makes every row fire', () => {
    expect(table.map(({ name }) => name).filter((name) => !fired.has(name))).toEqual([]);
  });

  it('says nothing more with every failure class and stop reason than with one for each verdict', () => {
    const config = configFor({ ...alone, models: ['one', 'two'], limits: { retries: 1, overloadsBeforeFallback: 2 } });
    const few = explore({ config, environment: { ...wide(config), bystanders: false } });
    const all = explore({ config, environment: { ...wide(config), bystanders: false, classes: 'all' } });
    // A learnt limit of the model is the one thing more; it leads to nothing that the others do not.
    const known = new Set(all.keys);
    expect(few.keys.filter((key) => !known.has(key))).toEqual([]);
    expect(longest(all, order(all), modelCalls, 3).cost).toBe(longest(few, order(few), modelCalls, 3).cost);
  });

  it('changes nothing behind a terminal', () => {
    const config = configFor(compactionAlone);
    const ended = rebuild({ ...blank, terminal: 'completed/done' }, config);
    const phases = ['ready', 'streaming', 'compacting', 'attaching', 'runningStopHooks', 'runningTools'] as const;
    const moves = phases.flatMap((phase) => movesOf(rebuild({ ...blank, phase }, config), config, wide(config)));
    for (const event of moves.flatMap(({ events }) => events)) expect(step(ended, event, config).state).toBe(ended);
  });
});

/** States that wait for something and that no event leaves, and terminals that one does leave. */
function stuck({ keys, edges }: Graph): readonly string[] {
  return keys.filter((key, node) => key.startsWith('ended') !== (edges.from(node) === edges.to(node)));
}

describe('the abstraction', () => {
  it('rebuilds a state with the same features, and its engine is step', () => {
    const config = configFor({ ...alone, autoCompact: true, thinking: 'adaptive', smallModel: 'small' });
    for (const features of featuresFrom({ config, environment: narrow(config) })) {
      if (features.phase === 'ended') continue;
      const state = rebuild(features, config);
      expect(keyOf(featuresOf(state, config))).toBe(keyOf(features));
      for (const { events } of movesOf(state, config, narrow(config))) {
        for (const event of events) {
          expect(JSON.stringify(realEngine(state, event, config).state)).toBe(
            JSON.stringify(step(state, event, config).state),
          );
        }
      }
    }
  });

  it('has a size on each side of every threshold', () => {
    const config = configFor({});
    const state = initialState({ seed, prompt: 'go' }, config);
    expect(marks.stage).toBe(compactThreshold(state, config) * config.layers.stageAbove);
    expect(marks.compact).toBe(compactThreshold(state, config));
    expect(marks.hard).toBe(hardLimit(state, config));
    expect(marks.full).toBe(contextWindow - outputFloor(state, config));
    expect(protectedTail).toBe(tailSize(state, config));
    expect(sizes.levels.map(levelOf)).toEqual(Object.values(level));
  });

  it('forgets nothing that matters: runs that keep their whole history stay among the states that were visited', () => {
    const config = configFor({ ...alone, autoCompact: true, reactiveCompact: true, limits: { retries: 1 } });
    const environment = wide(config);
    // How large things are is the choice of the environment: what is compared is everything else.
    const nameOf = (features: Features): string => keyOf({ ...features, estimate: 0, measured: -1, cuttable: 0 });
    const keys = new Set(featuresFrom({ config, environment }).map(nameOf));
    const starts = startsOf(config, environment);
    const unknown: string[] = [];
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.nat(), { minLength: 5, maxLength: 60 }), (start, choices) => {
        let state: LoopState = rebuild(starts[start % starts.length]!, config);
        for (const choice of choices) {
          const moves = movesOf(state, config, environment);
          const move = moves[choice % moves.length];
          if (move === undefined) break;
          state = move.events.reduce((next, event) => step(next, event, config).state, state);
          const key = nameOf(featuresOf(state, config));
          if (!keys.has(key)) unknown.push(key);
        }
      }),
      { numRuns: 30 },
    );
    expect(unknown).toEqual([]);
  });
});
