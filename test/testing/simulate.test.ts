/* oxlint-disable unicorn/no-thenable -- the word of the format; nobody awaits a scenario */
import { describe, expect, it } from 'vitest';
import { formatTimeline } from '../../src/testing/format-timeline.ts';
import { parseScenario, type Scenario } from '../../src/testing/scenario.ts';
import { simulate, simulateRecorded } from '../../src/testing/simulate.ts';
import type { SimulationResult } from '../../src/testing/simulation-result.ts';
import { scenario, scenariosIn } from '../support/scenarios.ts';
import { ending, models, shown, verdicts } from '../support/simulated.ts';

const done = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };
const uses = (name: string, id: string) => ({ stream: [{ tool: name, id, input: {} }, { stop: 'tool_use' }] });

function play(members: Readonly<Record<string, unknown>>): Promise<SimulationResult> {
  return simulate(parseScenario({ name: 'n', prompt: 'go', model: [done], ...members }));
}

/** A turn with a tool that cannot harm, a turn with one that can, a failed request, a stop hook that blocks. */
const small = {
  model: [
    { stream: [{ tool: 'read', id: 't1', input: {} }, { tool: 'write', id: 't2', input: {} }, { stop: 'tool_use' }] },
    { status: 529 },
    done,
    { ...done, repeat: true },
  ],
  tools: {
    read: { safe: true, results: [{ ms: 20, text: 'x' }] },
    write: { results: [{ ms: 30, text: 'written' }] },
  },
  hooks: { stop: [{ block: ['lint'] }, { pass: true }] },
};

