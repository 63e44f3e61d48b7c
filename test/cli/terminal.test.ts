import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { ScriptedModel } from '../../src/testing/scripted-model.ts';
import { listen } from '../../src/testing/scripted-server.ts';
import { binary, quietEnvironment } from './binary.ts';

/** `script` gives a process a terminal; elsewhere than on Linux its flags are others. */
const canOpenTerminal = process.platform === 'linux' && existsSync('/usr/bin/script');

/** A person at a terminal: waits for a text, then types. */
class Person {
  #seen = '';
  readonly #child;

  constructor(argv: readonly string[], columns = 100) {
    const command = [process.execPath, binary, ...argv].map((word) => `'${word}'`).join(' ');
    const env = { ...quietEnvironment, TERM: 'xterm' };
    this.#child = spawn('script', ['-qefc', `stty cols ${columns} rows 24; ${command}`, '/dev/null'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout.on('data', (chunk: Buffer) => (this.#seen += chunk.toString('utf8')));
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

  leaves(): void {
    this.#child.kill('SIGKILL');
  }

  types(keys: string): void {
    this.#child.stdin.write(keys);
  }
}

describe.skipIf(!canOpenTerminal)('escapement at a terminal', () => {
  it('asks, shows that it works, is interrupted by one Ctrl+C and goes on from the history', async () => {
    const model = new ScriptedModel({
      model: [
        {
          stream: [
            { text: 'First this.' },
            { tool: 'Bash', id: 't1', input: { command: 'echo one' } },
            { stop: 'tool_use' },
          ],
        },
        {
          stream: [
            { text: 'Now slowly.' },
            { wait: 600 },
            { tool: 'Bash', id: 't2', input: { command: 'sleep 60' } },
            { stop: 'tool_use' },
          ],
        },
        { stream: [{ text: 'Going on.' }, { stop: 'end_turn' }] },
      ],
      limits: { contextWindow: 200_000, maxOutput: 64_000 },
      clock: systemClock,
      profile: 'plain',
    });
    const server = await listen(model);
    const folder = mkdtempSync(path.join(tmpdir(), 'escapement-terminal-'));
    const person = new Person(['go', '--base-url', server.url, '--model', 'm', '--cwd', folder]);
    onTestFinished(async () => {
      person.leaves();
      await server.close();
    });
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
  });
});
