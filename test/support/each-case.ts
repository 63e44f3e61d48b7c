/** Runs the scenario files of a folder, each held against its statement of what is right. */
import { expect, it } from 'vitest';
import { simulate } from '../../src/testing/simulate.ts';
import { scenario, scenariosIn } from './scenarios.ts';
import type { Right } from './simulated.ts';

const nameOf = (file: string): string => file.replace(/^.*\/|\.json$/g, '');

/** A test that no file and no statement is alone, then one for each file. */
export function eachCase(folder: string, right: Right): void {
  const files = scenariosIn(folder);

  it('have a statement of what is right for each file', () => {
    expect(files.map(nameOf).toSorted()).toEqual(Object.keys(right).toSorted());
  });

  it.each(files)('%s', async (file) => {
    const result = await simulate(scenario(file));
    expect(result.violations).toEqual([]);
    right[nameOf(file)]?.(result);
  });
}
