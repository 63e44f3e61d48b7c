/**
 * `npm run search`: every setting of the list, with states and edges visited, time, and whether the longest run is the bound.
 * `npm run search -- --defaults`: the proof for limits of any size, and the longest runs at the default limits.
 */
import { bound } from '../../src/core/bound.ts';
import type { LoopConfig } from '../../src/core/config.ts';
import { type AnyLimitGraph, exploreAnyLimit } from './any-limit.ts';
import { longestAtLimits, withDefaults } from './at-limits.ts';
import { continuesInARow, longest, modelCalls, order, summaryCalls } from './longest.ts';
import { explore } from './search.ts';
import { rank } from './ranking.ts';
import {
  type AnyLimitSetting,
  anyLimitAtLength,
  configFor,
  everything,
  family,
  narrow,
  type Setting,
} from './settings.ts';

const seconds = (began: number): string => `${((performance.now() - began) / 1_000).toFixed(1)} s`;

/** Says of one setting what the search found. */
function search(setting: Setting): { readonly states: number; readonly edges: number; readonly isEqual: boolean } {
  const began = performance.now();
  const config = configFor(setting);
  const graph = explore({ config, environment: narrow(config) });
  const sorted = order(graph);
  const misses = [1, 2, 3, 4, 5, 6].flatMap((turns) => {
    const worst = bound({ ...config, maxTurns: turns });
    const found = [
      ['model calls', longest(graph, sorted, modelCalls, turns).cost, worst.modelCalls],
      ['summaries', longest(graph, sorted, summaryCalls, turns).cost, worst.summaryCalls],
      ['iterations', 1 + longest(graph, sorted, continuesInARow, 1).cost, worst.toolFreeIterations],
    ] as const;
    return found
      .filter(([, path, most]) => path !== most)
      .map(([name, path, most]) => `${turns} turns: ${path} of ${most} ${name}`);
  });
  const states = graph.keys.length;
  const edges = graph.edges.count;
  const said = misses.length === 0 ? 'equal' : misses.join(', ');
  console.log(`${JSON.stringify(setting)}: ${states} states, ${edges} edges, ${seconds(began)}; ${said}`);
  return { states, edges, isEqual: misses.length === 0 };
}

/** Proves that a setting ends whatever its limits are. */
function prove({ setting, counters }: AnyLimitSetting): { readonly config: LoopConfig; readonly graph: AnyLimitGraph } {
  const began = performance.now();
  const config = withDefaults(configFor(setting), counters);
  const graph = exploreAnyLimit({ config, environment: narrow(config), counters });
  const size = `${graph.keys.length} states, ${graph.edges.count} edges`;
  console.log(`${JSON.stringify(setting)}, any ${counters.join(', ')}: ${size}, ${seconds(began)}`);
  rank(graph).forEach((used, round) => console.log(`  round ${round + 1}: bounded by ${used.join(', ')}`));
  return { config, graph };
}

/** Says of a proved setting how long its longest runs at the default limits are. */
function searchAtDefaults(anyLimitSetting: AnyLimitSetting): void {
  const { config, graph } = prove(anyLimitSetting);
  for (const turns of [1, 2]) {
    const worst = bound({ ...config, maxTurns: turns });
    for (const [name, cost, most] of [
      ['model calls', modelCalls, worst.modelCalls],
      ['summaries', summaryCalls, worst.summaryCalls],
    ] as const) {
      const began = performance.now();
      const found = longestAtLimits(graph, config.limits, cost, turns);
      const size = `${found.states} states, ${found.edges} edges, ${seconds(began)}`;
      console.log(`  turns: ${turns}, default limits: ${found.cost} of ${most} ${name}; ${size}`);
    }
  }
}

if (process.argv[2] === '--defaults') {
  anyLimitAtLength.forEach(searchAtDefaults);
  prove(everything);
  process.exit(0);
}

const found = family.map(search);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const equal = found.filter(({ isEqual }) => isEqual).length;
console.log(
  `${sum(found.map(({ states }) => states))} states, ${sum(found.map(({ edges }) => edges))} edges; the bound is reached in ${equal} of ${found.length} settings`,
);
