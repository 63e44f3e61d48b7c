import { describe, expect, it } from 'vitest';
import { choicesOf } from '../../src/testing/choose.ts';
import { explore } from '../../src/testing/explore.ts';
import { randomScenario } from '../../src/testing/random-scenario.ts';
import { parseScenario, type Scenario } from '../../src/testing/scenario.ts';
import { shrinkScenario } from '../../src/testing/shrink-scenario.ts';
import { simulate } from '../../src/testing/simulate.ts';
import type { SimulationResult } from '../../src/testing/simulation-result.ts';

const size = (file: Scenario): number => JSON.stringify(file).length;
/** A law that no engine could hold: a refusal is an end like any other. */
const noRefusal = ({ terminals }: SimulationResult): readonly string[] =>
  terminals.some(({ outcome }) => outcome === 'refusal') ? ['A query ended with a refusal 17.'] : [];

describe('randomScenario', () => {
  const drawn = Array.from({ length: 400 }, (_, number) => randomScenario(choicesOf(`s${number}`)));

  it('makes scenarios that the format takes as they are', () => {
    for (const file of drawn) expect(parseScenario(JSON.parse(JSON.stringify(file)))).toEqual(file);
  });

  it('draws every key of the format that a run depends on', () => {
    const all = JSON.stringify(drawn);
    const keys = [
      ...['text', 'block', 'thinking', 'redacted', 'tool', 'json', 'open', 'serverTool', 'serverResult', 'message'],
      ...['usage', 'blockStop', 'wait', 'ping', 'stop', 'error', 'eof', 'reset', 'stall', 'status', 'body', 'raw'],
      ...['headers', 'tooLongOver', 'times', 'throws', 'hangs', 'size', 'content', 'cancelsSiblings', 'isError'],
      ...['safe', 'readOnly', 'replaySafe', 'staged', 'small', 'block', 'pass', 'prevent', 'crash', 'deny', 'allow'],
      ...['ask', 'input', 'context', 'permissions', 'abort', 'submit', 'phase', 'after', 'resume', 'cut', 'prompt'],
      ...['fallbackModels', 'thinking', 'tokenBudget', 'taskBudget', 'autoCompact', 'reactiveCompact', 'snip'],
      ...['collapse', 'microcompact', 'querySource', 'maxOutputTokens', 'maxTurns', 'toolConcurrency', 'profile'],
      ...['permissionMode', 'limits', 'contextWindow'],
    ];
    expect(keys.filter((key) => !all.includes(`"${key}":`))).toEqual([]);
  });

  it('keeps the options that it is given', () => {
    const file = randomScenario(choicesOf('a'), { maxTurns: 7, profile: 'plain' });
    expect(file.config).toMatchObject({ maxTurns: 7, profile: 'plain' });
  });
});

describe('explore', () => {
  it('finds nothing in a loop that is right, and the same nothing for the same seed', { timeout: 60_000 }, async () => {
    const ends = async (seed: number): Promise<readonly string[]> => {
      const seen: string[] = [];
      const onRun = (result: SimulationResult): void => void seen.push(JSON.stringify(result));
      const { runs, failure } = await explore({ runs: 40, seed, onRun });
      expect([runs, failure]).toEqual([40, null]);
      return seen;
    };
    const first = await ends(7);
    expect(await ends(7)).toEqual(first);
    expect(await ends(8)).not.toEqual(first);
  });

  it('makes the scenario that breaks a law small', { timeout: 60_000 }, async () => {
    const { runs, failure } = await explore({ runs: 500, seed: 7, law: noRefusal });
    expect(failure?.run).toBe(runs);
    expect(failure?.violations).toEqual(['A query ended with a refusal 17.']);
    expect(failure?.small).toEqual({ name: '', model: [{ stream: [{ stop: 'refusal' }] }] });
    expect(size(failure!.scenario)).toBeGreaterThan(10 * size(failure!.small));
  });

  it('finds a hook that leaves something behind', { timeout: 60_000 }, async () => {
    const stop = [
      { name: 'careless', run: (_view: unknown, signal: AbortSignal) => signal.addEventListener('abort', () => {}) },
    ];
    const { failure } = await explore({ runs: 100, simulation: { query: { hooks: { stop } } } });
    expect(failure?.violations).toEqual(['Query 1: An abort listener is left on the signal of the hook careless.']);
    expect(size(failure!.small)).toBeLessThan(100);
    // The small file alone, without the hook, breaks nothing but the length of its script.
    expect((await simulate(failure!.small)).violations.join()).not.toContain('listener');
  });

  it('holds the options for every scenario', async () => {
    const seen: number[] = [];
    await explore({
      runs: 20,
      config: { maxOutputTokens: 77, modelMaxOutput: 100, contextWindow: 5_000 },
      onRun: ({ requests }) =>
        seen.push(...requests.filter(({ purpose }) => purpose === 'model').map(({ maxTokens }) => maxTokens)),
    });
    expect(seen.length).toBeGreaterThan(0);
    expect(Math.max(...seen)).toBe(77);
  });
});

describe('shrinkScenario', () => {
  const file = parseScenario({
    name: 'n',
    prompt: 'a long prompt',
    model: Array.from({ length: 12 }, (_, index) => ({
      stream: [{ text: 'ab' }, { wait: index * 100 }, { stop: 'end_turn' }],
    })),
    user: [{ submit: 'x', at: 3 }],
  });
  const waits = ({ model }: Scenario): readonly number[] =>
    model.flatMap((entry) =>
      'stream' in entry ? entry.stream.flatMap((item) => ('wait' in item ? [item.wait] : [])) : [],
    );

  it('takes away all that does not matter, and makes numbers small', async () => {
    const small = await shrinkScenario(file, async (simpler) => waits(simpler).some((wait) => wait >= 350));
    expect(small.model).toHaveLength(1);
    expect([small.user, small.prompt]).toEqual([undefined, undefined]);
    expect(waits(small)[0]).toBeGreaterThanOrEqual(350);
    expect(waits(small)[0]).toBeLessThan(700);
  });

  it('asks about valid scenarios only, no oftener than it may, and gives back one that fails', async () => {
    let asked = 0;
    const small = await shrinkScenario(
      file,
      async (simpler) => {
        asked += 1;
        expect(parseScenario(simpler)).toEqual(simpler);
        return simpler.model.length > 2;
      },
      25,
    );
    expect(asked).toBeLessThanOrEqual(25);
    expect(small.model.length).toBeGreaterThan(2);
    expect(await shrinkScenario(file, async () => false)).toEqual(file);
  });
});
