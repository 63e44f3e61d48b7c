import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { demoFiles } from '../../src/cli/demo/files.ts';
import { newLines, oldLine } from '../../src/cli/demo/script.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { run } from './binary.ts';
import { done, serve, workspace } from './world.ts';

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
    [{}, ['--base-url', 'http://127.0.0.1:1', 'go'], /Nobody listens at http:\/\/127\.0\.0\.1:1/],
    [{ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } }, ['go'], /Nobody listens at http:\/\/127\.0\.0\.1:1/],
    [{ env: { ANTHROPIC_BASE_URL: 'foo' } }, ['go'], /ANTHROPIC_BASE_URL is "foo".*http/],
    // What is wrong is wrong for the demo too.
    [{}, ['--cwd', '/nowhere/at/all'], /nowhere\/at\/all.*not there/],
    [{}, ['--allow', 'Bash('], /allow.*no permission rule/],
    [{}, ['simulate', '/nowhere.json'], /nowhere\.json cannot be read/],
    [{}, ['simulate'], /missing required argument/i],
    [{}, ['simulate', '--explore', '--runs', '0'], /--runs.*whole number above 0/],
    [{}, ['simulate', '--explore', '--runs', 'x'], /--runs.*whole number above 0/],
    [{}, ['simulate', '--explore', '--seed', '-1'], /--seed.*whole number, 0 or more/],
    [{}, ['simulate', '--explore', '--config', '/nowhere.json'], /nowhere\.json cannot be read/],
    [{}, ['simulate', '--explore', '--out', '/nowhere/a.json'], /The folder of \/nowhere\/a\.json is not there/],
    [{}, ['simulate', '--explore', 'a.json'], /give no files/],
    [{}, ['simulate', 'a.json', '--seed', '1'], /--seed goes with --explore/],
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

  it('says that a prompt which was piped in reached no model', async () => {
    const child = run(['--output-format', 'stream-json'], { input: 'fix the bug\n' });
    const { stdout, stderr, exitCode } = await child;
    expect(String(stderr).split('\n')[0]).toMatch(/model is scripted.*Your prompt reached no model/);
    // The words of the demo stay out of what a program reads.
    for (const line of String(stdout).split('\n')) expect(JSON.parse(line)).toHaveProperty('type');
    expect(exitCode).toBe(0);
  });

  it('prints the whole of an answer that was cut and went on, and says what was dropped', async () => {
    const script: readonly ModelEntry[] = [
      { stream: [{ text: 'Dropped.' }, { error: 'overloaded_error' }] },
      { stream: [{ text: 'The begin' }, { stop: 'max_tokens' }] },
      { stream: [{ text: 'The begin' }, { stop: 'max_tokens' }] },
      { stream: [{ text: 'ning and the end.' }, { stop: 'end_turn' }] },
    ];
    const argv = async () => ['go', '--base-url', (await serve(script)).url, '--model', 'm'];
    expect((await run([...(await argv()), '-p'])).stdout).toBe('The beginning and the end.');
    const { stdout } = await run(await argv());
    expect(String(stdout).split('\n').slice(0, 5)).toEqual([
      'Dropped.',
      expect.stringMatching(/^\(the text above was dropped: .+\)$/),
      'The begin',
      expect.stringMatching(/^\(the text above was dropped: .+\)$/),
      'The beginning and the end.',
    ]);
  });

  it('prices each part with the model that answered it', async () => {
    const usage = { input: 100_000, output: 0 };
    const { url } = await serve([
      { stream: [{ tool: 'Glob', id: 't1', input: { pattern: '*' } }, { stop: 'tool_use' }], usage },
      { status: 529, type: 'overloaded_error', message: 'Overloaded', headers: { 'retry-after-ms': '1' }, times: 3 },
      { stream: [{ text: 'ok' }, { stop: 'end_turn' }], usage },
    ]);
    const models = ['--model', 'claude-opus-5-5', '--fallback-model', 'claude-sonnet-5-5'];
    const flags = [...models, '--output-format', 'json', '--cwd', workspace()];
    const { stdout } = await run(['go', '--base-url', url, ...flags]);
    const result = JSON.parse(String(stdout)) as { outcome: string; cost: number };
    expect(result.outcome).toBe('done');
    expect(result.cost).toBeCloseTo(0.4 + 0.2);
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

  it('explores: the same seed prints the same, how long it took stands beside the output', async () => {
    const folder = workspace({ 'config.json': '{"maxTurns":2}', 'wrong.json': '{"maxTurns":"many"}' });
    const argv = ['simulate', '--explore', '--runs', '20', '--seed', '7', '--config', join(folder, 'config.json')];
    const [first, second, json] = [await run(argv), await run(argv), await run([...argv, '--json'])];
    expect(first.exitCode).toBe(0);
    expect(first.stdout).toMatch(/^20 scenarios of seed 7: no violation\n/);
    expect(second.stdout).toBe(first.stdout);
    expect(first.stderr).toMatch(/^20 scenarios in [\d.]+ s, \d+ a second$/);
    expect(JSON.parse(String(json.stdout))).toMatchObject({ seed: 7, runs: 20, failure: null });
    const wrong = await run([...argv.slice(0, -1), join(folder, 'wrong.json')]);
    expect([wrong.exitCode, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toMatch(/wrong\.json.*maxTurns/);
  });

  it('prints the worst case', async () => {
    expect((await run(['bound'])).stdout).toMatch(/^at most \d+ model calls and \d+ summary calls, for each turn$/m);
    const folder = workspace({ 'config.json': '{"maxTurns":5}', 'wrong.json': '{"maxTurns":"many"}' });
    const ofFive = (await run(['bound', '--config', join(folder, 'config.json')])).stdout;
    expect(ofFive).toContain('for all 5 turns');
    expect(ofFive).toMatch(/^with 10 sub-agents: at most \d+ model calls and \d+ summary calls together$/m);
    expect((await run(['bound', '--config', join(folder, 'wrong.json')])).stderr).toContain('maxTurns');
  });
});