describe('simulate', () => {
  it('prints the same bytes for the same file and seed, and other ids for another seed', async () => {
    const [first, second, other] = [await play(small), await play(small), await play({ ...small, seed: 2 })];
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    expect(formatTimeline(second)).toBe(formatTimeline(first));
    expect(other.messages[0]?.id).not.toBe(first.messages[0]?.id);
    expect(other.transitions).toEqual(first.transitions);
    // The jitter of the retry is drawn by the seed.
    expect(other.ms).not.toBe(first.ms);
  });

  it('numbers events without a gap, and says beforehand what the worst case is', async () => {
    const result = await play(small);
    expect(result.events.map(({ index }) => index)).toEqual(result.events.map((_event, index) => index));
    expect(result.counts.modelCalls).toBeLessThanOrEqual(result.bound.modelCalls);
    expect(result.counts).toEqual({ modelCalls: 4, summaryCalls: 0, toolRuns: 2, stopHookRuns: 2 });
  });

  it('takes no wall time for waits', async () => {
    const before = performance.now();
    const result = await play({ model: [{ stream: [{ wait: 60_000 }, ...done.stream] }] });
    expect(result.ms).toBe(60_000);
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  it('lists what no script foresaw as violations, and does not reject', async () => {
    const result = await play({ model: [], config: { limits: { retries: 0 } } });
    expect(result.violations).toEqual(['The script has no answer left for a model request.']);
    expect(result.terminal).toMatchObject({ reason: 'model_error', failure: { status: 500 } });
    expect(formatTimeline(result)).toContain('VIOLATION: The script has no answer left');
  });

  it('says so when a run can never end', async () => {
    const result = await play({ model: [uses('hang', 't1')], tools: { hang: { results: [{ hangs: true }] } } });
    expect(result.terminal).toBeNull();
    expect(result.violations).toContain('Query 1: The query threw: The run waits for something that never comes.');
  });

  it('refuses what is larger than the window in the words of the API', async () => {
    // The figures of the server are far too low, so the loop takes the results for small.
    const blind = {
      config: { contextWindow: 10_000, modelMaxOutput: 1_000, maxOutputTokens: 300 },
      model: [
        { ...uses('read', 't1'), usage: { input: 30 } },
        { ...uses('read', 't2'), usage: { input: 40 } },
        { ...done, repeat: true },
      ],
      summary: [{ text: 'short', repeat: true }],
      tools: { read: { safe: true, results: [{ size: 16_000 }] } },
    };
    const cured = await play(blind);
    expect(cured.violations).toEqual([]);
    expect(models(cured).some(({ estimate }) => estimate > 10_000)).toBe(true);
    expect([cured.transitions.at(-1), ending(cured)]).toEqual(['reactive_compact_retry', 'completed done']);
    const shownAtLast = await play({ ...blind, config: { ...blind.config, reactiveCompact: false } });
    expect(ending(shownAtLast)).toBe('prompt_too_long');
    expect(shownAtLast.terminal?.failure?.message).toMatch(/^prompt is too long: \d+ tokens > 10000 maximum$/);
    expect(shownAtLast.violations).toEqual([]);
  });
});

describe('what the user does', () => {
  const waiting = { model: [uses('slow', 't1'), done], tools: { slow: { results: [{ ms: 1_000, text: 'x' }] } } };

  it('happens before an event of the first query, once, and is an event of its own', async () => {
    const result = await play({ ...small, user: [{ submit: 'b', at: 3 }], then: [{ prompt: 'next' }] });
    expect(result.violations).toEqual([]);
    expect(result.events.filter(({ type }) => type === 'message.queued')).toEqual([
      { index: 3, type: 'message.queued', phase: 'streaming' },
    ]);
    const first = result.events.slice(
      0,
      result.events.findLastIndex(({ index }) => index === 0),
    );
    expect(first.map(({ index }) => index)).toEqual(first.map((_event, index) => index));
  });

  it.each<[string, unknown, number]>([
    ['so long after a phase began', { phase: 'runningTools', after: 400 }, 400],
    ['when a tool starts', { tool: 't1' }, 0],
  ])('happens %s', async (_name, at, ms) => {
    const result = await play({ ...waiting, user: [{ abort: 'interrupt', at }] });
    expect(result.violations).toEqual([]);
    expect([ending(result), result.ms]).toEqual(['aborted_tools', ms]);
    expect(verdicts(result)).toEqual([['t1', true]]);
  });

  it('never happens when the query is over before, nor in the next one', async () => {
    const result = await play({
      ...waiting,
      model: [...waiting.model, { stream: [{ wait: 5_000 }, ...done.stream] }],
      user: [{ abort: 'interrupt', at: { phase: 'runningTools', after: 3_000 } }],
      then: [{ prompt: 'next' }],
    });
    expect(result.violations).toEqual([]);
    expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  });

  it('waits for the next query when it interrupts with words', async () => {
    const act = { abort: 'submit', text: 'this instead', at: { tool: 't1' } };
    const alone = await play({ ...waiting, user: [act] });
    expect(alone.queued.map(({ content }) => content)).toEqual([[{ type: 'text', text: 'this instead' }]]);
    expect(formatTimeline(alone)).toContain('queued: 1 user messages wait for the next query');
    const followed = await play({ ...waiting, user: [act], then: [{ prompt: 'and that' }] });
    expect(followed.queued).toEqual([]);
    expect(
      models(followed)[1]
        ?.messages.at(-1)
        ?.content.map((block) => block['text'] ?? block.type),
    ).toEqual(['tool_result', 'this instead', 'and that']);
  });
});

describe('what comes after the query', () => {
  it('goes on from the history, with options of its own', async () => {
    const result = await play({
      model: [done, { ...done, repeat: true }],
      then: [{ prompt: 'next', config: { maxOutputTokens: 77 } }, { prompt: 'last' }],
    });
    expect(models(result).map(({ maxTokens }) => maxTokens)).toEqual([8_000, 77, 8_000]);
    expect(models(result)[2]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(result.terminals).toHaveLength(3);
  });

  it('ends as it would have, wherever the process dies, and runs no harmful tool twice', async () => {
    const whole = await play(small);
    for (const { index } of whole.events) {
      const { result, journals } = await simulateRecorded(
        parseScenario({
          name: 'n',
          prompt: 'go',
          ...small,
          model: endless(small.model),
          then: [{ resume: { cut: index } }],
        }),
      );
      expect({ index, violations: result.violations }).toEqual({ index, violations: [] });
      expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['done']);
      expect(result.counts.toolRuns).toBeLessThanOrEqual(4);
      const ids = verdicts(result).map(([id]) => id);
      expect(new Set(ids).size).toBe(ids.length);
      // The journal is one: what was recorded, the resumption, what came after it.
      const types = journals[1]?.events.map(({ type }) => type) ?? [];
      expect(types.indexOf('query.resumed')).toBe(index);
      expect(types.slice(0, index)).toEqual(whole.events.slice(0, index).map(({ type }) => type));
    }
  });

  it('can die twice: indexes go on where the journal was cut', async () => {
    const result = await play({
      ...small,
      model: endless(small.model),
      then: [{ resume: { cut: 4 } }, { resume: { cut: 6 } }, { prompt: 'next' }],
    });
    expect(result.violations).toEqual([]);
    expect(result.events.filter(({ type }) => type === 'query.resumed').map(({ index }) => index)).toEqual([4, 6]);
    expect(result.terminals.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  });
});

/** A run that does more than the script foresaw goes on to the end. */
function endless(model: readonly unknown[]): readonly unknown[] {
  return [...model, { ...done, repeat: true }];
}

describe('every case', () => {
  const files = [...scenariosIn('transitions'), ...scenariosIn('field')].filter((file) => isOneQuery(scenario(file)));
  const short = { text: 'short', repeat: true };

  /** A query alone that needs no abort to end, and that is short enough to be run at every place. */
  function isOneQuery({ then, tools, model }: Scenario): boolean {
    const isLong = model.some(({ times = 1 }) => times > 100);
    return then === undefined && !isLong && !JSON.stringify(tools ?? {}).includes('"hangs"');
  }

  /** The file, cut or interrupted at some place, never at a loss for an answer. */
  function varied(file: string, members: Partial<Scenario>): Scenario {
    const { user: _user, ...given } = scenario(file);
    const model = [...given.model.map(({ repeat: _repeat, ...entry }) => entry), { ...done, repeat: true }];
    const summary = [...(given.summary ?? []), short];
    const background = given.small === undefined ? {} : { small: [...given.small, short] };
    return { ...given, model, summary, ...background, ...members };
  }

  it.each(files)('%s leaves a legal history when it meets an abort or dies before any event', async (file) => {
    const { events } = await simulate(varied(file, {}));
    for (const { index } of events.slice(0, 12)) {
      const aborted = await simulate(
        varied(file, { user: [{ abort: 'interrupt', at: index }], then: [{ prompt: 'n' }] }),
      );
      expect({ index, violations: aborted.violations }).toEqual({ index, violations: [] });
      expect(aborted.terminals[0]?.reason).toMatch(/^aborted_/);
      expect(shown(aborted, 'error').length).toBeLessThanOrEqual(1);
      const died = await simulate(varied(file, { then: [{ resume: { cut: index } }, { prompt: 'n' }] }));
      expect({ index, violations: died.violations }).toEqual({ index, violations: [] });
      expect(died.terminals).toHaveLength(2);
    }
  });
});
