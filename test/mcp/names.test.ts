import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serverParts, toolNames } from '../../src/mcp/names.ts';

const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 90 }),
  fc.stringMatching(/^[a-b_.-]{1,6}$/),
  fc.stringMatching(/^[a-zA-Z0-9_-]{1,100}$/),
);

function allNames(servers: readonly string[], tools: readonly string[], taken = new Set<string>()): readonly string[] {
  return [...serverParts(servers).values()].flatMap((part) => [...toolNames(part, tools, taken).values()]);
}

describe('names of MCP tools', () => {
  it('are plain where they can be', () => {
    expect(serverParts(['github', 'my.server', 'a__b_'])).toEqual(
      new Map([
        ['github', 'github'],
        ['a__b_', 'a_b'],
        ['my.server', 'my_server'],
      ]),
    );
    expect(toolNames('github', ['get_issue', 'a.b', 'a b/c'], new Set())).toEqual(
      new Map([
        ['get_issue', 'mcp__github__get_issue'],
        ['a.b', 'mcp__github__a_b'],
        ['a b/c', 'mcp__github__a_b_c'],
      ]),
    );
  });

  it('leave a name to the tool that really has it', () => {
    const names = toolNames('s', ['a.b', 'a_b'], new Set());
    expect(names.get('a_b')).toBe('mcp__s__a_b');
    expect(names.get('a.b')).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
    expect(toolNames('s', ['x'], new Set(['mcp__s__x'])).get('x')).toMatch(/^mcp__s__x_[0-9a-f]{8}$/);
  });

  it('fit the API, never meet, do not depend on the order, and no rule for one server is about another', () => {
    const lists = fc.uniqueArray(name, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(lists, lists, (servers, tools) => {
        const names = allNames(servers, tools);
        expect(new Set(names).size).toBe(names.length);
        for (const one of names) expect(one).toMatch(/^mcp__[a-zA-Z0-9_-]{1,59}$/);
        const turned = allNames(servers.toReversed(), tools.toReversed());
        expect(turned.toSorted()).toEqual(names.toSorted());
        const parts = [...serverParts(servers).values()];
        for (const part of parts) {
          const covered = names.filter((one) => one.startsWith(`mcp__${part}__`));
          expect(covered).toEqual([...toolNames(part, tools, new Set()).values()]);
        }
      }),
    );
  });
});
