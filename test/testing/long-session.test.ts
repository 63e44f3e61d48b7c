import { describe, expect, it } from 'vitest';
import { simulate } from '../../src/testing/simulate.ts';
import { longSession } from '../support/long-session.ts';
import { ending } from '../support/simulated.ts';

describe('a session of 2,000 turns in a window of 40,000 tokens', () => {
  const turns = 2_000;

  it.each([
    { name: 'auto-compact', config: {}, least: 20, most: 120 },
    { name: 'snip', config: { snip: true }, least: 0, most: 0 },
    {
      name: 'collapse and local microcompact',
      config: { collapse: true, microcompact: 'local' as const },
      least: 0,
      most: 60,
    },
  ])('runs to its end with $name, in bounded memory', { timeout: 120_000 }, async ({ config, least, most }) => {
    const heap: number[] = [];
    let runs = 0;
    const watch = {
      name: 'memory',
      tools: ['read'],
      run: () => {
        runs += 1;
        if (runs % 500 === 0) heap.push(process.memoryUsage().heapUsed);
        return undefined;
      },
    };
    const result = await simulate(longSession(turns, config), {
      keep: 'counts',
      query: { hooks: { preToolUse: [watch] } },
    });
    expect(result.violations).toEqual([]);
    expect([ending(result), result.turnCount]).toEqual(['completed done', turns + 1]);
    expect(result.counts).toMatchObject({ modelCalls: turns + 1, toolRuns: 2 * turns });
    expect(result.counts.summaryCalls).toBeGreaterThanOrEqual(least);
    expect(result.counts.summaryCalls).toBeLessThanOrEqual(most);
    expect(result.messages.length).toBeLessThan(500);
    expect(heap).toHaveLength(4);
    // What is not collected yet counts too, so the bar is coarse: what keeps every turn would take several times as much.
    expect(heap[3]! - heap[0]!).toBeLessThan(60e6);
  });
});

describe('a simulation that keeps counts', () => {
  it('says the same as one that keeps all, without events, requests and outputs', async () => {
    const scenario = longSession(60);
    const whole = await simulate(scenario);
    const counted = await simulate(scenario, { keep: 'counts' });
    expect(whole.events.length).toBeGreaterThan(300);
    expect(counted).toEqual({ ...whole, events: [], requests: [], emitted: [] });
  });

  it('keeps errors, tombstones and violations, and can be cut and resumed', async () => {
    const failing = { ...longSession(3), model: [{ status: 400, message: 'no' }] };
    const failed = await simulate(failing, { keep: 'counts' });
    expect(failed.violations).toEqual([]);
    expect(failed.emitted.map(({ type }) => type)).toEqual(['error']);
    const unforeseen = await simulate({ ...longSession(3), model: [] }, { keep: 'counts' });
    expect(unforeseen.violations[0]).toMatch(/no answer left/);
    const model = longSession(3).model.map((entry) => ({ ...entry, times: 4 }));
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the format; nobody awaits a scenario
    const cut = await simulate({ ...longSession(3), model, then: [{ resume: { cut: 9 } }] }, { keep: 'counts' });
    expect(cut.violations).toEqual([]);
    expect(cut.terminals).toHaveLength(1);
  });
});
