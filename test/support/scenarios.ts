import { readdirSync, readFileSync } from 'node:fs';
import { parseScenario, type Scenario } from '../../src/testing/scenario.ts';

/** A scenario file of `test/cases`, by its path there. */
export function scenario(path: string): Scenario {
  return parseScenario(JSON.parse(readFileSync(new URL(`../cases/${path}`, import.meta.url), 'utf8')), path);
}

/** Paths of all scenario files in a folder of `test/cases`. */
export function scenariosIn(folder: string): readonly string[] {
  const names = readdirSync(new URL(`../cases/${folder}`, import.meta.url));
  return names.filter((name) => name.endsWith('.json')).map((name) => `${folder}/${name}`);
}
