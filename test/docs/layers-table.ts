/** What each layer of the context does to one recorded conversation: the table of `docs/context.md`. */
import type { Output } from '../../src/core/output.ts';
import type { LoopOptions } from '../../src/options.ts';
import { simulate } from '../../src/testing/simulate.ts';
import type { SimulationResult } from '../../src/testing/simulation-result.ts';
import { scenario } from '../support/scenarios.ts';

type Boundary = Extract<Output, { type: 'boundary' }>;

/** One layer alone, by the options that switch it on. */
const layers: readonly (readonly [name: string, options: LoopOptions])[] = [
  ['all off', {}],
  ['0. result budget of 3,000 characters a message', { messageResultChars: 3_000 }],
  ['1. snip', { snip: true }],
  ["2. microcompact, `'local'`", { microcompact: 'local' }],
  ["2. microcompact, `'server'`", { microcompact: 'server' }],
  ['3. collapse', { collapse: true }],
  ['4. auto-compact', { autoCompact: true }],
  ['4. auto-compact by the API itself', { autoCompact: true, onDemandCompaction: true }],
  ['2, 3 and 4 together', { microcompact: 'local', collapse: true, autoCompact: true }],
];

/** The table in Markdown. */
export async function layersTable(): Promise<string> {
  const recorded = scenario('context/recorded.json');
  const rows: string[] = [];
  for (const [name, options] of layers) {
    const smallModel = options.collapse === true ? 'scripted-small' : null;
    const config = { ...recorded.config, autoCompact: false, smallModel, ...options };
    rows.push(rowOf(name, await simulate({ ...recorded, config })));
  }
  return [
    '| on | edits of the history | tokens of the two requests | calls beside |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function rowOf(name: string, result: SimulationResult): string {
  if (result.violations.length > 0) throw new Error(result.violations.join(' '));
  const edits = result.emitted.filter((item): item is Boundary => item.type === 'boundary');
  const shown = edits.map(
    ({ kind, tokensBefore, tokensAfter }) => `${kind}: ${plain(tokensBefore)} to ${plain(tokensAfter)}`,
  );
  const requests = result.requests.filter(({ purpose }) => purpose === 'model').map(({ estimate }) => plain(estimate));
  if (requests.length !== 2)
    throw new Error(`"${name}" sent ${requests.length} requests to the model, not two: the window is too small.`);
  const beside = result.requests.filter(({ purpose }) => purpose !== 'model').map(({ purpose }) => purpose);
  return `| ${name} | ${shown.join('; ') || 'none'} | ${requests.join(', ')} | ${beside.join(', ') || 'none'} |`;
}

function plain(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
