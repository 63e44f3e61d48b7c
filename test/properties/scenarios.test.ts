import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../src/testing/scenario.ts';
import { simulate } from '../../src/testing/simulate.ts';
import type { SimulationResult } from '../../src/testing/simulation-result.ts';
import { linesOf, models } from '../support/simulated.ts';
import { scenarios } from '../support/random-scenario.ts';

const runs = { numRuns: 150 };

/** Plays random scenarios and hands each result to `look`, with the file that it came from. */
async function each(
  look: (result: SimulationResult, file: Scenario) => void,
  change: (file: Scenario) => Scenario = (file) => file,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(scenarios, async (file) => {
      const changed = change(file);
      look(await simulate(changed), changed);
    }),
    runs,
  );
}

/** The first query alone. */
function oneQuery({ then: _then, ...file }: Scenario): Scenario {
  return file;
}

/** Thinking may be stripped, media replaced, a tool of the API left without its result: edits that nobody is shown. */
const mayEdit = /"image"|"thinking":"|"redacted|Invalid|image|server/;
const cannotEdit = (part: unknown): boolean => !mayEdit.test(JSON.stringify(part));

/** The first query alone, without what may be edited. */
function withoutEdits(file: Scenario): Scenario {
  const model = file.model
    .filter((entry) => 'stream' in entry || cannotEdit(entry))
    .map((entry) => ('stream' in entry ? { ...entry, stream: entry.stream.filter(cannotEdit) } : entry));
  return { ...oneQuery(file), prompt: 'go', messages: (file.messages ?? []).filter(cannotEdit), model };
}

/** What changes history before its end: then requests begin with other bytes. */
const isEdit = /takes over|stripped|replaced|refused/;

function isEdited({ emitted }: SimulationResult): boolean {
  return emitted.some((item) => item.type === 'boundary' || (item.type === 'tombstone' && isEdit.test(item.why)));
}

describe('whatever a scenario does', () => {
  it('breaks no law, and ends', async () => {
    await each((result) => {
      expect(result.violations).toEqual([]);
      expect(result.terminal).not.toBeNull();
    });
  });

  it('shows each message once, takes each back at most once, and keeps what it did not take back', async () => {
    await each((result) => {
      const taken = result.emitted.flatMap((item) => (item.type === 'tombstone' ? [item.messageId] : []));
      const shown = result.emitted.flatMap((item) => ('message' in item ? [item.message.id] : []));
      expect(new Set(taken).size).toBe(taken.length);
      expect(new Set(shown).size).toBe(shown.length);
      const kept = new Set(result.messages.filter(({ refused }) => !refused).map(({ id }) => id));
      expect(taken.filter((id) => kept.has(id))).toEqual([]);
      if (isEdited(result)) return;
      expect(
        shown.filter((id) => !taken.includes(id) && !result.messages.some((message) => message.id === id)),
      ).toEqual([]);
    }, oneQuery);
  });

  it('shows an error exactly once for each query that ended with one', async () => {
    await each(({ emitted, terminals }, { then = [] }) => {
      if (then.some((next) => 'resume' in next)) return;
      const errors = emitted.filter(({ type }) => type === 'error');
      expect(errors).toHaveLength(terminals.filter(({ failure }) => failure !== null).length);
    });
  });

  it('loses no word of the user and says none twice', async () => {
    await each((result) => {
      const said = result.events.filter(({ type }) => type === 'message.queued').length;
      const history = JSON.stringify(result.messages).split('"more"').length - 1;
      const waiting = JSON.stringify(result.queued).split('"more"').length - 1;
      expect(history + waiting).toBeGreaterThanOrEqual(said);
      const ids = [...result.messages, ...result.queued].map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }, oneQuery);
  });

  it('sends requests that begin as the last one did, unless history was edited', async () => {
    await each((result) => {
      if (isEdited(result)) return;
      for (let request = 1; request < models(result).length; request += 1) {
        const before = linesOf(result, request - 1);
        expect(linesOf(result, request).slice(0, before.length)).toEqual(before);
      }
    }, withoutEdits);
  });
});
