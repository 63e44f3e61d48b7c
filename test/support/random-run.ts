import fc from 'fast-check';
import { defaultConfig, defaultLimits, type LoopConfig } from '../../src/core/config.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import { initialState } from '../../src/core/initial-state.ts';
import type { Message } from '../../src/core/message.ts';
import type { LoopState } from '../../src/core/state.ts';
import { adversaryEvent, choicesFrom } from '../../src/testing/adversary.ts';

export const seed = '00000000-0000-4000-8000-000000000000';

/** Small windows and small limits, so that every rung is reached within a few events. */
export const configs: fc.Arbitrary<LoopConfig> = fc
  .record({
    contextWindow: fc.constantFrom(1_000, 4_000, 40_000),
    maxTurns: fc.constantFrom(null, 2, 5),
    autoCompact: fc.boolean(),
    reactiveCompact: fc.boolean(),
    stopHooks: fc.boolean(),
    stopHookBlocks: fc.constantFrom(1, 2),
    retries: fc.constantFrom(1, 3),
    tokenBudget: fc.constantFrom(null, 3_000),
    smallModel: fc.constantFrom(null, 'small'),
    fallbacks: fc.constantFrom(0, 2),
    thinking: fc.constantFrom<LoopConfig['thinking']>('off', 'adaptive', 2_048),
    querySource: fc.constantFrom('sdk', 'agent:x', 'compact'),
    maxOutputTokens: fc.constantFrom(null, 300),
    toolConcurrency: fc.constantFrom(1, 2, 10),
    profile: fc.constantFrom<LoopConfig['profile']>('anthropic', 'plain'),
  })
  .map(({ contextWindow, stopHookBlocks, retries, fallbacks, ...same }) => ({
    ...defaultConfig,
    ...same,
    models: ['one', 'two', 'three'].slice(0, fallbacks + 1),
    fallbackLimits: { contextWindow, maxOutput: Math.floor(contextWindow * 0.64) },
    limits: { ...defaultLimits, stopHookBlocks, retries, overloadsBeforeFallback: 2, pauseTurns: 2, budgetContinuations: 4 },
  }));

export const choices = fc.array(fc.nat(5_040), { minLength: 0, maxLength: 400, size: 'max' });

/** A history with a turn, thinking, an image and spans that may be staged. */
export const history: readonly Message[] = [
  { role: 'user', id: 'm0', origin: 'user', refused: false, content: [{ type: 'text', text: 'first '.repeat(40) }] },
  {
    role: 'assistant',
    id: 'm1',
    model: 'one',
    refused: false,
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'tool_use', id: 'old1', name: 'read', input: { file_path: 'a' } },
    ],
  },
  {
    role: 'user',
    id: 'm2',
    origin: 'tool_results',
    refused: false,
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'old1',
        is_error: false,
        content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }],
      },
    ],
  },
  { role: 'assistant', id: 'm3', model: 'one', refused: false, content: [{ type: 'text', text: 'done '.repeat(40) }] },
];

/** What both readers of the rows start from. */
export function startOf(config: LoopConfig): LoopState {
  return initialState(
    { seed, prompt: 'go', messages: history, staged: [{ firstId: 'm0', lastId: 'm2', summary: 'read a' }] },
    config,
  );
}

/** Plays a run against `take` until the loop ends; returns the events. */
export function play(
  config: LoopConfig,
  numbers: readonly number[],
  take: (event: LoopEvent) => LoopState,
  most = 2_000,
): readonly LoopEvent[] {
  const choose = choicesFrom(numbers);
  const events: LoopEvent[] = [];
  let state = startOf(config);
  for (let event = adversaryEvent(state, choose); event !== null && events.length < most; event = adversaryEvent(state, choose)) {
    events.push(event);
    state = take(event);
  }
  return events;
}
