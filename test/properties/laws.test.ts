import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bound } from '../../src/core/bound.ts';
import type { LoopConfig } from '../../src/core/config.ts';
import type { Effect } from '../../src/core/effect.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import { isLive } from '../../src/core/running.ts';
import type { LoopState } from '../../src/core/state.ts';
import { clearOutbox, step } from '../../src/core/step.ts';
import { projectHistory } from '../../src/core/wire/project.ts';
import { buildRequest } from '../../src/core/wire/request.ts';
import type { WireRequest } from '../../src/core/wire/request-type.ts';
import { describeViolations, validateRequest } from '../../src/core/wire/validate.ts';
import { memoryJournal, type RecordedQuery, replay, withMicrocompactor } from '../../src/session/journal.ts';
import { choices, configs, play, startOf } from '../support/random-run.ts';

/** Runs the pure engine and hands every step to `look`. */
function run(
  config: LoopConfig,
  numbers: readonly number[],
  look: (before: LoopState, after: LoopState, effects: readonly Effect[]) => void,
): LoopState {
  let state = startOf(config);
  play(config, numbers, (event) => {
    const before = state;
    const result = step(before, event, config);
    state = result.state;
    look(before, state, result.effects);
    return state;
  });
  return state;
}

const runs = { numRuns: 300 };

