import { randomInt } from 'node:crypto';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const seed = process.env['ESCAPEMENT_SEED'] ?? String(randomInt(2 ** 31));

export default defineConfig({
  root: path.resolve(import.meta.dirname, '..'),
  cacheDir: 'node_modules/.cache/vite',
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    env: { ESCAPEMENT_SEED: seed },
    // Processes and not threads: tests start and kill children, and change the working folder.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    benchmark: { include: ['test/**/*.bench.ts'] },
  },
});
