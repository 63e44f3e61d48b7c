import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { overStdio } from '../mcp/everything.ts';
import { run } from './binary.ts';
import { done, exists, serve, workspace } from './world.ts';

const echo = {
  stream: [{ tool: 'mcp__every__echo', id: 't1', input: { message: 'hello' } }, { stop: 'tool_use' }],
};
const config = JSON.stringify({ mcpServers: { every: overStdio } });

describe('escapement with MCP servers', () => {
  it('uses those of --mcp-config, and leaves nothing running', async () => {
    const { url, model } = await serve([echo, done]);
    const folder = workspace({ 'servers.json': config });
    const flags = ['--base-url', url, '--model', 'm', '--cwd', folder, '--allow', 'mcp__every'];
    const { exitCode, stderr } = await run(['go', ...flags, '--mcp-config', join(folder, 'servers.json')]);
    expect(stderr).not.toContain('not trusted');
    expect(exitCode).toBe(0);
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('Echo: hello');
  });

  it('starts nothing of the .mcp.json of a folder, and says so', async () => {
    const { url, model } = await serve([done]);
    const folder = workspace();
    const mark = join(folder, 'started');
    const server = { command: process.execPath, args: ['-e', `require('fs').writeFileSync('${mark}', 'x')`] };
    const own = workspace({ '.mcp.json': JSON.stringify({ mcpServers: { own: server } }) });
    const { exitCode, stderr } = await run(['go', '--base-url', url, '--model', 'm', '--cwd', own]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/The MCP server own of .*\.mcp\.json was not started, since this repository is not trusted/);
    expect(exists(mark)).toBe(false);
    expect(model.requests[0]?.body.tools?.some(({ name }) => name.startsWith('mcp__'))).toBe(false);
  });

  it('says which server did not start, and goes on', async () => {
    const { url } = await serve([done]);
    const gone = JSON.stringify({ mcpServers: { gone: { command: '/nowhere/at/all' } } });
    const { exitCode, stdout, stderr } = await run(['go', '--base-url', url, '--model', 'm', '--mcp-config', gone]);
    expect(exitCode).toBe(0);
    expect(`${String(stdout)}${String(stderr)}`).toMatch(/The MCP server gone did not start: .*ENOENT/);
  });

  it('refuses a configuration that cannot be used', async () => {
    const { exitCode, stderr } = await run(['go', '--base-url', 'http://127.0.0.1:1', '--mcp-config', '{}']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/has no "mcpServers"/);
  });
});
