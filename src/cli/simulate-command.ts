/** `escapement simulate FILE...`: scenario files through the real engine in virtual time. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatTimeline } from '../testing/format-timeline.ts';
import { parseScenario, type Scenario, ScenarioError } from '../testing/scenario.ts';
import { simulate } from '../testing/simulate.ts';
import { exitStatus } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';

/** Runs the files in order; every file is checked before the first one runs. */
export async function simulateCommand(files: readonly string[], json: boolean, io: CliIo): Promise<number> {
  const scenarios = files.map((file) => readScenario(file, io));
  let status: number = exitStatus.done;
  for (const [index, scenario] of scenarios.entries()) {
    const result = await simulated(scenario, files[index] ?? '');
    io.out(`${json ? JSON.stringify(result, null, 2) : formatTimeline(result)}\n`);
    if (result.violations.length > 0) status = exitStatus.notDone;
  }
  return status;
}

/** Options of the scenario are checked by `query()`, whose sentences are for users too. */
async function simulated(scenario: Scenario, file: string): ReturnType<typeof simulate> {
  try {
    return await simulate(scenario);
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(`${file}: ${error.message}`) : error;
  }
}

function readScenario(file: string, io: CliIo): Scenario {
  try {
    return parseScenario(readJson(file, io), file);
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}

/** Reads a JSON file; a `UsageError` says what is wrong with it. */
export function readJson(file: string, io: CliIo): unknown {
  let text: string;
  try {
    text = readFileSync(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new UsageError(`The file ${file} cannot be read (${code}): name one that exists.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `The file ${file} is no JSON: ${error instanceof Error ? error.message : 'it cannot be read'}.`,
    );
  }
}
