import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultConfig, type LoopConfig } from '../../../src/core/config.ts';
import { defaultLayers } from '../../../src/core/context/shares.ts';
import { applyLayers } from '../../../src/core/context/layers.ts';
import { contextSize } from '../../../src/core/context/tokens.ts';
import { initialState } from '../../../src/core/initial-state.ts';
import type { AssistantBlock, AssistantMessage, Message, UserMessage } from '../../../src/core/message.ts';
import type { LoopState } from '../../../src/core/state.ts';
import { projectHistory } from '../../../src/core/wire/project.ts';
import { validateRequest } from '../../../src/core/wire/validate.ts';

const seed = '00000000-0000-4000-8000-000000000000';
const words = (count: number): string => 'word '.repeat(count).trim();

interface Turn {
  readonly tools: number;
  readonly result: number;
  readonly thinks: boolean;
  /** Words of the user before the turn; 0 for none. */
  readonly said: number;
}

const turns = fc.array(
  fc.record({
    tools: fc.nat(3),
    result: fc.nat(1_200),
    thinks: fc.boolean(),
    said: fc.constantFrom(0, 0, 0, 5, 400),
  }),
  { minLength: 1, maxLength: 30 },
);

function answer(turn: Turn, index: number, model: string): AssistantMessage {
  const thinking: AssistantBlock = { type: 'thinking', thinking: words(20), signature: `s${index}` };
  const uses = Array.from(
    { length: turn.tools },
    (_, n): AssistantBlock => ({
      type: 'tool_use',
      id: `t${index}_${n}`,
      name: n === 2 ? 'other' : 'read',
      input: { n },
    }),
  );
  const content: AssistantBlock[] = [
    ...(turn.thinks ? [thinking] : []),
    { type: 'text', text: `turn ${index}` },
    ...uses,
  ];
  return { role: 'assistant', id: `a${index}`, model, content, refused: false };
}

function user(id: string, origin: UserMessage['origin'], content: UserMessage['content']): UserMessage {
  return { role: 'user', id, origin, content, refused: false };
}

function history(list: readonly Turn[], model: string): readonly Message[] {
  const messages = list.flatMap((turn, index): Message[] => {
    const said =
      turn.said > 0 || index === 0 ? [user(`u${index}`, 'user', [{ type: 'text', text: words(turn.said + 1) }])] : [];
    const results = Array.from({ length: turn.tools }, (_, n) => ({
      type: 'tool_result' as const,
      tool_use_id: `t${index}_${n}`,
      content: [{ type: 'text' as const, text: words(turn.result + 1) }],
      is_error: false,
    }));
    return [
      ...said,
      answer(turn, index, model),
      ...(results.length === 0 ? [] : [user(`r${index}`, 'tool_results', results)]),
    ];
  });
  return [...messages, user('go', 'user', [{ type: 'text', text: 'go on' }])];
}

const configs = fc.record({
  snip: fc.boolean(),
  collapse: fc.boolean(),
  microcompact: fc.constantFrom<LoopConfig['microcompact']>('off', 'local'),
  model: fc.constantFrom('claude-sonnet-4-6', 'claude-sonnet-5-5'),
  clearKeep: fc.integer({ min: 1, max: 5 }),
});

/** A state of phase `preparing` whose oldest turns are staged. */
function stateOf(list: readonly Turn[], options: Options): [LoopState, LoopConfig] {
  const config = configOf(options);
  const messages = history(list, options.model);
  const last = messages.findIndex(({ id }) => id === (list[1]?.tools === 0 ? 'a1' : 'r1'));
  const staged = last > 0 ? [{ firstId: 'u0', lastId: messages[last]!.id, summary: 'the beginning' }] : [];
  return [{ ...initialState({ seed, messages, staged }, config), phase: 'preparing' }, config];
}

interface Options extends Pick<LoopConfig, 'snip' | 'collapse' | 'microcompact'> {
  readonly model: string;
  readonly clearKeep: number;
}

function configOf({ model, clearKeep, ...same }: Options): LoopConfig {
  return {
    ...defaultConfig,
    ...same,
    models: [model],
    thinking: 'adaptive',
    fallbackLimits: { contextWindow: 20_000, maxOutput: 4_000 },
    layers: { ...defaultLayers, clearKeep, clearTools: ['read'] },
  };
}

const thinkingIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'thinking' ? [JSON.stringify(block)] : [])),
  );

describe('the layers of the context', () => {
  it('make it smaller or leave it alone, and leave what the API accepts', () => {
    let edits = 0;
    fc.assert(
      fc.property(turns, configs, (list, options) => {
        const [before, config] = stateOf(list, options);
        const after = applyLayers(before, config);
        const { messages } = after.carried;
        if (messages === before.carried.messages) {
          expect(after.outbox).toEqual([]);
          return;
        }
        edits += 1;
        expect(contextSize(after, config)).toBeLessThan(contextSize(before, config));
        // What the user said last stands last, and no pair is torn: the projection makes no result up.
        expect(messages.at(-1)).toBe(before.carried.messages.at(-1));
        const wire = projectHistory(messages, { thinkingOf: options.model, endsPaused: false });
        expect(JSON.stringify(wire)).not.toContain('the run ended before this tool answered');
        const request = { model: options.model, max_tokens: 1, messages: wire, thinking: { type: 'adaptive' } };
        const limits = { contextWindow: 1_000_000, maxOutput: 4_000, estimate: null, profile: 'anthropic' } as const;
        expect(validateRequest(request, limits)).toEqual([]);
        // Thinking is kept byte for byte or is gone.
        const had = new Set(thinkingIn(before.carried.messages));
        expect(thinkingIn(messages).filter((block) => !had.has(block))).toEqual([]);
        // Each edit says what it did, in one measure.
        for (const item of after.outbox) {
          expect(item.type === 'boundary' && item.tokensAfter < item.tokensBefore).toBe(true);
        }
      }),
    );
    expect(edits).toBeGreaterThan(20);
  });

  it('drop all thinking behind the first edited place where models bind it to what stands before', () => {
    fc.assert(
      fc.property(turns, configs, (list, options) => {
        const [before, config] = stateOf(list, { ...options, model: 'claude-sonnet-5-5' });
        const { messages } = applyLayers(before, config).carried;
        const first = messages.findIndex((message, index) => message !== before.carried.messages[index]);
        if (first >= 0) expect(thinkingIn(messages.slice(first))).toEqual([]);
      }),
    );
  });

  it('clear no result twice, and none of the newest', () => {
    fc.assert(
      fc.property(turns, configs, (list, options) => {
        const [before, config] = stateOf(list, { ...options, microcompact: 'local', snip: false, collapse: false });
        const once = applyLayers(before, config);
        const twice = applyLayers({ ...once, outbox: [] }, config);
        expect(twice.carried.messages).toBe(once.carried.messages);
        const cleared = JSON.stringify(once.carried.messages).split('cleared to save room').length - 1;
        const calls = list.reduce((sum, { tools }) => sum + Math.min(tools, 2), 0);
        expect(cleared).toBeLessThanOrEqual(Math.max(0, calls - options.clearKeep));
      }),
    );
  });
});
