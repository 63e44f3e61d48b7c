import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { goldenFolder, goldenNames, readGolden } from './support/golden.ts';
import { traceOf } from './support/trace.ts';

describe('a golden journal', () => {
  it.each(goldenNames())('%s does what it did when it was recorded', (name) => {
    const trace = readFileSync(new URL(`${name}.txt`, goldenFolder), 'utf8');
    expect(traceOf(readGolden(name)), 'A change that is meant is written by: npm run golden').toBe(trace);
  });
});
