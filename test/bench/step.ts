/**
 * What an event costs: `step` beside XState's own `transition()` over the chart of the same rows. Both fold the same
 * journal, a session of 40 turns with two tools each, every one of them decided on as `query()` does, again and again; medians of several repetitions in one run.
 */
import { initialTransition, transition } from 'xstate';
import { agentLoop } from '../../machines/agent-loop.ts';
import { defaultConfig } from '../../src/core/config.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import { initialState } from '../../src/core/initial-state.ts';
import type { LoopState, ToolOutcome } from '../../src/core/state.ts';
import { step } from '../../src/core/step.ts';

const turns = 40;
const repetitions = 9;
const seed = '00000000-0000-4000-8000-000000000000';
const usage = { input: 900, output: 40, cacheRead: 0, cacheCreation: 0 };
const verdict = { concurrencySafe: true, readOnly: true, replaySafe: false };
const outcome: ToolOutcome = {
  content: [{ type: 'text', text: 'line of the file\n'.repeat(20) }],
  isError: false,
  whole: null,
  stage: 'run',
  cancelsSiblings: false,
  contextChanges: [],
  attachments: [],
  notices: [],
  stop: null,
  interrupt: false,
};

const start = (): LoopState => initialState({ seed, prompt: 'fix the bug' }, defaultConfig);

/** The events of the session, each made for the state that it meets. */
function record(): readonly LoopEvent[] {
  const events: LoopEvent[] = [];
  let state = start();
  const take = (event: LoopEvent): void => {
    events.push(event);
    state = step(state, event, defaultConfig).state;
  };
  const effectId = (): string => state.scratch.attempt?.effectId ?? '';
  const say = (text: string): void =>
    take({
      type: 'model.blockEnded',
      effectId: effectId(),
      block: { type: 'text', text },
      verdict: null,
      rawInput: null,
    });
  take({ type: 'query.started', blocked: null });
  for (let turn = 0; turn < turns; turn += 1) {
    say('Let me look at the next two files.');
    for (const side of ['a', 'b']) {
      const block = {
        type: 'tool_use',
        id: `${side}${turn}`,
        name: 'Read',
        input: { file_path: `src/${side}.ts` },
      } as const;
      take({ type: 'model.blockEnded', effectId: effectId(), block, verdict, rawInput: null });
    }
    const { toolRuns } = state.scratch;
    for (const { effectId: id, toolUseId } of toolRuns) {
      const decision = { kind: 'permission', inputHash: 'a'.repeat(64), answer: { behavior: 'allow' } } as const;
      take({ type: 'tool.decided', effectId: id, toolUseId, decision });
    }
    take({ type: 'model.answered', effectId: effectId(), stopReason: 'tool_use', usage });
    for (const run of toolRuns) take({ type: 'tool.ended', effectId: run.effectId, toolUseId: run.toolUseId, outcome });
    const attach = state.scratch.effectId ?? '';
    take({ type: 'attachments.collected', effectId: attach, attachments: [], tools: null, notices: [] });
  }
  say('Done.');
  take({ type: 'model.answered', effectId: effectId(), stopReason: 'end_turn', usage });
  if (state.terminal?.reason !== 'completed') throw new Error('The recorded session did not complete.');
  return events;
}

/** Median microseconds an event, over repetitions of `times` folds each. */
function measure(events: readonly LoopEvent[], times: number, fold: () => void): number {
  fold();
  const samples = Array.from({ length: repetitions }, () => {
    const from = process.hrtime.bigint();
    for (let time = 0; time < times; time += 1) fold();
    return Number(process.hrtime.bigint() - from) / 1_000 / (times * events.length);
  });
  return samples.toSorted((left, right) => left - right)[Math.floor(repetitions / 2)] ?? 0;
}

const events = record();

const byStep = measure(events, 200, () => {
  let state = start();
  for (const event of events) state = step(state, event, defaultConfig).state;
});

const byTransition = measure(events, 3, () => {
  const input = { config: defaultConfig, start: start(), autoStart: false };
  let [snapshot] = initialTransition(agentLoop, input);
  for (const event of events) [snapshot] = transition(agentLoop, snapshot, event);
});

const lines = [
  `events folded            ${events.length} (${turns} turns, two tools each)`,
  `step                     ${byStep.toFixed(2)} us an event`,
  `XState transition()      ${byTransition.toFixed(2)} us an event`,
  `ratio                    ${(byTransition / byStep).toFixed(1)}`,
];
process.stdout.write(`${lines.join('\n')}\n`);
