/**
 * Writes what replaying the golden journals gives, after a change of the rules that is meant. A scenario file without a
 * journal gets one; a journal that exists stays as it was recorded, since older journals must go on to replay.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { simulateRecorded } from '../src/testing/simulate.ts';
import { goldenFolder, goldenNames, journalText, readGolden } from './support/golden.ts';
import { scenario, scenariosIn } from './support/scenarios.ts';
import { traceOf } from './support/trace.ts';

/** Larger journals are left out, in characters: they hold long texts, and the rows in them are those of the others. */
const largest = 40_000;

for (const folder of ['transitions', 'layers', 'field']) {
  mkdirSync(new URL(`${folder}/`, goldenFolder), { recursive: true });
  for (const file of scenariosIn(folder)) {
    const name = file.replace('.json', '');
    if (existsSync(new URL(`${name}.jsonl`, goldenFolder))) continue;
    const { journals } = await simulateRecorded(scenario(file));
    for (const [index, recorded] of journals.entries()) {
      const text = journalText(recorded);
      const query = index === 0 ? name : `${name}-${index + 1}`;
      if (text.length <= largest) writeFileSync(new URL(`${query}.jsonl`, goldenFolder), text);
    }
  }
}
for (const name of goldenNames()) {
  writeFileSync(new URL(`${name}.txt`, goldenFolder), traceOf(readGolden(name)));
}
