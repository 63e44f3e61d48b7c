import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Emitted } from '../../src/core/output.ts';
import { createMcpServers } from '../../src/mcp/servers.ts';
import type { Query } from '../../src/query.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { drain, scriptedQuery } from '../support/scripted.ts';
import { overHttp, overStdio } from './everything.ts';

const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }] };
const use = (id: string, tool: string, input: Record<string, unknown> = {}): ModelEntry =>
  ({ stream: [{ tool: `mcp__every__${tool}`, id, input }, { stop: 'tool_use' }] }) as ModelEntry;
const long = (id: string): ModelEntry => use(id, 'trigger-long-running-operation', { duration: 60, steps: 600 });

const deps = { clock: systemClock };

/** The servers that this process has started and that still run. */
function children(): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        const parent = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
        return parent === process.pid && command.includes('server-everything') && command.includes('stdio');
      } catch {
        return false;
      }
    });
}

/** Runs on until a call of the long operation has told of progress. */
async function untilProgress(started: Query, seen: Emitted[]): Promise<void> {
  for (;;) {
    const result = await started.next();
    if (result.done === true) throw new Error('The query ended before there was progress.');
    seen.push(result.value);
    if (result.value.type === 'progress' && result.value.status === 'running') return;
  }
}

function results(emitted: readonly Emitted[]): readonly { text: string; isError: boolean }[] {
  return emitted.flatMap((item) => {
    if (item.type !== 'user') return [];
    return item.message.content.flatMap((block) =>
      block.type === 'tool_result' ? [{ text: JSON.stringify(block.content), isError: block.is_error ?? false }] : [],
    );
  });
}

describe('a real server over stdio', () => {
  it('is used by the loop, its media included, and is gone when the query ends', async () => {
    const { query, model } = scriptedQuery(
      [
        use('t1', 'echo', { message: 'hello' }),
        use('t2', 'get-tiny-image'),
        use('t3', 'get-structured-content', { location: 'Chicago' }),
        use('t4', 'get-resource-links', { count: 2 }),
        use('t5', 'echo', {}),
        done,
      ],
      { mcpServers: { every: overStdio }, deps },
    );
    const { emitted, terminal } = await drain(query);
    expect(terminal.reason).toBe('completed');
    const [echo, image, structured, links, wrong] = results(emitted);
    expect(echo?.text).toContain('Echo: hello');
    expect(image?.text).toContain('"media_type":"image/png"');
    expect(structured?.text.match(/humidity/g)).toHaveLength(1);
    expect(links?.text).toContain('[Resource Text Resource 2 (text/plain) at demo://');
    expect(wrong?.isError).toBe(true);
    const tools = model.requests[0]?.body.tools?.map((tool) => tool.name) ?? [];
    expect(tools[0]).toBe('echo');
    expect(tools.slice(1)).toEqual(tools.slice(1).toSorted());
    expect(tools).toContain('mcp__every__get-sum');
    expect(children()).toEqual([]);
  });

  it('is killed in the middle of a call: an error result, one restart, and the session goes on', async () => {
    const { query } = scriptedQuery(
      [long('t1'), use('t2', 'echo', { message: 'again' }), long('t3'), use('t4', 'echo', { message: 'no' }), done],
      {
        mcpServers: { every: overStdio },
        deps,
      },
    );
    const emitted: Emitted[] = [];
    for (const _ of [1, 2]) {
      await untilProgress(query, emitted);
      for (const pid of children()) process.kill(pid, 'SIGKILL');
    }
    const { emitted: rest, terminal } = await drain(query);
    const [killed, again, killedAgain, refused] = results([...emitted, ...rest]);
    expect(killed).toMatchObject({ isError: true });
    expect(killed?.text).toMatch(/The MCP server every ended while .* ran \(it was ended by SIGKILL\).*once more/);
    expect(again?.isError).toBe(false);
    expect(again?.text).toContain('Echo: again');
    expect(killedAgain?.text).toMatch(/is not started again/);
    expect(refused?.text).toMatch(/has ended a second time/);
    expect(terminal.reason).toBe('completed');
    expect(children()).toEqual([]);
  });

  it.each(['return', 'throw', 'interrupt'] as const)('is gone after %s()', async (how) => {
    const { query } = scriptedQuery([long('t1'), done], { mcpServers: { every: overStdio }, deps });
    await untilProgress(query, []);
    expect(children()).toHaveLength(1);
    if (how === 'return') await query.return();
    if (how === 'throw') await query.throw(new Error('enough')).catch(() => {});
    if (how === 'interrupt') {
      query.interrupt();
      expect((await drain(query)).terminal.reason).toBe('aborted_tools');
    }
    expect(children()).toEqual([]);
  });
});

