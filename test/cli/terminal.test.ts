import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { binary, quietEnvironment } from './binary.ts';
import { serve, workspace } from './world.ts';

/** `script` gives a process a terminal; elsewhere than on Linux its flags are others. */
const canOpenTerminal = process.platform === 'linux' && existsSync('/usr/bin/script');

/** A person at a terminal: waits for a text, then types. */
class Person {
  #seen = '';
  readonly #child;
  readonly ended: Promise<number>;

  constructor(argv: readonly string[], columns = 100, home = quietEnvironment.HOME) {
    const command = [process.execPath, binary, ...argv].map((word) => `'${word}'`).join(' ');
    const env = { ...quietEnvironment, TERM: 'xterm', HOME: home };
    this.#child = spawn('script', ['-qefc', `stty cols ${columns} rows 24; exec ${command}`, '/dev/null'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout.on('data', (chunk: Buffer) => (this.#seen += chunk.toString('utf8')));
    this.ended = once(this.#child, 'close').then(([status]) => Number(status));
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  get screen(): string {
    return stripVTControlCharacters(this.#seen);
  }

  async sees(text: string, times = 1): Promise<void> {
    const looks = 200;
    for (let look = 0; this.screen.split(text).length <= times; look += 1) {
      if (look > looks) throw new Error(`"${text}" did not appear. The screen shows:\n${this.screen}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  types(keys: string): void {
    this.#child.stdin.write(keys);
  }
}

function bash(id: string, command: string, text = ''): ModelEntry {
  const spoken = text === '' ? [] : [{ text }, { wait: 600 }];
  return { stream: [...spoken, { tool: 'Bash', id, input: { command } }, { stop: 'tool_use' }] };
}

const end: ModelEntry = { stream: [{ text: 'Going on.' }, { stop: 'end_turn' }] };

describe.skipIf(!canOpenTerminal)('escapement at a terminal', () => {
  it('keeps an MCP server through Ctrl+C, which reaches every process of the terminal, and from prompt to prompt', async () => {
    const server = `
      const { McpServer } = await import("@modelcontextprotocol/server");
      const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
      const server = new McpServer({ name: "s", version: "1" });
      server.registerTool("pid", {}, () => ({ content: [{ type: "text", text: "pid " + process.pid }] }));
      server.registerTool("hang", {}, () => new Promise(() => {}));
      await server.connect(new StdioServerTransport());`.replaceAll(/\s+/g, ' ');
    const call = (id: string, name: string): ModelEntry => ({
      stream: [{ tool: `mcp__s__${name}`, id, input: {} }, { stop: 'tool_use' }],
    });
    const { url, model } = await serve([call('t1', 'pid'), call('t2', 'hang'), call('t3', 'pid'), end]);
    const s = { command: process.execPath, args: ['--input-type=module', '-e', server] };
    const config = workspace({ 'mcp.json': JSON.stringify({ mcpServers: { s } }) });
    const flags = ['--base-url', url, '--model', 'm', '--allow', 'mcp__s', '--mcp-config', join(config, 'mcp.json')];
    const person = new Person(['go', ...flags]);
    await person.sees('mcp__s__hang');
    person.types('\u0003');
    await person.sees('What now?');
    person.types('again\r');
    await person.sees('Going on.');
    expect(await person.ended).toBe(0);
    const said = JSON.stringify(model.requests.at(-1)?.body.messages).match(/pid \d+/g);
    expect(said).toHaveLength(2);
    expect(said?.[1]).toBe(said?.[0]);
  });

  it('asks, shows that it works, is interrupted by one Ctrl+C and goes on from the history', async () => {
    const { url, model } = await serve([
      bash('t1', 'echo one', 'First this.'),
      bash('t2', 'sleep 60', 'Now slowly.'),
      end,
    ]);
    const person = new Person(['go', '--base-url', url, '--model', 'm', '--cwd', workspace()]);
    await person.sees('nd the turn:');
    expect(person.screen).toContain('First this.');
    person.types('y\r');
    await person.sees('✓ Bash echo one');
    await person.sees('nd the turn:', 2);
    person.types('y\r');
    // The spinner says what is waited for.
    await person.sees('Bash sleep 60', 2);
    person.types('\u0003');
    await person.sees('What now?');
    expect(person.screen).toContain('aborted_tools');
    person.types('go on\r');
    await person.sees('completed (done)');
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('interrupted while tools were running');
    expect(await person.ended).toBe(0);
  });

  it('takes Ctrl+C wherever it asks, with nothing turning under the question', async () => {
    const { url } = await serve([bash('t1', 'echo one'), bash('t2', 'echo two')]);
    const person = new Person(['go', '--base-url', url, '--model', 'm', '--cwd', workspace()]);
    await person.sees('nd the turn:');
    person.types('\u0003');
    await person.sees('What now?');
    person.types('more\r');
    await person.sees('nd the turn:', 2);
    person.types('\u0003');
    await person.sees('What now?', 2);
    // Longer than a spinner waits before it shows itself.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(person.screen.slice(person.screen.lastIndexOf('What now?'))).toBe('What now? (nothing ends) ');
    person.types('\u0003');
    expect(await person.ended).toBe(130);
  });

  it('goes on with --interactive, and compacts the conversation when it is told to', async () => {
    const long = { stream: [{ text: 'word '.repeat(3_000) }, { stop: 'end_turn' }] };
    const { url, model } = await serve([long, end], [{ text: 'Many words.' }]);
    const argv = ['-i', '--base-url', url, '--model', 'm', '--context-window', '20000', '--cwd', workspace()];
    const person = new Person(argv);
    await person.sees('What now?');
    person.types('say much\r');
    await person.sees('What now?', 2);
    person.types('/compact keep the names\r');
    await person.sees('(manual_compact: ');
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('keep the names');
    await person.sees('What now?', 3);
    person.types('and now?\r');
    await person.sees('Going on.');
    expect(JSON.stringify(model.requests[2]?.messages)).toMatch(/Many words\..*and now\?/);
    await person.sees('What now?', 4);
    person.types('\r');
    expect(await person.ended).toBe(0);
  });

  it('takes lines while the agent works: behind the results of the turn, and after the end in a query of their own', async () => {
    const slow: ModelEntry = { stream: [{ text: 'Last words.' }, { wait: 1_500 }, { stop: 'end_turn' }] };
    const { url, model } = await serve([bash('t1', 'sleep 2; echo one'), slow, end]);
    const argv = ['go', '--base-url', url, '--model', 'm', '--cwd', workspace(), '--allow', 'Bash'];
    const person = new Person(argv);
    await person.sees('Bash sleep 2');
    person.types('look at b.txt too\r');
    await person.sees('(queued for the next turn: look at b.txt too)');
    await person.sees('Last words.');
    expect(JSON.stringify(model.requests[1]?.messages)).toMatch(/tool_result.*look at b\.txt too/);
    person.types('and then c.txt\r');
    await person.sees('(queued for the next turn: and then c.txt)');
    await person.sees('Going on.');
    expect(JSON.stringify(model.requests[2]?.messages)).toMatch(/Last words.*and then c\.txt/);
    expect(await person.ended).toBe(0);
    expect(JSON.stringify(model.requests[2]?.messages).split('b.txt')).toHaveLength(2);
  });

  it('takes the name of a skill while the agent works, and keeps the order of what is typed', async () => {
    const { url, model } = await serve([bash('t1', 'sleep 2; echo one'), end]);
    const cwd = workspace({ '.claude/skills/ship/SKILL.md': 'Ship $ARGUMENTS.' });
    const person = new Person(['go', '--base-url', url, '--model', 'm', '--cwd', cwd, '--allow', 'Bash']);
    await person.sees('Bash sleep 2');
    person.types('/ship the moon\rand then rest\r');
    await person.sees('(queued for the next turn: and then rest)');
    await person.sees('Going on.');
    expect(JSON.stringify(model.requests[1]?.messages)).toMatch(/tool_result.*Ship the moon\..*and then rest/);
    expect(await person.ended).toBe(0);
  });

  it('leaves the keyboard to a question, and takes lines again afterwards', async () => {
    const { url, model } = await serve([bash('t1', 'sleep 1; echo one', 'First this.'), end]);
    const person = new Person(['go', '--base-url', url, '--model', 'm', '--cwd', workspace()]);
    await person.sees('nd the turn:');
    person.types('y\r');
    // The spinner says it once more.
    await person.sees('Bash sleep 1', 2);
    person.types('more\r');
    await person.sees('(queued for the next turn: more)');
    await person.sees('Going on.');
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('"more"');
    expect(await person.ended).toBe(0);
  });

  it('keeps a command that is typed while the agent works for the end', async () => {
    const long: ModelEntry = { stream: [{ text: 'word '.repeat(3_000) }, { wait: 1_500 }, { stop: 'end_turn' }] };
    const { url } = await serve([long], [{ text: 'Many words.' }]);
    const argv = ['go', '--base-url', url, '--model', 'm', '--context-window', '20000', '--cwd', workspace()];
    const person = new Person(argv);
    await person.sees('word word');
    person.types('/compact\r');
    await person.sees('(waits for the end: /compact)');
    await person.sees('(manual_compact: ');
    expect(await person.ended).toBe(0);
  });

  it('has nothing to compact before the conversation began', async () => {
    const { url } = await serve([]);
    const person = new Person(['/compact', '--base-url', url, '--cwd', workspace()]);
    await person.sees('There is nothing to compact yet');
    expect(await person.ended).toBe(2);
  });

  it('is asked beside the output with --print, and nothing afterwards', async () => {
    const { url } = await serve([bash('t1', 'echo one\ntouch two'), end]);
    const person = new Person(['go', '-p', '--base-url', url, '--model', 'm', '--cwd', workspace()]);
    await person.sees('touch two');
    await person.sees('nd the turn:');
    person.types('e\r');
    expect(await person.ended).toBe(130);
    expect(person.screen).toContain('aborted_tools');
    expect(person.screen).not.toContain('What now?');
  });

  it('asks once whether a repository is trusted, and remembers a yes', async () => {
    const { url, model } = await serve([end, end, end]);
    const settings = {
      hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'echo It is Monday.' }] }] },
    };
    const folder = workspace({ '.claude/settings.json': JSON.stringify(settings) });
    const home = workspace();
    const argv = ['go', '--base-url', url, '--model', 'm', '--cwd', folder];
    for (const [round, answer] of ['n', 'y', null].entries()) {
      const person = new Person(argv, 200, home);
      if (answer !== null) {
        await person.sees('Trust this repository from now on?');
        expect(person.screen).toContain('1 command hook of');
        person.types(`${answer}\r`);
      }
      expect(await person.ended).toBe(0);
      expect(JSON.stringify(model.requests[round]).includes('It is Monday.')).toBe(answer !== 'n');
    }
  });
});
