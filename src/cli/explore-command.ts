/** `escapement simulate --explore`: random scenarios through the real engine; a failing one is shrunk and written. */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { checkOptions, type LoopOptions } from '../options.ts';
import type { Terminal } from '../core/state.ts';
import { type Exploration, explore, type ExploredFailure, type ExploreOptions } from '../testing/explore.ts';
import type { Scenario } from '../testing/scenario.ts';
import { exitStatus } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';
import { readJson } from './simulate-command.ts';

export interface ExploreFlags {
  readonly runs: number;
  readonly seed: number;
  /** A file with options of `query()` that hold for every scenario. */
  readonly config: string | null;
  /** Where a failing scenario goes; null: a name that is made of seed and run. */
  readonly out: string | null;
  readonly json: boolean;
}

/** Between two signs of life on a terminal, in milliseconds. */
const signEveryMs = 2_000;

/**
 * Explores. What is printed depends on the flags alone; how long it took goes to standard error.
 *
 * @param planted a law or hooks of a test, to see a failure.
 */
export async function exploreCommand(
  flags: ExploreFlags,
  io: CliIo,
  planted: Pick<ExploreOptions, 'law' | 'simulation'> = {},
): Promise<number> {
  const config = flags.config === null ? {} : configIn(flags.config, io);
  checkFolder(flags.out, io);
  const ended = new Map<string, number>();
  const { runs, seed } = flags;
  const begun = performance.now();
  const sign = signsOfLife(runs, io);
  const exploration = await explore({
    ...planted,
    runs,
    seed,
    config,
    onRun: ({ terminals }) => {
      for (const terminal of terminals) count(ended, terminal);
      sign();
    },
  });
  const seconds = (performance.now() - begun) / 1_000;
  io.err(
    `${exploration.runs} scenarios in ${seconds.toFixed(1)} s, ${Math.round(exploration.runs / seconds)} a second\n`,
  );
  const file = exploration.failure === null ? null : written(exploration.failure, flags, io);
  io.out(flags.json ? jsonOf(exploration, flags, ended, file) : textOf(exploration, flags, ended, file));
  return exploration.failure === null ? exitStatus.done : exitStatus.notDone;
}

function configIn(file: string, io: CliIo): NonNullable<Scenario['config']> {
  try {
    return checkOptions(readJson(file, io) as LoopOptions);
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

/** A folder that is not there must be said before the work, not after it. */
function checkFolder(out: string | null, io: CliIo): void {
  if (out === null || existsSync(dirname(resolve(io.cwd, out)))) return;
  throw new UsageError(`The folder of ${out} is not there: make it first.`);
}

/** On a terminal, where somebody waits: how far it is. */
function signsOfLife(runs: number, io: CliIo): () => void {
  let done = 0;
  let last = performance.now();
  return () => {
    done += 1;
    if (!io.isTerminal || performance.now() - last < signEveryMs) return;
    last = performance.now();
    io.err(`${done} of ${runs}\n`);
  };
}

function count(ended: Map<string, number>, { reason, outcome }: Terminal): void {
  const name = outcome === null ? reason : `${reason} (${outcome})`;
  ended.set(name, (ended.get(name) ?? 0) + 1);
}

/** Writes the small scenario and gives the name of its file. */
function written({ run, small, violations }: ExploredFailure, { seed, out }: ExploreFlags, io: CliIo): string {
  const file = out ?? `explored-${seed}-${run}.json`;
  const scenario = { ...small, name: `Scenario ${run} of seed ${seed}`, why: violations[0] ?? '' };
  try {
    writeFileSync(resolve(io.cwd, file), `${JSON.stringify(scenario, null, 2)}\n`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new UsageError(`The file ${file} cannot be written (${code}): name another one with --out.`);
  }
  return file;
}

function textOf(
  { runs, failure }: Exploration,
  { seed }: ExploreFlags,
  ended: ReadonlyMap<string, number>,
  file: string | null,
): string {
  if (failure !== null) {
    const broken = failure.violations.map((violation) => `  VIOLATION: ${violation}\n`).join('');
    return `scenario ${failure.run} of seed ${seed} breaks a law\n${broken}  a small one that breaks it too: ${file}\n`;
  }
  const ends = sorted(ended).map(([name, times]) => `${String(times).padStart(8)}  ${name}\n`);
  return `${runs} scenarios of seed ${seed}: no violation\n  their queries ended\n${ends.join('')}`;
}

function jsonOf(
  { runs, failure }: Exploration,
  { seed }: ExploreFlags,
  ended: ReadonlyMap<string, number>,
  file: string | null,
): string {
  const broken = failure === null ? null : { run: failure.run, violations: failure.violations, file };
  return `${JSON.stringify({ seed, runs, failure: broken, terminals: Object.fromEntries(sorted(ended)) }, null, 2)}\n`;
}

/** What came most first; what came equally often by its name. */
function sorted(ended: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...ended].toSorted(([left, times], [right, others]) => others - times || (left < right ? -1 : 1));
}