describe('a server that does not answer', () => {
  it.each(['return', 'interrupt'] as const)(
    'is gone after %s() while it starts, with what it has started',
    async (how) => {
      const seconds = String(100_000 + process.pid + (how === 'return' ? 0 : 0.5));
      const { query } = scriptedQuery([], {
        mcpServers: { slow: { command: 'sh', args: ['-c', `sleep ${seconds} & wait`] } },
        deps,
      });
      const first = query.next();
      while (!runs(seconds)) await new Promise((resolve) => setTimeout(resolve, 10));
      if (how === 'interrupt') query.interrupt();
      else await query.return();
      await first;
      if (how === 'interrupt') expect((await drain(query)).terminal.reason).toBe('aborted_streaming');
      expect(runs(seconds)).toBe(false);
    },
  );
});

/** Whether a `sleep` of that many seconds runs in a group that this process has started. */
function runs(seconds: string): boolean {
  return readdirSync('/proc').some((entry) => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/cmdline`, 'utf8') === `sleep\0${seconds}\0`;
    } catch {
      return false;
    }
  });
}

describe('a real server over streamable HTTP', () => {
  it('is used by the loop', async () => {
    const { url } = await overHttp();
    const { query } = scriptedQuery([use('t1', 'get-sum', { a: 2, b: 3 }), done], {
      mcpServers: { every: { type: 'http', url } },
      deps,
    });
    const { emitted } = await drain(query);
    expect(results(emitted)[0]?.text).toContain('The sum of 2 and 3 is 5');
  });

  it('is killed in the middle of a call and back later: an error result, a new session', async () => {
    const server = await overHttp();
    const { query } = scriptedQuery([long('t1'), use('t2', 'echo', { message: 'again' }), done], {
      mcpServers: { every: { type: 'http', url: server.url } },
      deps,
    });
    const emitted: Emitted[] = [];
    await untilProgress(query, emitted);
    await server.kill();
    await server.restart();
    const { emitted: rest, terminal } = await drain(query);
    const [killed, again] = results([...emitted, ...rest]);
    expect(killed?.text).toMatch(/ended while .* ran/);
    expect(again?.isError).toBe(false);
    expect(again?.text).toContain('Echo: again');
    expect(terminal.reason).toBe('completed');
  });

  it('was started anew between two queries: the call that finds out is made again in a new session', async () => {
    const server = await overHttp();
    const mcpServers = createMcpServers({ every: { type: 'http', url: server.url } });
    onTestFinished(() => mcpServers.close());
    const run = async () =>
      drain(scriptedQuery([use('t1', 'echo', { message: 'hi' }), done], { mcpServers, deps }).query);
    await run();
    await server.kill();
    await server.restart();
    const { emitted } = await run();
    expect(results(emitted)[0]).toMatchObject({ isError: false });
    expect(results(emitted)[0]?.text).toContain('Echo: hi');
  });

  it('is gone for good: the call says so', async () => {
    const server = await overHttp();
    const { query } = scriptedQuery([long('t1'), use('t2', 'echo', { message: 'hi' }), done], {
      mcpServers: { every: { type: 'http', url: server.url } },
      deps,
    });
    const emitted: Emitted[] = [];
    await untilProgress(query, emitted);
    await server.kill();
    const { emitted: rest } = await drain(query);
    const [, second] = results([...emitted, ...rest]);
    expect(second?.text).toMatch(/could not be started again: .*ECONNREFUSED/);
  });

  it('is not there: a notice, and the query goes on', async () => {
    const server = await overHttp();
    await server.kill();
    const { query } = scriptedQuery([done], { mcpServers: { every: { type: 'http', url: server.url } }, deps });
    const { emitted, terminal } = await drain(query);
    expect(emitted[0]?.type === 'notice' && emitted[0].text).toMatch(/every did not start: .*ECONNREFUSED/);
    expect(terminal.reason).toBe('completed');
  });
});
