/** Section 11 and 15 of the contract: what the user says meanwhile is delivered exactly once, or is still in `queued`. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { step } from '../../src/core/step.ts';
import type { Emitted } from '../../src/core/output.ts';
import { memoryJournal } from '../../src/session/journal.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import type { Query } from '../../src/query.ts';
import { choices, configs, play, startOf } from '../support/random-run.ts';
import { scriptedQuery } from '../support/scripted.ts';

const count = (list: readonly string[], id: string): number => list.filter((item) => item === id).length;

describe('messages of the user', () => {
  it('are started once or wait, through compactions, aborts and resumptions of random runs', () => {
    let delivered = 0;
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        let state = startOf(config);
        const sent: string[] = [];
        const started: string[] = [];
        play(config, numbers, (event) => {
          if (event.type === 'message.queued') sent.push(event.message.id);
          if (event.type === 'abort' && event.message !== null) sent.push(event.message.id);
          const result = step(state, event, config);
          state = result.state;
          for (const { output } of result.effects.filter((effect) => effect.type === 'emit')) {
            if (output.type !== 'command') continue;
            expect(output.status).toBe('started');
            started.push(output.messageId);
            const history = [...state.carried.messages, ...state.scratch.additions].map(({ id }) => id);
            expect(count(history, output.messageId)).toBe(1);
            delivered += 1;
          }
          const waiting = state.query.queued.map(({ id }) => id);
          for (const id of sent) expect(count(started, id) + count(waiting, id)).toBe(count(sent, id));
          return state;
        });
      }),
      { numRuns: 300 },
    );
    expect(delivered).toBeGreaterThan(0);
  });

  const turn = (id: string): ModelEntry => ({ stream: [{ tool: 'echo', id, input: {} }, { stop: 'tool_use' }] });
  const script: readonly ModelEntry[] = [
    turn('t1'),
    turn('t2'),
    turn('t3'),
    { stream: [{ text: 'done' }, { stop: 'end_turn' }], repeat: true },
  ];
  const act = fc.record({
    at: fc.nat(24),
    what: fc.constantFrom('send', 'send', 'send', 'image', 'submit', 'interrupt', 'return'),
  });
  const acts = fc.array(act, { maxLength: 6 });
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } } as const;

  /** Runs a query while the user acts before the events with these indexes. */
  async function run(plan: readonly { readonly at: number; readonly what: string }[], resume: object) {
    const sent: string[] = [];
    const done = new Set<object>();
    let isReturned = false;
    const journal = memoryJournal();
    const { query } = scriptedQuery(script, {
      journal,
      ...resume,
      beforeEvent: (index) => {
        for (const one of plan) {
          if (one.at !== index || done.has(one)) continue;
          done.add(one);
          if (one.what === 'send') sent.push(query.send('said'));
          else if (one.what === 'image') sent.push(query.send([image]));
          else if (one.what === 'submit') sent.push(query.submit('now'));
          else if (one.what === 'interrupt') query.interrupt();
          else {
            isReturned = true;
            void query.return();
          }
        }
      },
    });
    const shown: Emitted[] = [];
    let completedEarly = false;
    for await (const item of query) {
      shown.push(item);
      if (item.type === 'command' && item.status === 'completed' && query.terminal === null) completedEarly = true;
    }
    // An image may still be in work.
    await new Promise((resolve) => setImmediate(resolve));
    expect(completedEarly).toBe(false);
    return { query, sent, shown, isReturned, recorded: journal.recorded() };
  }

  function commands(shown: readonly Emitted[], status: 'started' | 'completed'): readonly string[] {
    return shown.flatMap((item) => (item.type === 'command' && item.status === status ? [item.messageId] : []));
  }

  function expectOnce(query: Query, ids: readonly string[]): void {
    const places = [
      ...(query.state?.carried.messages ?? []),
      ...(query.state?.scratch.additions ?? []),
      ...query.queued,
    ];
    for (const id of ids)
      expect(
        count(
          places.map((message) => message.id),
          id,
        ),
      ).toBe(1);
  }

  it('are in the history once or in queued, and completed only when the loop returned, also when it was resumed', async () => {
    await fc.assert(
      fc.asyncProperty(acts, acts, fc.nat(20), async (plan, later, cut) => {
        const first = await run(plan, {});
        expectOnce(first.query, first.sent);
        const started = commands(first.shown, 'started');
        expect(commands(first.shown, 'completed')).toEqual(first.isReturned ? [] : started);
        const { recorded } = first;
        if (recorded === null || recorded.events.length === 0) return;
        const events = recorded.events.slice(0, Math.max(1, cut));
        const known = events.flatMap((event) =>
          (event.type === 'message.queued' || event.type === 'abort') && event.message !== null
            ? [event.message.id]
            : [],
        );
        const second = await run(later, { resume: { ...recorded, events } });
        expectOnce(second.query, known);
        if (second.isReturned) return;
        const startedBefore = known.filter((id) => !second.query.queued.some((message) => message.id === id));
        const startedInAll = new Set([...startedBefore, ...commands(second.shown, 'started')]);
        expect(commands(second.shown, 'completed').toSorted()).toEqual([...startedInAll].toSorted());
      }),
      { numRuns: 60 },
    );
  });
});
