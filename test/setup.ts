/** Random runs that can be repeated: one seed for the whole run, from the environment or drawn in `vitest.config.ts`. */
import fc from 'fast-check';
import { afterEach } from 'vitest';

const seed = Number(process.env['ESCAPEMENT_SEED']);
fc.configureGlobal({ seed });

afterEach(({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(`Repeat with ESCAPEMENT_SEED=${seed} npm test\n`);
});
