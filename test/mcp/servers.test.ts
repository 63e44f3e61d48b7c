import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Emitted } from '../../src/core/output.ts';
import { createMcpServers, type McpServers } from '../../src/mcp/servers.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { runInVirtualTime, runUntilIdle, VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { CanUseTool } from '../../src/tools/can-use-tool.ts';
import { drain, scriptedQuery } from '../support/scripted.ts';
import { inProcess } from './in-process.ts';

const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };
const use = (...names: readonly string[]): ModelEntry => ({
  stream: [...names.map((tool) => ({ tool, id: `id-${tool}-${Math.random()}`, input: {} })), { stop: 'tool_use' }],
});
const deps = { clock: systemClock };
const answer = (text: string) => ({ content: [{ type: 'text' as const, text }] });

const open: McpServers[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((servers) => servers.close()));
});

function serving(...[servers, options]: Parameters<typeof inProcess>): ReturnType<typeof inProcess> {
  const made = inProcess(servers, options);
  open.push(made.servers);
  return made;
}

function two(server: McpServer): void {
  server.registerTool('read', { annotations: { readOnlyHint: true } }, () => answer('was read'));
  server.registerTool('drop', { annotations: { readOnlyHint: true, destructiveHint: true } }, () => answer('is gone'));
}

function texts(emitted: readonly Emitted[]): readonly string[] {
  return emitted.flatMap((item) =>
    item.type === 'user'
      ? item.message.content.flatMap((block) =>
          block.type === 'tool_result' ? [`${block.is_error ? 'ERROR ' : ''}${JSON.stringify(block.content)}`] : [],
        )
      : [],
  );
}

const notices = (emitted: readonly Emitted[]): readonly string[] =>
  emitted.flatMap((item) => (item.type === 'notice' ? [item.text] : []));

