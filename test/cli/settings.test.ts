/** Settings files and trust on the command line, with the real binary. */
import { cpSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTrust } from '../../src/settings/trust.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { run } from './binary.ts';
import { done, serve } from './world.ts';

const repositories = join(import.meta.dirname, '../hooks/repositories');

function folder(name?: string): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-cli-')));
  if (name !== undefined) cpSync(join(repositories, name), made, { recursive: true });
  return made;
}

function bash(id: string, command: string): ModelEntry {
  return { stream: [{ tool: 'Bash', id, input: { command } }, { stop: 'tool_use' }] };
}

const script = [bash('t1', 'rm -rf build'), bash('t2', 'echo harmless > written'), done];

describe('settings of a repository', () => {
  it('run and allow nothing without a terminal, and say so', async () => {
    const { url } = await serve(script);
    const cwd = folder('block-dangerous');
    const { exitCode, stdout, stderr } = await run(['go', '--base-url', url, '--cwd', cwd], {
      env: { HOME: folder() },
    });
    expect(exitCode).toBe(0);
    expect(String(stderr)).toMatch(/is not trusted, so these count for nothing: 2 command hooks .*Say --trust/);
    expect(String(stdout)).not.toContain('Blocked: rm -rf');
    expect(() => readFileSync(join(cwd, 'written'))).toThrow('ENOENT');
  });

  it.each(['--trust', 'a repository that the user agreed to'])('run and allow with %s', async (how) => {
    const { url, model } = await serve(script);
    const [cwd, home] = [folder('block-dangerous'), folder()];
    if (how !== '--trust') createTrust({ home }).trust(cwd);
    const flags = how === '--trust' ? ['--trust'] : [];
    const { exitCode, stderr } = await run(['go', '--base-url', url, '--cwd', cwd, ...flags], { env: { HOME: home } });
    expect(exitCode).toBe(0);
    expect(stderr).toBe('');
    expect(JSON.stringify(model.requests.at(-1))).toContain('Blocked: rm -rf is not allowed here.');
    expect(readFileSync(join(cwd, 'written'), 'utf8')).toBe('harmless\n');
    // A flag is for one run.
    expect(createTrust({ home }).isTrusted(cwd)).toBe(how !== '--trust');
  });

  it('may be given by hand, and then need no trust', async () => {
    const { url, model } = await serve([done]);
    const settings = JSON.stringify({
      model: 'by-hand',
      hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'echo It is Monday.' }] }] },
    });
    const argv = ['go', '--base-url', url, '--cwd', folder(), '--settings', settings];
    const { exitCode } = await run(argv, { env: { HOME: folder() } });
    expect(exitCode).toBe(0);
    expect(JSON.stringify(model.requests[0])).toContain('It is Monday.');
    expect(model.requests[0]).toMatchObject({ model: 'by-hand' });
  });

  it('that are broken are a warning, and by hand an error', async () => {
    const { url } = await serve([done]);
    const cwd = folder('block-dangerous');
    writeFileSync(join(cwd, '.claude/settings.json'), '{');
    const broken = await run(['go', '--base-url', url, '--cwd', cwd], { env: { HOME: folder() } });
    expect(broken.exitCode).toBe(0);
    expect(String(broken.stderr)).toMatch(/settings\.json is not used, it is no JSON/);
    const byHand = await run(['go', '--base-url', url, '--settings', 'none.json'], { env: { HOME: folder() } });
    expect(byHand.exitCode).toBe(2);
    expect(byHand.stderr).toMatch(/^escapement: The settings file .*none\.json cannot be used, it is not there\.$/);
  });
});

describe('escapement hooks', () => {
  it('shows what would run, when, from which file, and why it does not', async () => {
    const cwd = folder('block-dangerous');
    const { stdout, exitCode } = await run(['hooks', '--cwd', cwd], { env: { HOME: folder() } });
    expect(exitCode).toBe(0);
    expect(String(stdout).split('\n').slice(0, 5)).toEqual([
      'PreToolUse Bash',
      '  runs   "$CLAUDE_PROJECT_DIR"/.claude/hooks/block-rm.sh',
      `  from   ${join(cwd, '.claude/settings.json')} (project)`,
      '  within 60 seconds',
      '  OFF    the repository is not trusted',
    ]);
    const trusted = await run(['hooks', '--trust', '--json'], { cwd, env: { HOME: folder() } });
    const shown = JSON.parse(String(trusted.stdout)) as readonly { off: unknown }[];
    expect(shown.map(({ off }) => off)).toEqual([null, null]);
  });

  it('says when there are none', async () => {
    const { stdout } = await run(['hooks'], { cwd: folder(), env: { HOME: folder() } });
    expect(stdout).toMatch(/^No settings file of .* names a command hook\.$/);
  });
});
