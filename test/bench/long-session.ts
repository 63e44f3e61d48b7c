/**
 * What a turn of a long session costs as it grows older: milliseconds a turn and memory for each block of 200 turns of a
 * session of 2,000, in a window of 40,000 tokens. Flat is right: a history that is compacted does not grow. Run it with
 * `--expose-gc` for figures of memory that mean something. `node test/bench/long-session.ts '{"collapse":true}'` sets options.
 */
import { simulate } from '../../src/testing/simulate.ts';
import { longSession } from '../support/long-session.ts';

const turns = 2_000;
const block = 200;
const config = JSON.parse(process.argv[2] ?? '{}') as NonNullable<Parameters<typeof longSession>[1]>;

interface Block {
  readonly ms: number;
  readonly heap: number;
}

const blocks: Block[] = [];
let reads = 0;
let from = performance.now();

/** Called once a turn. */
function watch(): undefined {
  reads += 1;
  if (reads % block !== 0) return undefined;
  const ms = (performance.now() - from) / block;
  globalThis.gc?.();
  blocks.push({ ms, heap: process.memoryUsage().heapUsed / 1e6 });
  from = performance.now();
  return undefined;
}

const hooks = { preToolUse: [{ name: 'watch', tools: ['read'], run: watch }] };
const result = await simulate(longSession(turns, config), { keep: 'counts', query: { hooks } });

// The first block compiles the code; the second is the measure of the others.
const second = blocks[1]?.ms ?? 1;
const lines = blocks.map(({ ms, heap }, index) =>
  [
    `turns to ${String((index + 1) * block).padStart(5)}`,
    `${ms.toFixed(2).padStart(7)} ms a turn`,
    `${(ms / second).toFixed(2).padStart(6)} of the second block`,
    `${heap.toFixed(1).padStart(7)} MB`,
  ].join('  '),
);
const { summaryCalls, modelCalls } = result.counts;
const end = `${result.terminal?.reason ?? 'no end'}, ${modelCalls} answers, ${summaryCalls} summaries, ${result.messages.length} messages left`;
process.stdout.write(`${[...lines, end, ...result.violations].join('\n')}\n`);
