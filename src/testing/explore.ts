/** Random scenarios through the real engine, until one breaks a law: that one is made small. */
import { choicesOf } from './choose.ts';
import { randomScenario } from './random-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shrinkScenario } from './shrink-scenario.ts';
import { simulate } from './simulate.ts';
import type { SimulationOptions } from './simulation-options.ts';
import type { SimulationResult } from './simulation-result.ts';

export interface ExploreOptions {
  /** How many scenarios are drawn. */
  readonly runs: number;
  /** The same seed draws the same scenarios. Default 1. */
  readonly seed?: number;
  /** Options of the scenarios that take the place of drawn ones. */
  readonly config?: NonNullable<Scenario['config']>;
  /** Own tools, hooks and layers in the place of the scripted ones. */
  readonly simulation?: SimulationOptions;
  /** A law of one's own: says what is wrong with a result, one sentence each. */
  readonly law?: (result: SimulationResult) => readonly string[];
  /** Called after each scenario that broke no law. */
  readonly onRun?: (result: SimulationResult) => void;
}

/** A scenario that broke a law, and the small one that breaks it too. */
export interface ExploredFailure {
  /** Which of the drawn scenarios it is, from 1. */
  readonly run: number;
  readonly scenario: Scenario;
  readonly small: Scenario;
  /** What the small one breaks. */
  readonly violations: readonly string[];
}

export interface Exploration {
  /** Scenarios that were run, a failing one included; what shrinking ran is left out. */
  readonly runs: number;
  /** The first failure; null when no law was broken. */
  readonly failure: ExploredFailure | null;
}

/**
 * Draws scenarios and runs each. Ends with the first that breaks a law.
 *
 * @throws TypeError when an option of `config` cannot be used.
 */
export async function explore(options: ExploreOptions): Promise<Exploration> {
  const { runs, seed = 1, config, onRun } = options;
  for (let run = 1; run <= runs; run += 1) {
    const scenario = randomScenario(choicesOf(`explore ${seed} ${run}`), config);
    const result = await simulate(scenario, options.simulation);
    const violations = broken(result, options);
    if (violations.length > 0) return { runs: run, failure: await failureOf(run, scenario, violations, options) };
    onRun?.(result);
  }
  return { runs, failure: null };
}

function broken(result: SimulationResult, { law }: ExploreOptions): readonly string[] {
  return [...result.violations, ...(law?.(result) ?? [])];
}

async function failureOf(
  run: number,
  scenario: Scenario,
  violations: readonly string[],
  options: ExploreOptions,
): Promise<ExploredFailure> {
  const kinds = new Set(violations.map(kindOf));
  const small = await shrinkScenario(scenario, async (simpler) => {
    const found = await violationsOf(simpler, options);
    // Breaking something else too, such as a script that has run out, would be no simpler failure.
    return found.length > 0 && found.every((violation) => kinds.has(kindOf(violation)));
  });
  return { run, scenario, small, violations: await violationsOf(small, options) };
}

/** None for a scenario that cannot be run: shrinking may make options that `query()` refuses. */
async function violationsOf(scenario: Scenario, options: ExploreOptions): Promise<readonly string[]> {
  try {
    return broken(await simulate(scenario, options.simulation), options);
  } catch (error) {
    if (error instanceof TypeError) return [];
    throw error;
  }
}

/** The sentence without its figures and ids: a smaller file breaks the same law in another place. */
function kindOf(violation: string): string {
  return violation.replaceAll(/[\da-f]*\d[\da-f-]*/g, '#');
}
