import { describe, expect, it } from 'vitest';
import type { LoopConfig } from '../../../src/core/config.ts';
import type { LoopState, ToolOutcome, ToolRun, ToolVerdict } from '../../../src/core/state.ts';
import { scheduleTools } from '../../../src/core/tools/schedule-tools.ts';
import { endAll, recordOutcome, schedule, syntheticOutcome } from '../../../src/core/tools/schedule.ts';
import { Drive } from '../../support/drive.ts';

const { state: start, config: defaults } = new Drive();
const safe: ToolVerdict = { concurrencySafe: true, readOnly: true, replaySafe: true };
const unsafe: ToolVerdict = { ...safe, concurrencySafe: false, readOnly: false };
const agent: ToolVerdict = { ...safe, startsAgent: true };
const worked: ToolOutcome = { ...syntheticOutcome('ok'), isError: false, stage: 'run' };

function run(id: string, verdict: ToolVerdict = safe, more: Partial<ToolRun> = {}): ToolRun {
  const named = { toolUseId: id, name: `tool ${id}`, input: {}, effectId: `e-${id}`, decisions: [] };
  return { ...named, verdict, status: 'waiting', outcome: null, ...more };
}

const running = { status: 'running' } as const;
const ended = { status: 'ended', outcome: worked } as const;
const statuses = (runs: readonly ToolRun[]): string => runs.map(({ status }) => status[0]).join('');
const textsOf = (runs: readonly ToolRun[]): readonly unknown[] =>
  runs.map(({ outcome }) => outcome?.content[0] ?? null);
const says = (text: string) => ({ type: 'text', text });

/** First letters of the statuses after scheduling: waiting, running, ended. */
function after(runs: readonly ToolRun[], mode: 'early' | 'all' = 'all', toolConcurrency = 10): string {
  return statuses(schedule(runs, mode, { ...defaults, toolConcurrency }));
}

describe('the schedule', () => {
  it('runs safe tools beside each other, up to the limit, and at least one', () => {
    expect(after([run('a'), run('b'), run('c')])).toBe('rrr');
    expect(after([run('a'), run('b'), run('c')], 'all', 2)).toBe('rrw');
    expect(after([run('a', safe, running), run('b'), run('c')], 'all', 2)).toBe('rrw');
    expect(after([run('a'), run('b')], 'all', 0)).toBe('rw');
  });

  it('never runs an unsafe tool beside another, and holds back those behind it', () => {
    expect(after([run('a', unsafe), run('b'), run('c')])).toBe('rww');
    expect(after([run('a'), run('b', unsafe), run('c')])).toBe('rww');
    expect(after([run('a', unsafe, running), run('b')])).toBe('rw');
    expect(after([run('a', unsafe, running), run('b', safe, running), run('c')])).toBe('rrw');
    expect(after([run('a', unsafe, ended), run('b')])).toBe('er');
    expect(after([run('a', safe, ended), run('b', unsafe)])).toBe('er');
  });

  it('starts early only what can do no harm', () => {
    expect(after([run('a'), run('b')], 'early')).toBe('rr');
    expect(after([run('a', unsafe)], 'early')).toBe('w');
    expect(after([run('a', { ...safe, readOnly: false }), run('b')], 'early')).toBe('ww');
    expect(after([run('a', { ...safe, concurrencySafe: false })], 'early')).toBe('w');
    expect(after([run('a', agent)], 'early')).toBe('w');
  });

  it('starts nothing once a hook or the user stopped it', () => {
    expect(after([run('a', safe, { ...ended, outcome: { ...worked, stop: 'enough' } }), run('b')])).toBe('ew');
    expect(after([run('a', safe, { ...ended, outcome: { ...worked, interrupt: true } }), run('b')])).toBe('ew');
  });

  it('gives back the same list when nothing starts', () => {
    const runs = [run('a', unsafe, running), run('b')];
    expect(schedule(runs, 'all', defaults)).toBe(runs);
    const held = [run('a', safe, { ...ended, outcome: { ...worked, interrupt: true } }), run('b')];
    expect(schedule(held, 'all', defaults)).toBe(held);
  });
});

