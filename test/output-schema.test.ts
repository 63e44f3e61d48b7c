import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defaultConfig } from '../src/core/config.ts';
import type { JsonObject } from '../src/core/json.ts';
import { outputCheck, outputConfig, type OutputSchema } from '../src/output-schema.ts';
import type { QueryOptions } from '../src/query-options.ts';
import { query } from '../src/query.ts';
import { memoryJournal } from '../src/session/journal.ts';
import type { ModelEntry } from '../src/testing/scenario.ts';
import { runInVirtualTime } from '../src/testing/virtual-clock.ts';
import { drain, scriptedQuery } from './support/scripted.ts';

const sums = z.object({ sum: z.int().min(1), note: z.string().default('none') });

function says(...texts: readonly string[]): readonly ModelEntry[] {
  return texts.map((text) => ({ text }));
}

async function ask(outputSchema: OutputSchema, script: readonly ModelEntry[], options: Partial<QueryOptions> = {}) {
  const { query: asked, model } = scriptedQuery(script, { outputSchema, ...options });
  const { terminal, emitted } = await drain(asked);
  return { terminal, emitted, model, output: asked.output, query: asked };
}

describe('outputSchema', () => {
  it('gives the value that zod makes of the answer, defaults filled in', async () => {
    const { terminal, output, model } = await ask(sums, says('{"sum": 2}'));
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done', output: { sum: 2, note: 'none' } });
    expect(output).toEqual({ sum: 2, note: 'none' });
    const format = model.requests[0]?.body.output_config?.['format'];
    expect(format).toMatchObject({ type: 'json_schema', schema: { additionalProperties: false, required: ['sum'] } });
  });

  it('says what is wrong and asks again; the tries are of the query', async () => {
    const { terminal, model, output } = await ask(sums, says('{"sum": 0}', '[]', '', 'none', 'never asked'));
    expect(terminal).toMatchObject({ outcome: 'invalid_output', output: null, modelCalls: 4, turns: 1, failure: null });
    expect(terminal.detail).toMatch(/^4 answers did not fit the JSON schema; of the last: It is no JSON/);
    expect(output).toBeNull();
    const [, second, third, fourth] = model.requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
    expect(second).toContain('- sum: Too small: expected number to be >=1');
    expect(third).toContain('- the answer itself: expected object, received array');
    expect(fourth).toContain('It holds no text.');
    expect(model.violations).toEqual([]);
  });

  it.each<[string, z.ZodType, RegExp]>([
    ['rejects', z.unknown().refine(() => Promise.reject(new Error('no database'))), /The check failed: no database/],
    ['hangs', z.unknown().refine(() => new Promise<boolean>(() => {})), /The check did not end within 60 seconds/],
  ])('takes a check that %s for a mismatch', async (_what, schema, why) => {
    const { query: asked, clock } = scriptedQuery(says('1'), { outputSchema: schema, limits: { outputMismatches: 0 } });
    const { terminal } = await runInVirtualTime(clock, drain(asked));
    expect(terminal.outcome).toBe('invalid_output');
    expect(terminal.detail).toMatch(why);
  });

  it('makes JSON of what a transform gives', async () => {
    const { terminal, output } = await ask(
      z.string().transform((text) => new Date(text)),
      says('"2026-12-03"'),
    );
    expect([terminal.outcome, output]).toEqual(['done', '2026-12-03T00:00:00.000Z']);
  });

  it('goes on from a journal with the schema that stands there', async () => {
    const journal = memoryJournal();
    const first = await ask(sums, says('{"sum": 2}'), { journal });
    expect(first.output).not.toBeNull();
    const recorded = journal.recorded()!;
    const cut = { ...recorded, events: recorded.events.slice(0, 1) };
    const { query: again } = scriptedQuery(says('{"sum": "x"}', '{"sum": 3}'), { resume: cut });
    expect((await drain(again)).terminal).toMatchObject({ outcome: 'done', output: { sum: 3 }, modelCalls: 3 });
  });

  it.each<[string, unknown, RegExp]>([
    ['no schema', { type: 'wrong' }, /^outputSchema is no JSON schema: /],
    ['a text', 'object', /^outputSchema must be a zod schema, or a JSON schema as an object\.$/],
    ['zod without a JSON schema', z.map(z.string(), z.string()), /^outputSchema has no JSON schema: /],
  ])('is refused at once: %s', (_what, outputSchema, sentence) => {
    expect(() => query({ prompt: 'go', outputSchema: outputSchema as OutputSchema })).toThrow(sentence);
  });
});

describe('a JSON schema', () => {
  const fits = async (schema: JsonObject, value: unknown) => (await outputCheck(schema)(value as JsonObject)).type;

  it.each<[JsonObject, unknown, string]>([
    [{ type: 'object', required: ['a'] }, {}, 'mismatch'],
    [{ type: 'object', required: ['a'] }, { a: 1 }, 'fits'],
    [{ not: { type: 'string' } }, 'a', 'mismatch'],
    [{ type: 'object', if: { required: ['a'] }, else: { required: ['b'] } }, {}, 'mismatch'],
    [
      { $defs: { n: { type: 'object', properties: { of: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' },
      { of: 3 },
      'mismatch',
    ],
    [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        items: [{ type: 'string' }],
        additionalItems: false,
        type: 'array',
      },
      ['a', 1],
      'mismatch',
    ],
    [{ type: 'string', format: 'of my own', 'x-mine': true }, 'a', 'fits'],
  ])('%j: %j %s', async (schema, value, expected) => {
    expect(await fits(schema, value)).toBe(expected);
  });

  it('says where and what', async () => {
    const schema = { type: 'object', properties: { a: { enum: ['x'] } }, additionalProperties: false };
    expect(await outputCheck(schema)({ a: 'q', b: 1 })).toEqual({
      type: 'mismatch',
      error:
        '- the answer itself: must NOT have additional properties: "b"\n- a: must be equal to one of the allowed values: ["x"]',
    });
  });
});

describe('how the model learns of the schema', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] };
  const free = { type: 'object', additionalProperties: { type: 'number' } };
  const by = (given: JsonObject, config: Partial<typeof defaultConfig> = {}) =>
    outputConfig(given, { ...defaultConfig, system: 'Be kind.', ...config });

  it('is a format of the API, what it cannot say in a description', () => {
    const config = by(schema);
    expect(config).toMatchObject({ outputBy: 'format', system: 'Be kind.' });
    expect(JSON.stringify(config.outputSchema)).toContain('{minimum: 1}');
  });

  it.each<[string, JsonObject, Partial<typeof defaultConfig>]>([
    ['a plain server', schema, { profile: 'plain' }],
    ['free keys', free, {}],
    ['a reference', { $defs: { n: schema }, $ref: '#/$defs/n' }, {}],
    ['no type', { properties: {} }, {}],
    [
      'a model that cannot',
      schema,
      { modelLimits: { 'claude-sonnet-5-5': { contextWindow: 1, maxOutput: 1, structuredOutputs: false } } },
    ],
  ])('is the system prompt for %s', (_what, given, config) => {
    const made = by(given, config);
    expect(made).toMatchObject({ outputBy: 'prompt', outputSchema: given });
    expect(made.system).toBe(
      `Be kind.\n\nWhen you are done, answer with JSON that fits this JSON schema, and with nothing else: no other text, no code fence.\n${JSON.stringify(given)}`,
    );
  });
});
