/** `npm run search`: every setting of the list, with states and edges visited, time, and whether the longest run is the bound. */
import { bound } from '../../src/core/bound.ts';
import { continuesInARow, longest, modelCalls, order, summaryCalls } from './longest.ts';
import { explore } from './search.ts';
import { configFor, family, narrow, type Setting } from './settings.ts';

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
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const states = graph.keys.length;
  const edges = graph.edges.count;
  const said = misses.length === 0 ? 'equal' : misses.join(', ');
  console.log(`${JSON.stringify(setting)}: ${states} states, ${edges} edges, ${seconds} s; ${said}`);
  return { states, edges, isEqual: misses.length === 0 };
}

const found = family.map(search);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const equal = found.filter(({ isEqual }) => isEqual).length;
console.log(
  `${sum(found.map(({ states }) => states))} states, ${sum(found.map(({ edges }) => edges))} edges; the bound is reached in ${equal} of ${found.length} settings`,
);
