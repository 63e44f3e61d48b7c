import { describe } from 'vitest';
import { eachCase } from '../support/each-case.ts';
import { layers } from './right/layers.ts';

describe('layers of the context', () => {
  eachCase('layers', layers);
});
