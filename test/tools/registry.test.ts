import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRegistry } from '../../src/tools/registry.ts';
import { type Tool, type ToolDefinition, tool } from '../../src/tools/tool.ts';

const schema = z.object({ path: z.string() });

function make(name: string, more: Partial<ToolDefinition<typeof schema>> = {}): Tool {
  return tool({ name, description: `${name}.`, input: schema, run: () => '', ...more });
}

const no = { concurrencySafe: false, readOnly: false, replaySafe: false };

describe('a registry', () => {
  it('finds a tool by name and by alias', () => {
    const read = make('Read', { aliases: ['View', 'Read'] });
    const registry = createRegistry([read, make('Write')]);
    expect(registry.find('Read')).toBe(read);
    expect(registry.find('View')).toBe(read);
    expect(registry.find('Nope')).toBeNull();
    expect(registry.find('constructor')).toBeNull();
  });

  it('lists built-in tools first, each group by name, as the same object each time', () => {
    const registry = createRegistry([
      make('b'),
      make('Z', { isBuiltIn: true }),
      make('a'),
      make('A', { isBuiltIn: true }),
    ]);
    expect(registry.specs().map((spec) => spec.name)).toEqual(['A', 'Z', 'a', 'b']);
    expect(registry.specs()).toBe(registry.specs());
    expect(registry.specs()[0]).toEqual({ name: 'A', description: 'A.', input_schema: registry.tools[0]?.inputSchema });
  });

  it('gives the same list whatever the order in which tools came', () => {
    const tools = ['c', 'a', 'b'].map((name) => make(name));
    expect(createRegistry(tools).specs()).toEqual(createRegistry(tools.toReversed()).specs());
  });

  it.each([
    [[make('Read'), make('Read')], /Read: Read and Read/],
    [[make('Read', { aliases: ['View'] }), make('View')], /View: Read and View/],
  ])('says which name two tools share', (tools, message) => {
    expect(() => createRegistry(tools)).toThrow(message);
  });

  it('asks the tool for its verdict on the actual input', () => {
    const registry = createRegistry([
      make('x', { isReadOnly: ({ path }) => path === 'a', isConcurrencySafe: () => true, isReplaySafe: () => true }),
    ]);
    expect(registry.verdictOf('x', { path: 'a' })).toEqual({ concurrencySafe: true, readOnly: true, replaySafe: true });
    expect(registry.verdictOf('x', { path: 'b' })).toMatchObject({ readOnly: false });
  });

  it('says no to whatever it cannot tell', () => {
    const yes = { isReadOnly: () => true, isConcurrencySafe: () => true };
    const throws = {
      isReadOnly: () => {
        throw new Error('boom');
      },
      isConcurrencySafe: () => 'yes' as never,
    };
    const asynchronous = tool({
      name: 'async',
      description: '',
      input: z.object({}).refine(async () => true),
      run: () => '',
      ...yes,
    });
    const registry = createRegistry([make('x', yes), make('throws', throws), asynchronous]);
    expect(registry.verdictOf('nobody', { path: 'a' })).toEqual(no);
    expect(registry.verdictOf('x', { path: 3 })).toEqual(no);
    expect(registry.verdictOf('x', null)).toEqual(no);
    expect(registry.verdictOf('throws', { path: 'a' })).toEqual(no);
    expect(registry.verdictOf('async', {})).toEqual(no);
  });
});
