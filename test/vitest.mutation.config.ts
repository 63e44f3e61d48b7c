/** Tests for mutation runs: of the core alone, and quick, since they run again for each mutant (`docs/mutation.md`). */
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const core = 'test/core/**/*.test.ts,test/cases/{layers,worst}.test.ts,test/properties/{laws,chart}.test.ts';

export default defineConfig({
  root: path.resolve(import.meta.dirname, '..'),
  test: {
    // Braces hold commas of their own: the split is at those in front of a path.
    include: (process.env['ESCAPEMENT_MUTATION_TESTS'] ?? core).split(/,(?=test\/)/),
    setupFiles: ['test/setup.ts'],
    // One seed for all mutants: whether one is found must not be luck.
    env: { ESCAPEMENT_SEED: '1' },
    testTimeout: 60_000,
    restoreMocks: true,
  },
});
