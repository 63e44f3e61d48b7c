import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exploreCommand, type ExploreFlags } from '../../src/cli/explore-command.ts';
import { simulateCommand } from '../../src/cli/simulate-command.ts';
import type { SimulationResult } from '../../src/testing/simulation-result.ts';
import { fakeIo } from './fake-io.ts';

const flags: ExploreFlags = { runs: 500, seed: 7, config: null, out: null, json: false };
const law = ({ terminals }: SimulationResult): readonly string[] =>
  terminals.some(({ outcome }) => outcome === 'refusal') ? ['No query may be refused.'] : [];

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'escapement-explore-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

describe('a scenario that breaks a law', () => {
  it('is made small, written and named; the status is 1', { timeout: 60_000 }, async () => {
    const io = fakeIo({ cwd });
    expect(await exploreCommand(flags, io, { law })).toBe(1);
    const [, run, file] =
      /^scenario (\d+) of seed 7 breaks a law\n {2}VIOLATION: No query may be refused\.\n.*: (\S+)\n$/.exec(
        io.printed.out,
      ) ?? [];
    expect(file).toBe(`explored-7-${run}.json`);
    expect(JSON.parse(readFileSync(join(cwd, file ?? ''), 'utf8'))).toEqual({
      name: `Scenario ${run} of seed 7`,
      why: 'No query may be refused.',
      model: [{ stream: [{ stop: 'refusal' }] }],
    });
    // What was written is a file like any other; the law of the test is not one of its own.
    const again = fakeIo({ cwd });
    expect(await simulateCommand([file ?? ''], false, again)).toBe(0);
    expect(again.printed.out).toContain('completed (refusal)');
  });

  it('goes where --out says, and into the JSON', { timeout: 60_000 }, async () => {
    const io = fakeIo({ cwd });
    expect(await exploreCommand({ ...flags, out: 'small.json', json: true }, io, { law })).toBe(1);
    const { failure } = JSON.parse(io.printed.out) as { readonly failure: unknown };
    expect(failure).toMatchObject({ violations: ['No query may be refused.'], file: 'small.json' });
    expect(readFileSync(join(cwd, 'small.json'), 'utf8')).toContain('refusal');
  });

  it('that cannot be written is said in a sentence', { timeout: 60_000 }, async () => {
    await expect(exploreCommand({ ...flags, out: '.' }, fakeIo({ cwd }), { law })).rejects.toThrow(
      /The file \. cannot be written \(EISDIR\)/,
    );
  });
});
