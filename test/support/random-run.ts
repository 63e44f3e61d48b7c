import fc from 'fast-check';
import { defaultConfig, defaultLimits, type LoopConfig } from '../../src/core/config.ts';
import { defaultLayers } from '../../src/core/context/shares.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import { initialState } from '../../src/core/initial-state.ts';
import type { Message, UserBlock } from '../../src/core/message.ts';
import type { LoopState } from '../../src/core/state.ts';
import { adversaryEvent } from '../../src/testing/adversary.ts';
import { type Choose, choicesFrom } from '../../src/testing/choose.ts';

const price = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, longInput: null };
const seed = '00000000-0000-4000-8000-000000000000';

/** Small windows and small limits, so that every rung is reached within a few events. */
export const configs: fc.Arbitrary<LoopConfig> = fc
  .record({
    contextWindow: fc.constantFrom(3_000, 10_000, 60_000),
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
    microcompactor: fc.constantFrom(null, null, clearOldResults),
    snip: fc.boolean(),
    collapse: fc.boolean(),
    microcompact: fc.constantFrom<LoopConfig['microcompact']>('off', 'local', 'server'),
    onDemandCompaction: fc.boolean(),
    profile: fc.constantFrom<LoopConfig['profile']>('anthropic', 'plain'),
    outputSchema: fc.constantFrom<LoopConfig['outputSchema']>(null, null, { type: 'object' }),
    outputBy: fc.constantFrom<LoopConfig['outputBy']>('format', 'prompt'),
    maxCost: fc.constantFrom(null, null, 0.005, 0.05),
  })
  .map(({ contextWindow, stopHookBlocks, retries, fallbacks, onDemandCompaction, ...same }) => ({
    ...defaultConfig,
    ...same,
    prices: Object.fromEntries(['one', 'two', 'three', 'small'].map((name) => [name, price])),
    models: ['one', 'two', 'three'].slice(0, fallbacks + 1),
    fallbackLimits: { contextWindow, maxOutput: Math.floor(contextWindow * 0.64), onDemandCompaction },
    layers: { ...defaultLayers, clearKeep: 1, clearTools: ['read', 'bash'] },
    limits: {
      ...defaultLimits,
      stopHookBlocks,
      retries,
      overloadsBeforeFallback: 2,
      pauseTurns: 2,
      budgetContinuations: 4,
    },
  }));

export const choices = fc.oneof(
  { arbitrary: fc.array(fc.nat(5_040), { maxLength: 60 }), weight: 1 },
  { arbitrary: fc.array(fc.nat(5_040), { minLength: 300, maxLength: 800, size: 'max' }), weight: 4 },
);

/** A layer of a user: clears the content of every tool result but those of the newest message. */
function clearOldResults(state: LoopState): LoopState {
  const last = state.carried.messages.length - 1;
  let changed = false;
  const messages = state.carried.messages.map((message, index) => {
    if (index === last || message.role !== 'user') return message;
    const content = message.content.map((block): UserBlock => {
      if (block.type !== 'tool_result' || JSON.stringify(block.content).length < 200) return block;
      changed = true;
      return { ...block, content: [{ type: 'text', text: '[cleared]' }] };
    });
    return changed ? { ...message, content } : message;
  });
  return changed ? { ...state, carried: { ...state.carried, messages } } : state;
}

/** A history with a turn, thinking, an image and spans that may be staged. */
const history: readonly Message[] = [
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

/** Plays a run against `take` until the loop ends; when the choices are used up, the user interrupts. */
export function play(
  config: LoopConfig,
  numbers: readonly number[],
  take: (event: LoopEvent) => LoopState,
): readonly LoopEvent[] {
  let drawn = 0;
  const fromList = choicesFrom(numbers);
  const choose: Choose = (count) => {
    drawn += 1;
    return fromList(count);
  };
  const events: LoopEvent[] = [];
  let state = startOf(config);
  while (state.phase !== 'ended') {
    const event = drawn > numbers.length ? interrupt : adversaryEvent(state, choose);
    if (event === null) break;
    events.push(event);
    state = take(event);
  }
  return events;
}

const interrupt: LoopEvent = { type: 'abort', kind: 'interrupt', message: null, unfinished: null };
