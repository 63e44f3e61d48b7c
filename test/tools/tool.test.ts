import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tool } from '../../src/tools/tool.ts';

const input = z.object({ path: z.string(), limit: z.number().default(3) });

describe('tool()', () => {
  it('fills in what is left out so that nothing is allowed by accident', () => {
    const made = tool({ name: 'look', description: 'Looks.', input, run: () => 'seen' });
    expect(made.isConcurrencySafe({})).toBe(false);
    expect(made.isReadOnly({})).toBe(false);
    expect(made.isReplaySafe({})).toBe(false);
    expect(made.isEdit({})).toBe(false);
    expect(made.maxResultSizeChars).toBe(100_000);
    expect(made.timeoutMs).toBeNull();
    expect(made.isBuiltIn).toBe(false);
  });

  it('keeps a default where JavaScript passes undefined', () => {
    const options = { isReadOnly: undefined, maxResultSizeChars: undefined, timeoutMs: undefined } as object;
    const made = tool({ name: 'look', description: '', input, run: () => '', ...options });
    expect(made.isReadOnly({})).toBe(false);
    expect(made.maxResultSizeChars).toBe(100_000);
    expect(made.timeoutMs).toBeNull();
  });

  it('makes the JSON schema of what the model writes: defaults are optional', () => {
    const { inputSchema } = tool({ name: 'look', description: '', input, run: () => '' });
    expect(inputSchema).toMatchObject({ type: 'object', required: ['path'] });
    expect(inputSchema).not.toHaveProperty('$schema');
    expect(JSON.parse(JSON.stringify(inputSchema))).toEqual(inputSchema);
  });

  it('takes a schema of the caller as it is', () => {
    const inputSchema = { type: 'object', additionalProperties: true };
    expect(tool({ name: 'a', description: '', input: z.any(), inputSchema, run: () => '' }).inputSchema).toBe(
      inputSchema,
    );
  });

  it.each([
    ['a name with a dot', { name: 'a.b' }, /a\.b/],
    ['an empty name', { name: '' }, /1 to 64/],
    ['a name of 65 characters', { name: 'a'.repeat(65) }, /1 to 64/],
    ['an alias that is no name', { aliases: ['ok', 'not ok'] }, /not ok/],
    ['a limit of zero', { maxResultSizeChars: 0 }, /maxResultSizeChars/],
    ['a limit that is no number', { maxResultSizeChars: Number.NaN }, /maxResultSizeChars/],
    ['a negative time', { timeoutMs: -1 }, /timeoutMs/],
    ['an input that is no object', { input: z.string() }, /no object/],
    ['an input without a JSON schema', { input: z.object({ at: z.date() }) }, /no JSON schema/],
  ])('refuses %s', (_, wrong, message) => {
    const make = (): unknown => tool({ name: 'look', description: '', input, run: () => '', ...(wrong as object) });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  it('describes a call in a few words when the tool does not', () => {
    const { summary } = tool({ name: 'look', description: '', input, run: () => '' });
    expect(summary({ path: 'a' })).toBe('{"path":"a"}');
    expect(summary({ path: 'x'.repeat(500) }).length).toBeLessThanOrEqual(120);
  });
});
