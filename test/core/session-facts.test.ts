import { describe, expect, it } from 'vitest';
import { contextSize } from '../../src/core/context/tokens.ts';
import { initialState } from '../../src/core/initial-state.ts';
import { nothingLearnt, sessionFacts } from '../../src/core/session-facts.ts';
import type { LoopState } from '../../src/core/state.ts';
import { ingestSession } from '../../src/core/wire/ingest-session.ts';
import { checkSession } from '../../src/session/schemas.ts';
import { Drive } from '../support/drive.ts';
import { text, usage } from '../support/said.ts';

const seed = '00000000-0000-4000-8000-000000000001';

/** A query that ended; its answer reported `input` tokens. */
function ended(input = 5_000): Drive {
  const drive = new Drive();
  drive.begin().says(text('done')).stops('end_turn', usage(input, 20));
  return drive;
}

function next(drive: Drive, start: Partial<Parameters<typeof initialState>[0]> = {}): LoopState {
  const { messages } = drive.state.carried;
  const session = sessionFacts(drive.state);
  return initialState({ seed, messages, prompt: 'more', session, ...start }, drive.config);
}

describe('facts of a session', () => {
  it('are taken over with the same history: figure and ratio', () => {
    const drive = ended();
    const state = next(drive);
    expect(state.query.measured).toEqual({ tokens: 5_020, messages: 2 });
    expect(state.query.tokenRatio).toBe(drive.state.query.tokenRatio);
    expect(state.query.tokenRatio).toBe(2);
    expect(contextSize(state, drive.config)).toBeGreaterThan(5_020);
  });

  it('survive JSON, and pass the check', () => {
    const facts = sessionFacts(ended().state);
    expect(JSON.parse(JSON.stringify(facts))).toEqual(facts);
    expect(() => checkSession(facts)).not.toThrow();
  });

  it('give no figure for another history, other tools or another system prompt, but the ratio', () => {
    const drive = ended();
    const messages = drive.state.carried.messages;
    const edited = messages.map((message, index) =>
      index === 0
        ? { ...message, content: [{ type: 'text' as const, text: 'something else that is longer' }] }
        : message,
    );
    const tools = [{ name: 'read', description: 'reads', input_schema: { type: 'object' } }];
    for (const start of [{ messages: edited as typeof messages }, { messages: messages.slice(1) }, { tools }]) {
      expect(next(drive, start).query).toMatchObject({ measured: null, tokenRatio: 2 });
    }
    const facts = { seed, messages, prompt: 'more', session: sessionFacts(drive.state) };
    const other = { ...drive.config, system: 'You are terse.' };
    expect(initialState(facts, other).query).toMatchObject({ measured: null, tokenRatio: 2 });
  });

  it('say nothing of another model', () => {
    const drive = ended();
    const start = { seed, messages: drive.state.carried.messages, session: sessionFacts(drive.state) };
    const { query } = initialState(start, { ...drive.config, models: ['two'] });
    expect(query).toMatchObject({ measured: null, tokenRatio: 1 });
  });

  it('hand on the limits that an error taught, and none that the configuration gave', () => {
    const drive = ended();
    expect(sessionFacts(drive.state).limits).toBeNull();
    const limits = { contextWindow: 32_000, maxOutput: 8_000 };
    const taught = { ...drive.state, query: { ...drive.state.query, limits } };
    expect(sessionFacts(taught).limits).toEqual(limits);
    const { query } = next(drive, { session: sessionFacts(taught) });
    expect(query.limits).toEqual(limits);
    expect(sessionFacts({ ...taught, query: { ...query, measured: null } }).limits).toEqual(limits);
  });

  it('are none when no model answered, or after a fallback', () => {
    expect(sessionFacts(new Drive().state).model).toBeNull();
    const { state } = ended();
    expect(sessionFacts({ ...state, query: { ...state.query, modelIndex: 1 } })).toMatchObject({
      model: null,
      limits: null,
    });
  });

  it('keep a ratio in its range, whoever stored it', () => {
    const drive = ended();
    const session = { ...sessionFacts(drive.state), tokenRatio: 50 };
    expect(next(drive, { session }).query.tokenRatio).toBe(2);
  });

  it('are refused in one sentence when they are something else', () => {
    const facts = sessionFacts(ended().state);
    expect(() => checkSession({ ...facts, tokenRatio: Number.NaN })).toThrow(/^session\.tokenRatio cannot be used: /);
    expect(() => checkSession({ ...facts, measured: { ...facts.measured!, tokens: -1 } })).toThrow(TypeError);
  });
});

describe('usage of a stored history', () => {
  const asks = { role: 'user', content: 'hi' } as const;
  const answers = {
    role: 'assistant',
    content: 'hello',
    usage: { input_tokens: 70, cache_read_input_tokens: 900, output_tokens: 30 },
  } as const;

  it('is that of the newest answer', () => {
    const facts = ingestSession([asks, answers, asks], 'one');
    expect(facts).toMatchObject({
      model: 'one',
      measured: { tokens: 1_000, messages: 2, lastId: 'h1' },
      tokenRatio: 1,
    });
  });

  it('counts for nothing on an older answer, when it is zero, or when it is no usage', () => {
    expect(ingestSession([asks, answers, asks, { role: 'assistant', content: 'yes' }], 'one')).toEqual(nothingLearnt);
    for (const used of [{}, { input_tokens: 0, output_tokens: 5 }, 'much', null, { input_tokens: 'many' }]) {
      expect(ingestSession([asks, { ...answers, usage: used }], 'one')).toEqual(nothingLearnt);
    }
    expect(ingestSession([], 'one')).toEqual(nothingLearnt);
  });

  it.each([
    { role: 'user', isCompactSummary: true, content: 'Summary.' },
    { role: 'assistant', content: [{ type: 'compaction', content: 'signed' }] },
    { role: 'user', content: [{ type: 'text', text: '<loop-note>Summary of the conversation so far: x</loop-note>' }] },
  ] as const)('counts for nothing behind a compaction: %o', (boundary) => {
    expect(ingestSession([boundary, answers, asks], 'one')).toEqual(nothingLearnt);
  });
});
