import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createCommandHooks } from '../../src/hooks/command/create-command-hooks.ts';
import { type CommandHook, readMatcher } from '../../src/hooks/command/events.ts';
import { readCommand } from '../../src/hooks/command/output.ts';
import { askStopHooks } from '../../src/hooks/run-stop-hooks.ts';
import { createToolHooks } from '../../src/hooks/run-tool-hooks.ts';
import { isGroupAlive } from '../../src/process/process-group.ts';
import type { AskHook, PreToolUseVerdict, ToolCallView } from '../../src/tools/hook-port.ts';
import { settle } from '../../src/tools/settle.ts';

const call: ToolCallView = {
  sessionId: 's1',
  toolUseId: 't1',
  toolName: 'Bash',
  input: { command: 'ls', description: 'lists' },
  cwd: tmpdir(),
  permissionMode: 'default',
  depth: 0,
};

function asker(signal = new AbortController().signal): AskHook {
  return (work, timeoutMs) => settle(work, { clock: systemClock, signal, timeoutMs, graceMs: 5_000 });
}

function commands(...hooks: (Partial<CommandHook> & { readonly command: string })[]) {
  return createCommandHooks(
    hooks.map((hook) => ({ event: 'PreToolUse', matcher: null, timeoutMs: 20_000, ...hook })),
    {
      clock: systemClock,
      projectFolder: '/project',
      env: process.env,
      transcriptPath: (id) => `/transcripts/${id}.jsonl`,
    },
  );
}

async function before(...hooks: Parameters<typeof commands>): Promise<PreToolUseVerdict | null> {
  const ask = createToolHooks(commands(...hooks)).preToolUse([call.toolName]);
  return ask === null ? null : ask(call, asker());
}

const say = (value: unknown): string => `echo '${JSON.stringify(value)}'`;
const own = (more: object): string => say({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...more } });

