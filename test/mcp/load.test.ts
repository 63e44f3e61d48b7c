import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findMcpServers, type McpSources } from '../../src/mcp/load.ts';
import { workspace } from '../cli/world.ts';

const file = (servers: Readonly<Record<string, unknown>>): string => JSON.stringify({ mcpServers: servers });
const find = (cwd: string, more: Partial<McpSources> = {}) =>
  findMcpServers({ cwd, given: [], from: cwd, trusted: false, ...more });

describe('findMcpServers', () => {
  it('starts nothing of a repository that is not trusted, and says so in one sentence', () => {
    const folder = workspace({ '.mcp.json': file({ a: { command: 'x' }, b: { command: 'y' } }) });
    const { entries, notices } = find(folder);
    expect(entries).toEqual([]);
    const path = join(folder, '.mcp.json');
    expect(notices).toEqual([
      `The MCP servers a, b of ${path} were not started, since this repository is not trusted: start with --mcp-config ${path} if you trust what it runs.`,
    ]);
    expect(find(folder, { given: [path] })).toMatchObject({ entries: [{ name: 'a' }, { name: 'b' }], notices: [] });
    expect(find(folder, { trusted: true })).toMatchObject({ entries: [{ name: 'a' }, { name: 'b' }], notices: [] });
  });

  it('finds the file from the folder up to the top of the repository, and not above', () => {
    const folder = workspace({
      '.mcp.json': file({ outer: { command: 'x' } }),
      'repo/.mcp.json': file({ inner: { command: 'x' } }),
      'repo/deep/down/a.txt': '',
      'bare/deep/a.txt': '',
    });
    mkdirSync(join(folder, 'repo/.git'));
    mkdirSync(join(folder, 'bare/.git'));
    const names = (path: string) => find(join(folder, path), { trusted: true }).entries.map(({ name }) => name);
    expect(names('repo/deep/down')).toEqual(['inner']);
    expect(names('bare/deep')).toEqual([]);
    expect(names('.')).toEqual(['outer']);
  });

  it('lets --mcp-config beat the repository, and a later one an earlier one', () => {
    const folder = workspace({
      '.mcp.json': file({ a: { command: 'repository' }, c: { command: 'repository' } }),
      'one.json': file({ a: { command: 'one' }, b: { command: 'one' } }),
    });
    const given = ['one.json', file({ b: { command: 'json' } })];
    const { entries } = find(folder, { given, trusted: true });
    expect(entries.map(({ name, config }) => [name, 'command' in config && config.command])).toEqual([
      ['a', 'one'],
      ['c', 'repository'],
      ['b', 'json'],
    ]);
  });

  it.each([
    ['nowhere.json', /nowhere\.json cannot be read \(ENOENT\)/],
    ['{ "mcpServers": ', /--mcp-config is no JSON/],
    ['{ "servers": {} }', /has no "mcpServers"/],
    ['{ "mcpServers": { "a": { "type": "sse", "url": "x" } } }', /"a" of --mcp-config cannot be used/],
  ])('refuses --mcp-config %s', (given, sentence) => {
    expect(() => find(workspace(), { given: [given] })).toThrow(sentence);
  });

  it('takes a broken file of the repository for a notice', () => {
    const folder = workspace({ '.mcp.json': '{' });
    expect(find(folder, { trusted: true }).notices).toEqual([
      expect.stringMatching(/\.mcp\.json is no JSON\. The query goes on/),
    ]);
  });
});
