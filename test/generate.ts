/** Writes what is generated from the rows; `--check` compares instead, and fails when something is out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agentLoop } from '../machines/agent-loop.ts';
import { continues } from '../src/core/continue.ts';
import { inside } from '../src/core/inside.ts';
import { table } from '../src/core/table.ts';
import { terminals } from '../src/core/terminal.ts';
import type { Transition } from '../src/core/transition.ts';
import { errorTable } from './bench/tokens.ts';
import { layersTable } from './docs/layers-table.ts';

const root = new URL('../', import.meta.url);

/** The chart as data: what `createMachine` was given. */
export function chartJson(): string {
  return `${JSON.stringify(agentLoop.config, null, 2)}\n`;
}

/** The chart as a Mermaid state diagram: an edge for each row, its transition as the label. */
export function chartMermaid(): string {
  const edges = table.flatMap(({ kind, transition, arrow }) =>
    arrow.from.flatMap((from) => {
      const on = arrow.on === 'always' ? '' : ` on ${arrow.on}`;
      if (kind === 'continue') return [`  ${from} --> ${transition}${on === '' ? '' : ` :${on}`}`];
      if (kind === 'terminal') return [`  ${from} --> ${transition}${on === '' ? '' : ` :${on}`}`];
      return arrow.to === null ? [] : [`  ${from} --> ${arrow.to} : ${transition}${on}`];
    }),
  );
  const names = (list: object, indent: string): string[] => Object.keys(list).map((name) => `${indent}${name}`);
  return [
    '%% Generated from src/core/table.ts by npm run generate.',
    'stateDiagram-v2',
    '  [*] --> ready',
    '  state continue {',
    ...names(continues, '    '),
    '  }',
    '  state terminal {',
    ...names(terminals, '    '),
    '  }',
    ...new Set(edges),
    '  continue --> preparing',
    '  terminal --> ended',
    '  ended --> [*]',
    '',
  ].join('\n');
}

function whyTable(title: string, list: Readonly<Record<string, Transition>>): string {
  const rows = Object.entries(list).map(([name, { why }]) => `| \`${name}\` | ${why} |`);
  return [`| ${title} | why |`, '| --- | --- |', ...rows].join('\n');
}

function rowTable(): string {
  const rows = table.map(({ kind, name, arrow }) => {
    const to = kind === 'inside' ? (arrow.to ?? 'same phase') : kind === 'continue' ? 'preparing' : 'ended';
    return `| ${kind} | \`${name}\` | ${arrow.from.join(', ')} | ${arrow.on} | ${to} |`;
  });
  return ['| kind | row | from | on | to |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** `docs/transitions.md`. */
export function transitionsPage(): string {
  return [
    '# Transitions',
    '',
    'Generated from the rows in `src/core` by `npm run generate`. Every reason why the loop moves, and every row that',
    'moves it. `step` takes the first row, in this order, that allows the event; the chart is built from the same rows.',
    '',
    '## The seven continues',
    '',
    whyTable('continue', continues),
    '',
    '## The ten terminals',
    '',
    whyTable('terminal', terminals),
    '',
    '## Moves inside an iteration',
    '',
    whyTable('move', inside),
    '',
    '## The rows, in the order that counts',
    '',
    rowTable(),
    '',
  ].join('\n');
}

/** A page with the part between two markers replaced. */
function withPart(page: string, name: string, part: string): string {
  const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page has no part between "${begin}" and "${end}".`);
  return `${page.slice(0, from + begin.length)}\n\n${part}\n\n${page.slice(to)}`;
}

async function contextPage(): Promise<string> {
  return withPart(readFileSync(new URL('docs/context.md', root), 'utf8'), 'layers', await layersTable());
}

function readme(): string {
  const page = readFileSync(new URL('README.md', root), 'utf8');
  const withContinues = withPart(page, 'continues', whyTable('continue', continues));
  return withPart(withContinues, 'terminals', whyTable('terminal', terminals));
}

function tokenCountPage(): string {
  return withPart(readFileSync(new URL('docs/token-count.md', root), 'utf8'), 'errors', errorTable());
}

/** Every generated file: its path from the top and its content. */
async function generatedFiles(): Promise<readonly (readonly [string, string])[]> {
  return [
    ['machines/agent-loop.json', chartJson()],
    ['machines/agent-loop.mmd', chartMermaid()],
    ['docs/transitions.md', transitionsPage()],
    ['README.md', readme()],
    ['docs/token-count.md', tokenCountPage()],
    ['docs/context.md', await contextPage()],
  ];
}

async function check(): Promise<void> {
  const stale = (await generatedFiles()).filter(
    ([path, content]) => readFileSync(new URL(path, root), 'utf8') !== content,
  );
  if (stale.length === 0) return;
  process.stderr.write(`Out of date: ${stale.map(([path]) => path).join(', ')}. Run npm run generate and commit.\n`);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) await check();
  else for (const [path, content] of await generatedFiles()) writeFileSync(new URL(path, root), content);
}