describe('laws of step', () => {
  it('ends within the bound, whatever the outside does', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        const limited = { ...config, maxTurns: config.maxTurns ?? 6 };
        const end = run(limited, numbers, () => {});
        expect(end.phase).toBe('ended');
        expect(end.query.modelCalls).toBeLessThanOrEqual(bound(limited).modelCalls);
        expect(end.query.summaryCalls).toBeLessThanOrEqual(bound(limited).summaryCalls);
      }),
      runs,
    );
  });

  it('keeps the state plain JSON', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        run(config, numbers, (_before, after) => expect(JSON.parse(JSON.stringify(after))).toEqual(after));
      }),
      { numRuns: 60 },
    );
  });

  it('answers every tool use once, right behind it and in order', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        const { messages } = run(config, numbers, () => {}).carried;
        for (const [index, message] of messages.entries()) {
          if (message.role !== 'assistant') continue;
          const asked = message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
          if (asked.length === 0) continue;
          const next = messages[index + 1];
          const answered = (next?.role === 'user' ? next.content : []).flatMap((block) =>
            block.type === 'tool_result' ? [block.tool_use_id] : [],
          );
          expect(answered).toEqual(asked);
        }
      }),
      runs,
    );
  });

  it('shows an error at most once, right before the terminal', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        const shown: string[] = [];
        const end = run(config, numbers, (_before, _after, effects) => {
          for (const effect of effects) if (effect.type === 'emit') shown.push(effect.output.type);
        });
        const errors = shown.filter((type) => type === 'error').length;
        expect(errors).toBe(end.terminal?.failure === null ? 0 : 1);
        if (errors === 1) expect(shown.lastIndexOf('error')).toBe(shown.length - 1);
      }),
      runs,
    );
  });

  it('asks no stop hook after an error, a refusal or an abort', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        run(config, numbers, (before, after) => {
          if (before.phase === 'runningStopHooks' || after.phase !== 'runningStopHooks') return;
          expect(after.scratch.end?.type).toBe('answered');
          expect(after.scratch.verdict).toBe('done');
        });
      }),
      runs,
    );
  });

  it('never runs an unsafe tool beside another, nor more than the limit', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        run(config, numbers, (_before, after) => {
          const running = after.scratch.toolRuns.filter((tool) => tool.status === 'running');
          expect(running.length).toBeLessThanOrEqual(config.toolConcurrency);
          if (running.length > 1) expect(running.every((tool) => tool.verdict.concurrencySafe)).toBe(true);
          if (after.phase === 'streaming') expect(running.every((tool) => tool.verdict.readOnly)).toBe(true);
        });
      }),
      runs,
    );
  });

  it('starts and cancels every effect once, and leaves none behind', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        const started = new Set<string>();
        const open = new Set<string>();
        let closing = '';
        let state = startOf(config);
        play(config, numbers, (event) => {
          closing = 'effectId' in event ? event.effectId : '';
          const result = step(state, event, config);
          for (const effect of result.effects) {
            if (effect.type === 'emit') continue;
            if (effect.type === 'cancel') expect(open.delete(effect.id)).toBe(true);
            else {
              expect(started.has(effect.id)).toBe(false);
              started.add(effect.id);
              open.add(effect.id);
            }
          }
          const closes = !['model.blockEnded', 'context.cleared', 'tool.decided', 'abort'].includes(event.type);
          if (closes) open.delete(closing);
          state = result.state;
          return state;
        });
        expect([...open]).toEqual([]);
      }),
      runs,
    );
  });

  it('sends no request that the API refuses for its form, and leaves no history that would be refused', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        const check = (request: WireRequest, state: LoopState): void => {
          // What errors taught of the model that answers says nothing of the small one.
          const isSmall = request.model === config.smallModel;
          const ofModel = isSmall ? (config.modelLimits[request.model] ?? config.fallbackLimits) : state.query.limits;
          const limits = { ...ofModel, estimate: null, profile: config.profile };
          expect(describeViolations(validateRequest(request, limits))).toBe('');
        };
        const end = run(config, numbers, (_before, after, effects) => {
          for (const effect of effects) if ('request' in effect) check(effect.request, after);
        });
        const messages = projectHistory(end.carried.messages, { thinkingOf: null, endsPaused: false });
        check({ model: 'm', max_tokens: 1, messages }, end);
      }),
      runs,
    );
  });

  it('sends requests that grow by what was added, the same for the same state', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        run(config, numbers, (_before, after, effects) => {
          for (const effect of effects) {
            if (effect.type === 'streamModel')
              expect(effect.request).toEqual(buildRequest(JSON.parse(JSON.stringify(after)) as LoopState, config));
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  it('leaves what it is given as it is, and gives the same for the same', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        let state = startOf(config);
        play(config, numbers, (event) => {
          const given = JSON.stringify([state, event]);
          const copy = JSON.parse(given) as [LoopState, LoopEvent];
          const result = step(state, event, config);
          expect(JSON.stringify([state, event])).toBe(given);
          expect(step(copy[0], copy[1], config)).toEqual(result);
          state = result.state;
          return state;
        });
      }),
      { numRuns: 60 },
    );
  });

  it('replays a journal, and each prefix of it, to the state that was there', () => {
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        const journal = memoryJournal();
        const states = [startOf(config)];
        journal.begin(config, states[0]!);
        play(config, numbers, (event) => {
          journal.append(event);
          states.push(step(states.at(-1)!, event, config).state);
          return states.at(-1)!;
        });
        const stored = JSON.parse(JSON.stringify(journal.recorded())) as RecordedQuery;
        const recorded = withMicrocompactor(stored, config.microcompactor ?? undefined);
        states.forEach((state, count) => expect(replay(recorded, count)).toEqual(state));
      }),
      { numRuns: 20 },
    );
  });

  it('changes nothing for a late event of an effect that has ended or was dropped', () => {
    let late = 0;
    fc.assert(
      fc.property(configs, choices, (config, numbers) => {
        let state = startOf(config);
        const past: LoopEvent[] = [];
        play(config, numbers, (event) => {
          state = step(state, event, config).state;
          if ('effectId' in event) past.push(event);
          for (const old of past.slice(-8)) {
            if (!('effectId' in old) || isLive(state, old.effectId)) continue;
            late += 1;
            expect(step(state, old, config)).toEqual({ state: clearOutbox(state), effects: [] });
          }
          return state;
        });
      }),
      { numRuns: 100 },
    );
    expect(late).toBeGreaterThan(100);
  });
});