describe('command hooks', () => {
  it('read what happens as JSON on their standard input, and where the project is in their environment', async () => {
    const verdict = await before({
      command: `input=$(cat); echo "$input" >&2; echo "$CLAUDE_PROJECT_DIR $ESCAPEMENT_PROJECT_DIR" >&2; exit 2`,
    });
    const [json = '', folders] = (verdict?.reason ?? '').split('\n');
    expect(JSON.parse(json)).toEqual({
      session_id: 's1',
      transcript_path: '/transcripts/s1.jsonl',
      cwd: tmpdir(),
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls', description: 'lists' },
      tool_use_id: 't1',
    });
    expect(folders).toBe('/project /project');
  });

  it('deny by exit code 2 with what stderr says', async () => {
    expect(await before({ command: 'echo not this >&2; exit 2' })).toMatchObject({
      behavior: 'deny',
      reason: 'not this',
    });
  });

  it('say the rest by JSON', async () => {
    expect(
      await before({ command: own({ permissionDecision: 'allow', permissionDecisionReason: 'fine' }) }),
    ).toMatchObject({ behavior: 'allow', reason: 'fine', notices: [] });
    expect(await before({ command: own({ permissionDecision: 'ask' }) })).toMatchObject({ behavior: 'ask' });
    expect(await before({ command: own({ updatedInput: { command: 'ls -l' } }) })).toMatchObject({
      behavior: 'pass',
      input: { command: 'ls -l' },
    });
    const context = own({ additionalContext: 'mind the gap' });
    expect((await before({ command: context }))?.contexts).toEqual([`PreToolUse hook ${context}: mind the gap`]);
    expect(await before({ command: say({ continue: false, stopReason: 'enough' }) })).toMatchObject({ stop: 'enough' });
    expect(await before({ command: say({ decision: 'approve' }) })).toMatchObject({ behavior: 'allow' });
    expect(await before({ command: say({ decision: 'block', reason: 'no' }) })).toMatchObject({
      behavior: 'deny',
      reason: 'no',
    });
    expect((await before({ command: say({ systemMessage: 'look', other: 1 }) }))?.notices[0]).toMatch(/look$/);
  });

  it.each([
    ['crash', 'echo ouch >&2; exit 1', /ended with exit code 1: ouch/],
    ['die of a signal', 'kill -9 $$', /was ended by a signal/],
    ['are not there', '/no/such/command', /exit code 127/],
    ['print broken JSON', 'echo "{ nonsense"', /begins like JSON and is none/],
    ['print JSON of another kind', say({ continue: 'maybe' }), /no answer of a hook.*continue/],
    ['hang', 'sleep 30', /gave no answer within 0.3 seconds/],
  ])('that %s are a warning, neither a block nor a stop', async (_, command, warning) => {
    const verdict = await before({ command, timeoutMs: command.startsWith('sleep') ? 300 : 20_000 });
    expect(verdict).toMatchObject({ behavior: 'pass', stop: null, input: null });
    expect(verdict?.notices).toHaveLength(1);
    expect(verdict?.notices[0]).toMatch(warning);
  });

  it('that print plain text and end well say nothing', async () => {
    expect(await before({ command: 'echo formatted 3 files' })).toMatchObject({
      behavior: 'pass',
      notices: [],
      contexts: [],
    });
  });

  it('that read no input are not disturbed by a large one', async () => {
    const ask = createToolHooks(commands({ command: 'exec 0<&-; echo ok >&2; exit 2' })).preToolUse(['Bash']);
    const large = { ...call, input: { command: 'x'.repeat(2_000_000) } };
    expect(await ask?.(large, asker())).toMatchObject({ behavior: 'deny', reason: 'ok' });
  });

  it('keep a bounded part of an endless output', async () => {
    const verdict = await before({ command: 'head -c 5000000 /dev/zero | tr "\\0" x >&2; exit 2' });
    expect(verdict?.behavior).toBe('deny');
    expect(verdict?.reason?.length).toBeLessThanOrEqual(10_000);
  });

  it('run side by side: each waits for the other, and both see the input as it was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'escapement-hooks-'));
    const meet = (mine: string, other: string): string =>
      `touch ${folder}/${mine}; for i in $(seq 200); do [ -e ${folder}/${other} ] && exit 0; sleep 0.05; done; echo alone >&2; exit 2`;
    expect(await before({ command: meet('a', 'b') }, { command: meet('b', 'a') })).toMatchObject({ behavior: 'pass' });
  });

  it('let a denial win over an approval that stands before it', async () => {
    const verdict = await before({ command: own({ permissionDecision: 'allow' }) }, { command: 'echo no >&2; exit 2' });
    expect(verdict).toMatchObject({ behavior: 'deny', reason: 'no' });
  });

  it('run once where the same command stands under two matchers', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'escapement-hooks-')), 'runs');
    const command = `echo run >> ${file}`;
    await before({ command }, { command, matcher: 'Bash' }, { command, matcher: 'B.*' });
    expect(readFileSync(file, 'utf8')).toBe('run\n');
  });

  it('are not asked about other tools', async () => {
    expect(await before({ command: 'exit 2', matcher: 'Edit|Write' })).toBeNull();
    expect(await before({ command: 'exit 2', matcher: 'mcp__.*' })).toBeNull();
    expect(await before({ command: 'exit 2', matcher: '(' })).toBeNull();
  });

  it('are killed with everything they started when the call is aborted', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'escapement-hooks-')), 'pid');
    const abort = new AbortController();
    const ask = createToolHooks(commands({ command: `echo $$ > ${file}; sleep 60 & sleep 60` })).preToolUse(['Bash']);
    const running = ask?.(call, asker(abort.signal));
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await new Promise((go) => setTimeout(go, 10));
    abort.abort();
    expect(await running).toBeNull();
    expect(isGroupAlive(Number(readFileSync(file, 'utf8')))).toBe(false);
  });

  it('block and end a query at its end', async () => {
    const view = { ...call, stopHookActive: true, messages: [], querySource: 'sdk' };
    const { stop } = commands(
      { event: 'Stop', command: 'grep -q \'"stop_hook_active":true\' && echo red >&2; exit 2' },
      { event: 'Stop', command: say({ decision: 'block', reason: 'still red' }) },
      { event: 'Stop', command: say({ continue: false, stopReason: 'over' }), matcher: 'ignored' },
    );
    const verdict = await askStopHooks(stop, view, asker());
    expect(verdict).toEqual({ errors: ['red', 'still red'], prevent: 'over', notices: [] });
  });

  it('of a sub-agent are matched by its name', async () => {
    const { subagentStop } = commands({ event: 'SubagentStop', matcher: 'reviewer', command: 'echo red >&2; exit 2' });
    const view = { ...call, stopHookActive: false, messages: [] };
    expect((await askStopHooks(subagentStop, { ...view, querySource: 'agent:reviewer' }, asker())).errors).toEqual([
      'red',
    ]);
    expect((await askStopHooks(subagentStop, { ...view, querySource: 'agent:other' }, asker())).errors).toEqual([]);
  });

  it('after a tool tell the model what they object to, and see the result', async () => {
    const { postToolUse } = commands({
      event: 'PostToolUse',
      command: 'grep -o \'"tool_response":.*\' >&2; exit 2',
    });
    const ask = createToolHooks({ preToolUse: [], postToolUse }).postToolUse(['Write']);
    const written = { ...call, toolName: 'Write', input: { file_path: '/a' } };
    const verdict = await ask?.({ ...written, content: [{ type: 'text', text: 'ok' }], isError: false }, asker());
    expect(verdict?.broken).toEqual([]);
    expect(verdict?.contexts[0]).toContain('"success":true');
    expect(verdict?.contexts[0]).toContain('"filePath":"/a"');
  });
});

describe('matchers', () => {
  it.each([
    [null, null],
    ['', null],
    ['*', null],
    ['Bash', ['Bash']],
    ['Edit | Write', ['Edit', 'Write']],
    ['MultiEdit|Task', ['MultiEdit', 'Edit', 'Task', 'Agent']],
    ['mcp__my-server__tool', ['mcp__my-server__tool']],
    ['mcp__memory__.*', /mcp__memory__.*/],
    ['^Notebook', /^Notebook/],
  ])('%s', (matcher, meaning) => {
    expect(readMatcher(matcher)).toEqual(meaning);
  });
});

describe('plain output', () => {
  it('is context for a prompt and for the start of a session only', () => {
    const end = { exitCode: 0, output: 'today is Monday\n', errors: '', timedOut: false };
    expect(readCommand('UserPromptSubmit', end, 1).context).toBe('today is Monday');
    expect(readCommand('SessionStart', end, 1).context).toBe('today is Monday');
    expect(readCommand('PostToolUse', end, 1).context).toBeNull();
  });

  it('of an MCP hook may replace the output', () => {
    const printed = { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedMCPToolOutput: { a: 1 } } };
    const end = { exitCode: 0, output: JSON.stringify(printed), errors: '', timedOut: false };
    expect(readCommand('PostToolUse', end, 1).output).toBe('{"a":1}');
  });
});
