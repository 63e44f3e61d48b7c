import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { demoFiles } from '../../src/cli/demo/files.ts';
import { newLines, oldLine } from '../../src/cli/demo/script.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { ScriptedModel } from '../../src/testing/scripted-model.ts';
import { listen, type ScriptedServer } from '../../src/testing/scripted-server.ts';
import { run } from './binary.ts';

const servers: ScriptedServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(script: readonly ModelEntry[]): Promise<{ url: string; model: ScriptedModel }> {
  const limits = { contextWindow: 200_000, maxOutput: 64_000 };
  const model = new ScriptedModel({ model: script, limits, clock: systemClock, profile: 'plain' });
  const server = await listen(model);
  servers.push(server);
  return { url: server.url, model };
}

function workspace(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-cli-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const done: ModelEntry = { stream: [{ text: 'All ' }, { text: 'done.' }, { stop: 'end_turn' }] };

describe('escapement', () => {
  it('runs the worked example: three calls, two turns that continue, and the file on disk is fixed', async () => {
    const file = 'src/auth/validate.ts';
    const { url, model } = await serve([
      {
        stream: [
          { text: 'Let me look at the file.' },
          { tool: 'Read', id: 't1', input: { file_path: file } },
          { stop: 'tool_use' },
        ],
      },
      {
        stream: [
          { text: 'I see the bug on line 42: userId can be null.' },
          { tool: 'Edit', id: 't2', input: { file_path: file, old_string: oldLine, new_string: newLines } },
          { stop: 'tool_use' },
        ],
      },
      { stream: [{ text: 'I fixed the null pointer bug by adding a guard clause.' }, { stop: 'end_turn' }] },
    ]);
    const folder = workspace(demoFiles);
    expect(demoFiles[file]?.split('\n')[41]).toContain(oldLine);
    const flags = ['--base-url', url, '--model', 'm', '--cwd', folder, '--permission-mode', 'acceptEdits', '--verbose'];
    const { exitCode, stdout, stderr } = await run([`Fix the null pointer bug in ${file}`, ...flags]);
    expect(exitCode).toBe(0);
    expect(model.requests).toHaveLength(3);
    expect(model.violations).toEqual([]);
    expect(stderr?.toString().match(/\[next_turn\]/g)).toHaveLength(2);
    expect(stdout).toContain('completed (done)');
    expect(readFileSync(join(folder, file), 'utf8')).toContain(newLines);
  });

  it('runs the demo without a key: the model is scripted and says so, the test goes from red to green', async () => {
    const { exitCode, stdout } = await run(['fix the bug']);
    const lines = String(stdout).split('\n');
    expect(lines[0]).toMatch(/model is scripted.*Your prompt reached no model/);
    expect(stdout).toContain('Tests before: red');
    expect(stdout).toContain('Tests after: red (2 pass, 1 fails) -> green (3 pass)');
    expect(stdout).toContain(`+  ${newLines.split('\n')[0]}`);
    expect(stdout).toContain('next_turn > next_turn > next_turn > completed (done)');
    expect(stdout).toContain('1 met an overload');
    expect(stdout).toContain('ANTHROPIC_API_KEY');
    expect(stdout).not.toContain('\u001B[');
    expect(exitCode).toBe(0);
  });

  it.each([
    [{ env: { CI: '1' } }, [], /No model can be reached, and the demo does not run in CI/],
    [{}, ['--no-demo'], /the demo was not wanted/],
    [{}, ['--frobnicate'], /frobnicate/],
    [{}, ['--max-turns', '0'], /max-turns.*whole number/],
    [{}, ['--permission-mode', 'yolo'], /permission-mode.*yolo/],
    [{}, ['--base-url', 'ftp://x', 'go'], /base-url.*http/],
    [{}, ['--base-url', 'http://127.0.0.1:1', '--cwd', '/nowhere/at/all', 'go'], /nowhere\/at\/all.*not there/],
    [{}, ['--base-url', 'http://127.0.0.1:1'], /no prompt/],
    [{}, ['simulate', '/nowhere.json'], /nowhere\.json cannot be read/],
    [{}, ['simulate'], /missing required argument/i],
    [{}, ['bound', '--config', '/nowhere.json'], /nowhere\.json cannot be read/],
  ])('says in one sentence what is wrong with %j %j', async (options, argv, sentence) => {
    const { exitCode, stdout, stderr } = await run(argv, options);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(String(stderr).trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(sentence);
  });

  it('prints help and the version', async () => {
    expect((await run(['--help'])).stdout).toContain('Exit status:');
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('reads the prompt from the standard input and prints the final text alone', async () => {
    const { url, model } = await serve([done]);
    const { stdout, stderr, exitCode } = await run(['-p', '--base-url', url, '--model', 'm'], { input: 'do it\n' });
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: 'All done.', stderr: '', exitCode: 0 });
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('do it');
  });

  it('prints one JSON object', async () => {
    const { url } = await serve([done]);
    const { stdout } = await run(['go', '--base-url', url, '--model', 'm', '--output-format', 'json']);
    expect(JSON.parse(String(stdout))).toMatchObject({
      reason: 'completed',
      outcome: 'done',
      turns: 1,
      text: 'All done.',
      cost: null,
    });
  });

  it('prints a JSON object a line, the terminal last', async () => {
    const { url } = await serve([done]);
    const { stdout } = await run(['go', '--base-url', url, '--model', 'm', '--output-format', 'stream-json']);
    const items = String(stdout)
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(items.at(-1)).toMatchObject({ type: 'terminal', reason: 'completed' });
    expect(items.map(({ type }) => type)).toContain('assistant');
  });

  it('ends with 1 when the model does not say that it is done', async () => {
    const { url } = await serve([{ status: 401, message: 'invalid key' }]);
    const { exitCode, stdout } = await run(['go', '--base-url', url, '--model', 'm']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('invalid key');
    expect(stdout).toContain('completed (api_error)');
  });

  it('denies what must be asked when nobody is there', async () => {
    const { url, model } = await serve([
      { stream: [{ tool: 'Bash', id: 't1', input: { command: 'touch made' } }, { stop: 'tool_use' }] },
      done,
    ]);
    const folder = workspace();
    await run(['go', '--base-url', url, '--model', 'm', '--cwd', folder]);
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('"is_error":true');
  });

  it('lets pass what a rule allows', async () => {
    const { url, model } = await serve([
      { stream: [{ tool: 'Bash', id: 't1', input: { command: 'echo allowed' } }, { stop: 'tool_use' }] },
      done,
    ]);
    const { stdout } = await run([
      'go',
      '--base-url',
      url,
      '--model',
      'm',
      '--allow',
      'Bash(echo *)',
      '--cwd',
      workspace(),
    ]);
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('allowed');
    expect(stdout).toMatch(/✓ Bash echo allowed \(\d+ ms\)/);
  });

  it('is interrupted by one Ctrl+C in the middle of a tool, and leaves no process behind', async () => {
    const { url } = await serve([
      { stream: [{ tool: 'Bash', id: 't1', input: { command: 'echo $$ > mark; sleep 60' } }, { stop: 'tool_use' }] },
      done,
    ]);
    const folder = workspace();
    const child = run([
      'go',
      '--base-url',
      url,
      '--model',
      'm',
      '--cwd',
      folder,
      '--permission-mode',
      'bypassPermissions',
    ]);
    await until(() => exists(join(folder, 'mark')));
    child.kill('SIGINT');
    const { exitCode, stdout, stderr } = await child;
    expect(exitCode).toBe(130);
    expect(stderr).toContain('Press Ctrl+C again');
    expect(stdout).toContain('aborted_tools');
    const shell = Number(readFileSync(join(folder, 'mark'), 'utf8'));
    expect(() => process.kill(shell, 0)).toThrow('ESRCH');
  });

  it('colours only where it is wanted', async () => {
    const { url } = await serve([done, done, done]);
    const argv = ['go', '--base-url', url, '--model', 'm'];
    expect((await run(argv)).stdout).not.toContain('\u001B[');
    expect((await run(argv, { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001B[');
    expect((await run(argv, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain('\u001B[');
  });

  it('simulates files: 0 without a violation, 1 with one, 2 for no scenario', async () => {
    const folder = workspace({
      'good.json': JSON.stringify({ name: 'good', prompt: 'go', model: [{ text: 'ok' }] }),
      'bad.json': JSON.stringify({ name: 'bad', prompt: 'go', model: [] }),
      'none.json': JSON.stringify({ name: 'none', prompt: 'go', model: [], modle: 1 }),
    });
    const good = await run(['simulate', '--json', join(folder, 'good.json')]);
    expect(JSON.parse(String(good.stdout))).toMatchObject({ terminal: { reason: 'completed' }, violations: [] });
    expect(good.exitCode).toBe(0);
    const bad = await run(['simulate', join(folder, 'good.json'), join(folder, 'bad.json')]);
    expect(bad.exitCode).toBe(1);
    expect(bad.stdout).toContain('VIOLATION');
    const none = await run(['simulate', join(folder, 'none.json')]);
    expect(none.exitCode).toBe(2);
    expect(none.stderr).toContain('modle');
  });

  it('prints the worst case', async () => {
    expect((await run(['bound'])).stdout).toMatch(/^at most \d+ model calls and \d+ summary calls, for each turn$/);
    const folder = workspace({ 'config.json': '{"maxTurns":5}', 'wrong.json': '{"maxTurns":"many"}' });
    expect((await run(['bound', '--config', join(folder, 'config.json')])).stdout).toContain('for all 5 turns');
    expect((await run(['bound', '--config', join(folder, 'wrong.json')])).stderr).toContain('maxTurns');
  });
});

function exists(path: string): boolean {
  try {
    return readFileSync(path, 'utf8') !== '';
  } catch {
    return false;
  }
}

/** Waits for a real process to get somewhere. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
