/** Makes a failing scenario small: takes things out of the file as long as it goes on failing. */
import { type Scenario, scenarioSchema } from './scenario.ts';

/** How many simpler files are tried at most: more than a failing file of the usual size needs. */
const defaultTries = 3_000;

/**
 * The smallest scenario that still fails and that taking one thing away, or making one thing simpler, leads to.
 *
 * @param fails says whether a scenario still fails in the same way; it is asked about valid scenarios only.
 * @param tries how many scenarios it is asked about at most. Default 3,000.
 */
export async function shrinkScenario(
  scenario: Scenario,
  fails: (simpler: Scenario) => Promise<boolean>,
  tries: number = defaultTries,
): Promise<Scenario> {
  let best = scenario;
  let left = tries;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    // After a success the walk goes on at the same place, since what failed before it mostly fails again.
    for (let place = 0, forms = simplerForms(best); place < forms.length; ) {
      const simpler = scenarioSchema.safeParse(forms[place]);
      if (simpler.success && left < 1) return best;
      if (simpler.success) left -= 1;
      if (!simpler.success || !(await fails(simpler.data))) {
        place += 1;
        continue;
      }
      best = simpler.data;
      isSmaller = true;
      forms = simplerForms(best);
    }
  }
  return best;
}

/** Simpler values, those first that take most away. */
function simplerForms(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return simplerLists(value);
  if (typeof value === 'object' && value !== null) return simplerObjects(value);
  if (typeof value === 'number') return simplerNumbers(value);
  return typeof value === 'string' && value.length > 1 ? ['', value.slice(0, 1), value.slice(0, value.length / 2)] : [];
}

/** Without a half, then without each item, then with a simpler item. */
function simplerLists(items: readonly unknown[]): readonly unknown[] {
  const half = Math.ceil(items.length / 2);
  return [
    ...(items.length > 3 ? [items.slice(half), items.slice(0, half)] : []),
    ...items.map((_item, index) => items.toSpliced(index, 1)),
    ...items.flatMap((item, index) => simplerForms(item).map((simpler) => items.with(index, simpler))),
  ];
}

/** Without each member, then with a simpler one. */
function simplerObjects(members: object): readonly unknown[] {
  const entries = Object.entries(members).filter(([, member]) => member !== undefined);
  return [
    ...entries.map((_entry, index) => Object.fromEntries(entries.toSpliced(index, 1))),
    ...entries.flatMap(([key, member]) => simplerForms(member).map((simpler) => ({ ...members, [key]: simpler }))),
  ];
}

function simplerNumbers(number: number): readonly number[] {
  return [0, 1, Math.floor(number / 2)].filter(
    (simpler, index, all) => simpler < number && all.indexOf(simpler) === index,
  );
}