describe('an outcome', () => {
  const runs = [run('a', safe, running), run('b', safe, running), run('c'), run('d', safe, ended)];

  it('ends its run and leaves the others', () => {
    const next = recordOutcome(runs, 'a', worked);
    expect(next[0]).toEqual({ ...runs[0], status: 'ended', outcome: worked });
    expect(next.slice(1)).toEqual(runs.slice(1));
  });

  it('cancels the siblings that run, when it is an error that says so', () => {
    const failed = { ...worked, isError: true, cancelsSiblings: true };
    const next = recordOutcome(runs, 'a', failed);
    expect(statuses(next)).toBe('eewe');
    expect(textsOf(next)[1]).toEqual(says('Cancelled: tool a, which ran beside this one, failed.'));
    expect(textsOf(recordOutcome(runs, 'gone', failed))[0]).toEqual(
      says('Cancelled: a tool, which ran beside this one, failed.'),
    );
    expect(statuses(recordOutcome(runs, 'a', { ...failed, isError: false }))).toBe('erwe');
    expect(statuses(recordOutcome(runs, 'a', { ...failed, cancelsSiblings: false }))).toBe('erwe');
  });

  it('cancels them when the user ended the turn', () => {
    const next = recordOutcome(runs, 'a', { ...worked, interrupt: true });
    expect(statuses(next)).toBe('eewe');
    expect(textsOf(next)[1]).toEqual(says('Cancelled: the user denied another tool use and ended the turn.'));
  });

  it('is made up for runs that have none', () => {
    const next = endAll(runs, ({ name }) => `${name} never ran`);
    expect(textsOf(next)).toEqual([...['a', 'b', 'c'].map((id) => says(`tool ${id} never ran`)), says('ok')]);
    expect(next[0]!.outcome).toEqual({
      content: [says('tool a never ran')],
      isError: true,
      whole: null,
      stage: 'loop',
      cancelsSiblings: false,
      contextChanges: [],
      attachments: [],
      notices: [],
      stop: null,
      interrupt: false,
    });
    expect(statuses(next)).toBe('eeee');
  });
});

function scheduled(runs: readonly ToolRun[], config: Partial<LoopConfig> = {}, phase = 'settling', subAgents = 0) {
  const state = { ...start, phase: phase as LoopState['phase'], query: { ...start.query, subAgents } };
  const next = scheduleTools(state, runs, { ...defaults, ...config });
  return { state, next, runs: statuses(next.scratch.toolRuns), count: next.query.subAgents };
}

describe('sub-agents', () => {
  it('are counted when they start, other tools and those that run are not', () => {
    expect(scheduled([run('a', agent), run('b'), run('c', agent)])).toMatchObject({ runs: 'rrr', count: 2 });
    const before = run('a', agent, running);
    expect(scheduled([before, run('b', agent)], {}, 'settling', 1)).toMatchObject({ runs: 'rr', count: 2 });
    expect(scheduled([run('a', agent), run('b', agent)], { toolConcurrency: 1 })).toMatchObject({
      runs: 'rw',
      count: 1,
    });
    const { state, next } = scheduled([run('a')]);
    expect(next.query).toBe(state.query);
  });

  it('are refused when no place is left, the last calls first', () => {
    const { next, runs, count } = scheduled([run('a', agent), run('b', agent), run('c')], { maxSubAgents: 1 });
    expect({ runs, count }).toEqual({ runs: 'rer', count: 1 });
    expect(textsOf(next.scratch.toolRuns)[1]).toEqual(
      says('Not run: this query has started as many sub-agents as it may (maxSubAgents). Do the work yourself.'),
    );
    expect(scheduled([run('a', agent)], { maxSubAgents: 2 }, 'settling', 2)).toMatchObject({ runs: 'e', count: 2 });
    expect(scheduled([run('a', agent, running)], { maxSubAgents: 1 }, 'settling', 1)).toMatchObject({ runs: 'r' });
  });

  it('neither start nor are refused while the model streams', () => {
    expect(scheduled([run('a', agent)], { maxSubAgents: 0 }, 'streaming')).toMatchObject({ runs: 'w', count: 0 });
    expect(scheduled([run('a'), run('b', unsafe)], {}, 'streaming')).toMatchObject({ runs: 'rw' });
    expect(scheduled([run('a', unsafe)], {}, 'settling')).toMatchObject({ runs: 'r' });
  });
});
