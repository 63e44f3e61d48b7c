/** `npm run laws [-- ROUNDS]`: the files with random tests again and again, each round with a fresh seed; 10 by default. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const rounds = Number(process.argv[2] ?? 10);
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error(`npm run laws: ${process.argv[2]} is no number of rounds; give a whole number from 1 up.`);
  process.exit(2);
}
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const isRandom = /^import .*from '(fast-check|.*\/support\/(legal-history|nasty-history|random-\w+)\.ts)'/m;
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((file) => path.join('test', file))
  .filter((file) => file.endsWith('.test.ts') && isRandom.test(readFileSync(file, 'utf8')));
for (let round = 1; round <= rounds; round += 1) {
  const seed = String(randomInt(2 ** 31));
  console.log(`round ${round} of ${rounds}: ESCAPEMENT_SEED=${seed}`);
  const run = [vitest, 'run', '--config', 'test/vitest.config.ts', '--reporter=dot', ...files];
  const { status } = spawnSync(process.execPath, run, {
    stdio: 'inherit',
    env: { ...process.env, ESCAPEMENT_SEED: seed },
  });
  if (status !== 0) process.exit(1);
}
console.log(`${rounds} rounds of ${files.length} files held.`);
