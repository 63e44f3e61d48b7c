import { describe, expect, it } from 'vitest';
import { simulate } from '../../src/testing/simulate.ts';
import { scenario, scenariosIn } from '../support/scenarios.ts';
import { layers } from './right/layers.ts';

const files = scenariosIn('layers');
const nameOf = (file: string): string => file.replace(/^.*\/|\.json$/g, '');

describe('layers of the context', () => {
  it('have a statement of what is right for each file', () => {
    expect(files.map(nameOf).toSorted()).toEqual(Object.keys(layers).toSorted());
  });

  it.each(files)('%s', async (file) => {
    const result = await simulate(scenario(file));
    expect(result.violations).toEqual([]);
    layers[nameOf(file)]?.(result);
  });
});