describe('tools of MCP servers', () => {
  it('stand behind all others, sorted, with the schema of the server', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number', minimum: 3 } }, required: ['a'], oneOf: [{}] };
    const { servers } = serving({
      zeta: two,
      alpha: (server) =>
        server.registerTool('sum', { description: 'Adds.', inputSchema: fromJsonSchema(schema as never) }, () =>
          answer('1'),
        ),
    });
    const { query, model } = scriptedQuery([done], { mcpServers: servers, deps });
    await drain(query);
    const tools = model.requests[0]?.body.tools ?? [];
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'mcp__alpha__sum', 'mcp__zeta__drop', 'mcp__zeta__read']);
    const { oneOf: _, ...rest } = schema;
    expect(tools[1]).toMatchObject({ input_schema: rest });
    expect(tools[1]?.description).toMatch(/^Adds\.\n.*oneOf/);
    expect(tools[1]?.input_schema).not.toHaveProperty('oneOf');
    expect(servers.list().map(({ name, server, source }) => [name, server, source])).toContainEqual([
      'mcp__zeta__read',
      'zeta',
      'a test',
    ]);
  });

  it('are not told of when a bare deny rule names them or their server', async () => {
    const { servers } = serving({ s: two, t: two });
    const rules = ['mcp__s', 'mcp__t__drop'].map((rule) => ({ behavior: 'deny', rule }) as const);
    const { query, model } = scriptedQuery([done], { mcpServers: servers, rules, deps });
    await drain(query);
    expect(model.requests[0]?.body.tools?.map(({ name }) => name)).toEqual(['echo', 'mcp__t__read']);
  });

  it('take the hints of the server for what may run at once, and for nothing that lets a call pass', async () => {
    const { servers } = serving({ s: two });
    await servers.start();
    const [drop, read] = servers.tools();
    expect([read?.isReadOnly({}), read?.isConcurrencySafe({})]).toEqual([true, true]);
    expect([drop?.isReadOnly({}), drop?.isConcurrencySafe({})]).toEqual([false, false]);
    const asked: string[] = [];
    const canUseTool: CanUseTool = (name, _input, { reason }) => {
      asked.push(`${name}: ${reason}`);
      return Promise.resolve({ behavior: 'deny' });
    };
    const options = { mcpServers: servers, deps, canUseTool, permissionMode: 'default' } as const;
    const { emitted } = await drain(scriptedQuery([use('mcp__s__read'), use('mcp__s__drop'), done], options).query);
    expect(texts(emitted).every((text) => text.startsWith('ERROR'))).toBe(true);
    expect(asked).toEqual([
      'mcp__s__read: read belongs to the MCP server s.',
      'mcp__s__drop: drop belongs to the MCP server s and says of itself that it may destroy something.',
    ]);
  });

  it.each([
    ['mcp__s', 2],
    ['mcp__s__*', 2],
    ['mcp__s__read', 1],
    ['mcp__other', 0],
    ['mcp__other__*', 0],
  ])('pass by the rule %s: %d of 2', async (rule, passed) => {
    const { servers } = serving({ s: two });
    const options = {
      mcpServers: servers,
      deps,
      permissionMode: 'default',
      rules: [{ behavior: 'allow', rule }],
    } as const;
    const { emitted } = await drain(scriptedQuery([use('mcp__s__read', 'mcp__s__drop'), done], options).query);
    expect(texts(emitted).filter((text) => !text.startsWith('ERROR'))).toHaveLength(passed);
  });

  it('change while the query runs, and the next request has the new list', async () => {
    const { servers } = serving({
      s: (server) => {
        server.registerTool('grow', {}, () => {
          server.registerTool('grown', {}, () => answer('here'));
          return answer('grew');
        });
      },
    });
    const { query, model } = scriptedQuery([use('mcp__s__grow'), use('mcp__s__grown'), done], {
      mcpServers: servers,
      deps,
    });
    const { emitted } = await drain(query);
    expect(model.requests.map(({ body }) => body.tools?.length)).toEqual([2, 3, 3]);
    expect(texts(emitted)[1]).toContain('here');
  });

  it('tell of progress', async () => {
    const { servers } = serving({
      s: (server) => {
        server.registerTool('slow', {}, async (context) => {
          // oxlint-disable-next-line no-underscore-dangle -- the name is the protocol's
          const progressToken = context.mcpReq._meta?.progressToken ?? '';
          await context.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress: 1, total: 4, message: 'Half way' },
          });
          return answer('ok');
        });
      },
    });
    const { emitted } = await drain(scriptedQuery([use('mcp__s__slow'), done], { mcpServers: servers, deps }).query);
    const shown = emitted.flatMap((item) => (item.type === 'progress' && item.status === 'running' ? [item.text] : []));
    expect(shown).toEqual(['Half way (1/4)']);
  });

  it('map every kind of content, and say what was left out', async () => {
    const data = Buffer.from('x'.repeat(30)).toString('base64');
    const { servers } = serving({
      s: (server) => {
        server.registerTool('all', {}, () => ({
          content: [
            { type: 'image', mimeType: 'image/bmp', data },
            { type: 'audio', mimeType: 'audio/wav', data },
            { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain', description: 'the letter' },
            { type: 'resource', resource: { uri: 'x:1', text: 'inside' } },
            { type: 'resource', resource: { uri: 'x:2', blob: data, mimeType: 'application/zip' } },
            { type: 'resource', resource: { uri: 'x:3', blob: data, mimeType: 'application/pdf' } },
            { type: 'text', text: '{"b":[1]}' },
          ],
          structuredContent: { b: [1] },
        }));
        server.registerTool('structured', {}, () => ({ content: [], structuredContent: { c: 2 } }));
        server.registerTool('twice', {}, () => ({ ...answer('a file'), structuredContent: { content: 'a file' } }));
        server.registerTool('fails', {}, () => ({ ...answer('it failed'), isError: true }));
        server.registerTool('throws', {}, () => {
          throw new Error('a bug');
        });
        server.registerTool('long', {}, () => answer('y'.repeat(150_000)));
      },
    });
    const calls = ['all', 'structured', 'twice', 'fails', 'throws', 'long'].map((name) => use(`mcp__s__${name}`));
    const { emitted } = await drain(scriptedQuery([...calls, done], { mcpServers: servers, deps }).query);
    const [all = '', structured, twice, fails, throws, long = ''] = texts(emitted);
    expect(all).toContain('[An image (image/bmp, 30 bytes) was left out: the model cannot take it.]');
    expect(all).toContain('[A sound (audio/wav, 30 bytes) was left out: the model cannot take it.]');
    expect(all).toContain('[Resource a (text/plain) at file:///a: the letter]');
    expect(all).toContain('[Resource x:1]\\ninside');
    expect(all).toContain('[The resource x:2 (application/zip, 30 bytes) was left out: the model cannot take it.]');
    expect(all).toContain('application/pdf');
    expect(all.match(/b\\":\[1\]/g)).toHaveLength(1);
    expect(structured).toContain('{\\"c\\":2}');
    expect(twice?.match(/a file/g)).toHaveLength(1);
    expect(fails).toMatch(/^ERROR .*it failed/);
    expect(throws).toMatch(/^ERROR .*a bug/);
    expect(long.length).toBeLessThan(100_000);
  });
});

describe('the life of MCP servers', () => {
  it('stay open from query to query, and may die once in each', async () => {
    const { servers, running, starts } = serving({ s: two });
    const run = async () => drain(scriptedQuery([use('mcp__s__read'), done], { mcpServers: servers, deps }).query);
    await run();
    await run();
    expect(starts).toEqual(['s']);
    await running.get('s')?.close();
    const { emitted } = await run();
    expect(starts).toEqual(['s', 's']);
    expect(texts(emitted)[0]).toContain('was read');
  });

  it('die in a call, are started once more at the next, and then no more', async () => {
    const made = serving({
      s: (server) => {
        server.registerTool('die', {}, async () => {
          await made.running.get('s')?.close();
          return answer('never');
        });
        server.registerTool('live', {}, () => answer('lives'));
      },
    });
    const script = ['die', 'live', 'die', 'live'].map((name) => use(`mcp__s__${name}`));
    const { emitted, terminal } = await drain(
      scriptedQuery([...script, done], { mcpServers: made.servers, deps }).query,
    );
    const [first, second, third, fourth] = texts(emitted);
    expect(first).toMatch(/^ERROR .*s ended while die ran.*what the call has done is not known\. The next call starts/);
    expect(second).toContain('lives');
    expect(third).toMatch(/^ERROR .*is not started again/);
    expect(fourth).toMatch(/^ERROR .*ended a second time/);
    expect(notices(emitted)).toEqual(['The MCP server s had ended and was started again.']);
    expect(made.starts).toHaveLength(2);
    expect(terminal.reason).toBe('completed');
  });

  it('die under two calls at once: two error results, one restart', async () => {
    const made = serving({
      s: (server) => {
        for (const name of ['a', 'b'])
          server.registerTool(name, { annotations: { readOnlyHint: true } }, async () => {
            await new Promise((resolve) => setImmediate(resolve));
            if (made.starts.length === 1) await made.running.get('s')?.close();
            return answer(name);
          });
      },
    });
    const script = [use('mcp__s__a', 'mcp__s__b'), use('mcp__s__a', 'mcp__s__b'), done];
    const { emitted } = await drain(scriptedQuery(script, { mcpServers: made.servers, deps }).query);
    expect(texts(emitted).map((text) => text.startsWith('ERROR'))).toEqual([true, true, false, false]);
    expect(made.starts).toHaveLength(2);
  });

  it('say why they did not start: a program that is not there, one that ends, a variable that is not set', async () => {
    const mcpServers = {
      gone: { command: '/nowhere/at/all' },
      quits: { command: process.execPath, args: ['-e', 'console.error("no licence found"); process.exit(3)'] },
      unset: { command: 'x', env: { A: '${SURELY_NOT_SET_1}' } },
      address: { type: 'http', url: 'ftp://x' },
    } as const;
    const { emitted, terminal } = await drain(scriptedQuery([done], { mcpServers, deps }).query);
    expect(terminal.reason).toBe('completed');
    const [address, gone, quits, unset] = notices(emitted);
    expect(address).toMatch(/address did not start: its url is no address/);
    expect(gone).toMatch(/gone did not start: .*ENOENT/);
    expect(quits).toMatch(/quits did not start: .*exit status 3: no licence found/);
    expect(unset).toMatch(/unset did not start: the variable SURELY_NOT_SET_1 of its env is not set/);
  });

  it('are given up when they do not answer in time, and nothing is left', async () => {
    const clock = new VirtualClock();
    const silent = createSilent(clock);
    let told: readonly string[] = [];
    const started = silent.start().then((sentences) => (told = sentences));
    await runUntilIdle(clock, () => told.length > 0);
    await started;
    expect(told).toEqual([
      'The MCP server s did not start: it did not answer within 5 seconds. The query goes on without its tools.',
    ]);
    await silent.close();
    expect(clock.pending).toBe(0);
  });

  it('end a call that takes too long, and hear of it', async () => {
    const clock = new VirtualClock();
    let cancelled = false;
    const { servers } = serving(
      {
        s: (server) => {
          server.registerTool('hang', {}, async ({ mcpReq }) => {
            await new Promise<void>((resolve) => {
              mcpReq.signal.addEventListener('abort', () => resolve());
            });
            cancelled = true;
            return answer('never');
          });
        },
      },
      { clock, callTimeoutMs: 5_000 },
    );
    // What is loaded for the first server takes time of the machine, over which a virtual clock would jump.
    await servers.start();
    const { query } = scriptedQuery([use('mcp__s__hang'), done], { mcpServers: servers, deps: { clock } });
    const { emitted } = await runInVirtualTime(clock, drain(query));
    expect(texts(emitted)).toEqual([expect.stringMatching(/^ERROR .*mcp__s__hang ran longer than 5 seconds/)]);
    expect(cancelled).toBe(true);
  });

  it('hear of a call that is cancelled', async () => {
    let cancelled = false;
    const { servers } = serving({
      s: (server) => {
        server.registerTool('hang', {}, async ({ mcpReq }) => {
          query.interrupt();
          await new Promise<void>((resolve) => {
            mcpReq.signal.addEventListener('abort', () => resolve());
          });
          cancelled = true;
          return answer('never');
        });
      },
    });
    const { query } = scriptedQuery([use('mcp__s__hang'), done], { mcpServers: servers, deps });
    expect((await drain(query)).terminal.reason).toBe('aborted_tools');
    expect(cancelled).toBe(true);
  });

  it('do not hold up an interruption while they start', async () => {
    const silent = createSilent(systemClock);
    const { query } = scriptedQuery([], { mcpServers: silent, deps });
    const first = query.next();
    query.interrupt();
    let result = await first;
    while (result.done !== true) result = await query.next();
    expect(result.value.reason).toBe('aborted_streaming');
    await silent.close();
  });

  it('keep secrets out of results, progress and journals', async () => {
    const script = `
      const { McpServer } = await import('@modelcontextprotocol/server');
      const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
      const server = new McpServer({ name: 's', version: '1' });
      server.registerTool('leak', { description: process.env.LEAK_TOKEN }, () => ({
        content: [{ type: 'text', text: JSON.stringify(process.env) }],
      }));
      await server.connect(new StdioServerTransport());`;
    process.env['LEAK_TOKEN'] = 'hidden-value-1';
    process.env['OTHER_TOKEN'] = 'hidden-value-2';
    const mcpServers = {
      s: {
        command: process.execPath,
        args: ['--input-type=module', '-e', script],
        env: { LEAK_TOKEN: '${LEAK_TOKEN}', PLAIN: 'plain-value' },
      },
    };
    const events: unknown[] = [];
    const journal = { begin: (...all: unknown[]) => events.push(all), append: (event: unknown) => events.push(event) };
    const { query, model } = scriptedQuery([use('mcp__s__leak'), done], {
      mcpServers,
      deps,
      journal,
    });
    const { emitted } = await drain(query);
    delete process.env['LEAK_TOKEN'];
    delete process.env['OTHER_TOKEN'];
    expect(texts(emitted)[0]).toContain('plain-value');
    expect(texts(emitted)[0]).toContain('[secret]');
    const everything = JSON.stringify([events, emitted, model.requests]);
    expect(everything).not.toMatch(/hidden-value/);
  });

  it('are refused at once when they are written wrong', () => {
    expect(() => createMcpServers({}, { callTimeoutMs: 0 })).toThrow(/callTimeoutMs of the MCP servers is 0/);
    expect(() => createMcpServers({ a: { command: '' } })).toThrow(/"a" of the option mcpServers.*command/);
    expect(() => scriptedQuery([], { mcpServers: { a: {} as never } })).toThrow(TypeError);
  });
});

/** A set with one server that takes every message and answers none. */
function createSilent(clock: VirtualClock | typeof systemClock): McpServers {
  const silent = { start: () => Promise.resolve(), send: () => Promise.resolve(), close: () => Promise.resolve() };
  const servers = createMcpServers(
    { s: { command: 'none' } },
    { clock, startTimeoutMs: 5_000, transport: () => ({ ...silent }) },
  );
  open.push(servers);
  return servers;
}
