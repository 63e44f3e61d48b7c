/** Settings files as people have them for Claude Code, unmodified, in a repository of their own with real processes. */
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Message } from '../../src/core/message.ts';
import type { QueryOptions } from '../../src/query-options.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { builtInTools } from '../../src/tools/builtin/index.ts';
import { drain, scriptedQuery } from '../support/scripted.ts';

const repositories = join(import.meta.dirname, 'repositories');

/** A copy of a repository in a temporary folder. */
function copyOf(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-settings-')));
  cpSync(join(repositories, name), folder, { recursive: true });
  return folder;
}

const done: ModelEntry = { stream: [{ text: 'Done.' }, { stop: 'end_turn' }] };

function use(tool: string, input: Readonly<Record<string, string>>, id = 't1'): ModelEntry {
  return { stream: [{ tool, id, input }, { stop: 'tool_use' }] };
}

/** Runs a script in a repository with its settings, trusted unless the options say otherwise. */
async function run(cwd: string, script: readonly ModelEntry[], options: Partial<QueryOptions> = {}) {
  const started = scriptedQuery(script, {
    cwd,
    tools: builtInTools(),
    permissionMode: 'default',
    settingSources: ['project', 'local'],
    trusted: true,
    ...options,
    deps: { clock: systemClock },
  });
  const { emitted, terminal } = await drain(started.query);
  await started.query.background;
  const messages = started.query.state?.carried.messages ?? [];
  const notices = emitted.flatMap((item) => (item.type === 'notice' ? [item.text] : []));
  return { terminal, messages, notices, requests: started.model.requests };
}

/** Every text of every user message, tool results included. */
function texts(messages: readonly Message[]): string {
  const user = messages.filter((message) => message.role === 'user');
  return JSON.stringify(user.map((message) => message.content));
}

describe('settings files of Claude Code', () => {
  it('format a file after each edit', async () => {
    const cwd = copyOf('format-on-edit');
    const script = [use('Write', { file_path: 'src/data.json', content: '{"a":1}' }), done];
    const { terminal, notices } = await run(cwd, script);
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
    expect(readFileSync(join(cwd, 'src/data.json'), 'utf8')).toBe('{\n  "a": 1\n}\n');
    expect(notices).toEqual([]);
  });

  it('keep to their deny rules', async () => {
    const cwd = copyOf('format-on-edit');
    const { messages } = await run(cwd, [use('Read', { file_path: '.env' }), done]);
    expect(texts(messages)).toContain('deny Read(./.env)');
  });

  it('block a dangerous shell command by exit code and by JSON, and no other', async () => {
    const cwd = copyOf('block-dangerous');
    const script = [
      use('Bash', { command: 'rm -rf build' }, 't1'),
      use('Bash', { command: 'git push origin main' }, 't2'),
      use('Bash', { command: 'echo harmless' }, 't3'),
      done,
    ];
    const { terminal, messages } = await run(cwd, script);
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done', turns: 4 });
    const said = texts(messages);
    expect(said).toContain('Blocked: rm -rf is not allowed here.');
    expect(said).toContain('A person pushes, not the agent.');
    expect(said).toContain('harmless');
  });

  it('send the model back to work until the tests pass', async () => {
    const cwd = copyOf('until-tests-pass');
    const fixed = 'export const add = (left, right) => left + right;\n';
    const script = [
      done,
      use('Bash', { command: 'node check.mjs' }),
      use('Write', { file_path: 'fixed.mjs', content: fixed }, 't2'),
      use('Read', { file_path: 'add.mjs' }, 't3'),
      use('Edit', { file_path: 'add.mjs', old_string: 'left - right', new_string: 'left + right' }, 't4'),
      done,
    ];
    const { terminal, messages, notices } = await run(cwd, script);
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
    expect(texts(messages)).toContain('The tests fail. Fix them before you stop.');
    expect(texts(messages)).toContain('Tests run with TEST_LEVEL=unit.');
    expect(messages.filter((one) => one.role === 'user' && one.origin === 'stop_hook')).toHaveLength(1);
    expect(notices.some((notice) => notice.endsWith('tests are red'))).toBe(true);
    expect(readFileSync(join(cwd, 'add.mjs'), 'utf8')).toBe(fixed);
  });

  it('end the query by continue: false before or after a tool, with a result for every call (B19)', async () => {
    const over = JSON.stringify({ continue: false, stopReason: 'enough for today' });
    const script: ModelEntry[] = [
      {
        stream: [
          { tool: 'Bash', id: 't1', input: { command: 'echo first > first' } },
          { tool: 'Bash', id: 't2', input: { command: 'echo second > second' } },
          { stop: 'tool_use' },
        ],
      },
      done,
    ];
    for (const event of ['PreToolUse', 'PostToolUse']) {
      const cwd = copyOf('until-tests-pass');
      const hooks = { [event]: [{ matcher: 'Bash', hooks: [{ type: 'command', command: `echo '${over}'` }] }] };
      const { terminal, messages, requests } = await run(cwd, script, {
        settingSources: [],
        settings: { hooks },
        permissionMode: 'bypassPermissions',
      });
      expect(terminal).toMatchObject({ reason: 'hook_stopped', detail: 'enough for today' });
      expect(requests).toHaveLength(1);
      const results = messages.flatMap((one) => (one.role === 'user' ? one.content : []));
      const ids = results.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
      expect(ids).toEqual(['t1', 't2']);
      expect(existsSync(join(cwd, 'first'))).toBe(event === 'PostToolUse');
      expect(existsSync(join(cwd, 'second'))).toBe(false);
    }
  });

  it('that crash after one tool of three leave the other two alone (B20)', async () => {
    const cwd = copyOf('until-tests-pass');
    const command = 'grep -q \'"tool_use_id":"t1"\' && exit 1; exit 0';
    const hooks = { PostToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] };
    const uses = ['t1', 't2', 't3'].map((id) => ({ tool: 'Bash', id, input: { command: `echo ${id}` } }));
    const script: ModelEntry[] = [{ stream: [...uses, { stop: 'tool_use' }] }, done];
    const { terminal, messages, notices } = await run(cwd, script, {
      settingSources: [],
      settings: { hooks },
      permissionMode: 'bypassPermissions',
    });
    expect(terminal).toMatchObject({ reason: 'completed', outcome: 'done' });
    const results = messages.flatMap((one) => (one.role === 'user' ? one.content : []));
    const ended = results.flatMap((block) =>
      block.type === 'tool_result' ? [[block.tool_use_id, block.is_error]] : [],
    );
    // By a command it is a warning; by a function the first would be an error: see the scenario.
    expect(ended).toEqual([
      ['t1', false],
      ['t2', false],
      ['t3', false],
    ]);
    expect(notices).toHaveLength(1);
  });

  it('run nothing and allow nothing in a repository that was never trusted', async () => {
    const cwd = copyOf('block-dangerous');
    const script = [use('Bash', { command: 'echo harmless' }), done];
    const { messages, notices } = await run(cwd, script, { trusted: false });
    expect(texts(messages)).toContain('Nobody is there to ask');
    expect(notices[0]).toContain('2 command hooks');
    expect(notices[0]).toContain('is not trusted');
  });

  it('are not read unless they are asked for', async () => {
    const cwd = copyOf('format-on-edit');
    const script = [use('Write', { file_path: 'data.json', content: '{"a":1}' }), done];
    await run(cwd, script, { settingSources: [], permissionMode: 'acceptEdits' });
    expect(readFileSync(join(cwd, 'data.json'), 'utf8')).toBe('{"a":1}');
  });
});
