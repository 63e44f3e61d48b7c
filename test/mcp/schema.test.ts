import { fromJsonSchema } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { modelSchema } from '../../src/mcp/schema.ts';
import { drain, scriptedQuery } from '../support/scripted.ts';
import { inProcess } from './in-process.ts';

const schemaOf = (properties: JsonObject, more: JsonObject = {}) =>
  modelSchema({ inputSchema: { type: 'object', properties, ...more } as never });

describe('modelSchema', () => {
  it('passes on what the API takes as it is', () => {
    const given = { properties: { 'a.b-c': { type: 'string' } }, required: ['a.b-c'], additionalProperties: false };
    const { inputSchema, notes, toServer } = schemaOf(given.properties, given);
    expect(inputSchema).toEqual({ type: 'object', ...given });
    expect(notes).toEqual([]);
    expect(toServer({ 'a.b-c': 1 })).toEqual({ 'a.b-c': 1 });
  });

  it('tells in words what may not stand at the top', () => {
    const { inputSchema, notes } = schemaOf({}, { oneOf: [{ required: ['a'] }] });
    expect(inputSchema).toEqual({ type: 'object', properties: {} });
    expect(notes).toEqual(['The input must also fit the schema {"oneOf":[{"required":["a"]}]}.']);
  });

  it('does not quote what is too long', () => {
    const { notes } = schemaOf({}, { anyOf: Array.from({ length: 100 }, () => ({ required: ['something'] })) });
    expect(notes).toEqual(['Not every combination of members is accepted: the error says what is wrong.']);
  });

  it('names properties so that the API takes them, and takes the names back', () => {
    const name = fc.oneof(fc.string({ maxLength: 70 }), fc.constantFrom('uids[]', 'uids__', '$.x', 'a b', 'a_b'));
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 8 }), (names) => {
        // Not a key that an object literal would take for its prototype.
        const own = names.filter((one) => one !== '__proto__');
        const properties = Object.fromEntries(own.map((one, index) => [one, index]));
        const { inputSchema, toServer } = schemaOf(properties, { required: own });
        const shown = Object.keys(inputSchema['properties'] as JsonObject);
        expect(shown.filter((one) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(one))).toEqual([]);
        expect((inputSchema['required'] as readonly string[]).toSorted()).toEqual(shown.toSorted());
        expect(toServer(inputSchema['properties'] as JsonObject)).toEqual(properties);
      }),
    );
  });

  it('reaches the server under its own names', async () => {
    const seen: unknown[] = [];
    const inputSchema = { type: 'object', properties: { 'uids[]': { type: 'string' } }, required: ['uids[]'] };
    const { servers } = inProcess({
      srv: (server) =>
        server.registerTool(
          'list',
          { description: 'Lists.', inputSchema: fromJsonSchema(inputSchema as never) },
          (input) => {
            seen.push(input);
            return { content: [] };
          },
        ),
    });
    const script = [
      { stream: [{ tool: 'mcp__srv__list', id: 't1', input: { uids__: 'x' } }, { stop: 'tool_use' as const }] },
      { stream: [{ text: 'done' }, { stop: 'end_turn' as const }] },
    ];
    const { query, model } = scriptedQuery(script, { mcpServers: servers, deps: { clock: systemClock } });
    await drain(query);
    await servers.close();
    expect(seen).toEqual([{ 'uids[]': 'x' }]);
    const told = model.requests[0]?.body.tools?.find(({ name }) => name === 'mcp__srv__list');
    expect(told?.input_schema).toMatchObject({ properties: { uids__: { type: 'string' } }, required: ['uids__'] });
    expect(told?.description).toBe('Lists.\nuids__ stands for "uids[]".');
  });
});
