/** The law of the wire: whatever a store hands over, the request is one that the API takes, and says what it said before. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultConfig, type LoopConfig } from '../../src/core/config.ts';
import { initialState } from '../../src/core/initial-state.ts';
import type { Message } from '../../src/core/message.ts';
import type { LoopState } from '../../src/core/state.ts';
import { withoutBreakpoints } from '../../src/core/wire/marks.ts';
import { ingestMessages, type LooseMessage } from '../../src/core/wire/ingest.ts';
import { repairHistory } from '../../src/core/wire/pairs.ts';
import { projectHistory } from '../../src/core/wire/project.ts';
import { buildRequest } from '../../src/core/wire/request.ts';
import type { WireMessage, WireRequest } from '../../src/core/wire/request-type.ts';
import { describeViolations, validateRequest } from '../../src/core/wire/validate.ts';
import { checkMessages } from '../../src/session/schemas.ts';
import { legalHistory } from '../support/legal-history.ts';
import { damagedHistory, looseHistory, storedHistory } from '../support/nasty-history.ts';

const seed = '00000000-0000-4000-8000-000000000000';
const numRuns = Number(process.env['ESCAPEMENT_LAW_RUNS'] ?? 1_000);

const configs: fc.Arbitrary<LoopConfig> = fc
  .record({
    thinking: fc.constantFrom<LoopConfig['thinking']>('off', 'adaptive', 2_048),
    profile: fc.constantFrom<LoopConfig['profile']>('anthropic', 'plain'),
    system: fc.constantFrom('', 'be', ' ', 'be\uD83D'),
  })
  .map((drawn) => ({ ...defaultConfig, ...drawn, models: ['m'] }));

const prompts = fc.constantFrom(undefined, 'next', ' ', 'cut\uD83D');

function load(messages: readonly Message[], config: LoopConfig, prompt?: string): LoopState {
  const tools = [{ name: 'read', description: 'reads\uD83D', input_schema: { type: 'object' } }];
  return initialState({ seed, messages, tools, ...(prompt === undefined ? {} : { prompt }) }, config);
}

/** What the API would refuse, sizes of images apart: those are found out by asking. */
function faults(request: WireRequest, { profile }: LoopConfig, apart = 'none'): string {
  const limits = { contextWindow: 200_000, maxOutput: 64_000, estimate: null, profile, mayEndWithAssistant: false };
  return describeViolations(
    validateRequest(request, limits).filter(({ rule }) => !rule.startsWith('image_') && rule !== apart),
  );
}

function wireOf(messages: readonly Message[], thinkingOf: string | null): readonly WireMessage[] {
  return projectHistory(messages, { thinkingOf, endsPaused: false });
}

/** The thinking of a message, without marks: byte for byte, or not at all. */
function thinkingIn({ content }: { readonly content: readonly unknown[] }): readonly string[] {
  return content.flatMap((block) => {
    const { type, ...rest } = (block ?? {}) as Record<string, unknown>;
    const isThinking = type === 'thinking' || type === 'redacted_thinking';
    return isThinking ? [JSON.stringify({ ...rest, cache_control: undefined })] : [];
  });
}

const asLoose = (wire: readonly WireMessage[]): readonly LooseMessage[] => wire as unknown as readonly LooseMessage[];

/** What holds of a history that was loaded. */
function checkLaw(messages: readonly Message[], config: LoopConfig, prompt?: string): void {
  const state = load(messages, config, prompt);
  const request = buildRequest(state, config);
  expect(faults(request, config)).toBe('');

  const again = buildRequest(load(ingestMessages(asLoose(request.messages), 'm'), config), config);
  expect(JSON.stringify(again)).toBe(JSON.stringify(request));

  const stored = state.carried.messages;
  const nothingNew = repairHistory(stored, () => 'new');
  expect(nothingNew).toBe(stored);

  const thought = new Set(messages.flatMap(thinkingIn));
  for (const block of request.messages.flatMap(thinkingIn)) expect(thought).toContain(block);

  // Ids that come twice are for the repair; every other rule the projection keeps by itself.
  const raw = { ...request, thinking: { type: 'adaptive' as const }, messages: wireOf(messages, 'm') };
  expect(
    faults({ ...raw, messages: withoutBreakpoints(raw.messages) }, { ...config, profile: 'anthropic' }, 'duplicate_id'),
  ).toBe('');

  for (const thinkingOf of [null, 'm']) {
    const wire = wireOf(stored, thinkingOf);
    const twice = wireOf(ingestMessages(asLoose(wire), 'm'), thinkingOf);
    expect(JSON.stringify(twice)).toBe(JSON.stringify(wire));
  }
}

describe('the law of the wire', () => {
  it('holds of any history that the schema lets pass', () => {
    fc.assert(
      fc.property(storedHistory, configs, prompts, (history, config, prompt) => {
        const messages = history as unknown as readonly Message[];
        checkMessages(messages);
        checkLaw(messages, config, prompt);
      }),
      { numRuns },
    );
  });

  it('holds of any messages in the form of the API, or what is left of it', () => {
    fc.assert(
      fc.property(looseHistory, configs, prompts, (history, config, prompt) => {
        checkLaw(ingestMessages(history as unknown as readonly LooseMessage[], 'm'), config, prompt);
      }),
      { numRuns },
    );
  });

  it('holds of what is left of a history without fault', () => {
    fc.assert(
      fc.property(damagedHistory, configs, prompts, (history, config, prompt) => {
        checkLaw(ingestMessages(history as unknown as readonly LooseMessage[], 'm'), config, prompt);
      }),
      { numRuns },
    );
  });

  it('leaves a history without fault as it is, byte for byte', () => {
    fc.assert(
      fc.property(legalHistory, (history) => {
        const messages = ingestMessages(history, 'm');
        expect(repairHistory(messages, () => 'new')).toBe(messages);
        expect(JSON.stringify(wireOf(messages, 'm'))).toBe(JSON.stringify(history));
      }),
      { numRuns },
    );
  });
});
