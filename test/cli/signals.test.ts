/** How the binary ends when it is told to. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { run } from './binary.ts';
import { done, exists, serve, until, workspace } from './world.ts';

describe('escapement', () => {
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

  it('ends at once at the second Ctrl+C', async () => {
    const { url } = await serve([
      { stream: [{ tool: 'Bash', id: 't1', input: { command: stubborn('mark') } }, { stop: 'tool_use' }] },
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
    await once(child.stderr as Readable, 'data');
    child.kill('SIGINT');
    const { exitCode, stdout } = await child;
    expect(exitCode).toBe(130);
    expect(stdout).not.toContain('aborted_tools');
    await until(() => !isRunning(pidIn(join(folder, 'mark'))));
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends by %s and leaves nothing behind, not even what will not end by itself', async (signal, status) => {
    const { url } = await serve([
      { stream: [{ tool: 'Bash', id: 't1', input: { command: stubborn('mark') } }, { stop: 'tool_use' }] },
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
    child.kill(signal);
    expect((await child).exitCode).toBe(status);
    await until(() => !isRunning(pidIn(join(folder, 'mark'))));
  });

  it('ends without a word when nobody reads any more, and does not call that done', async () => {
    const child = run(['fix the bug'], { buffer: { stdout: false } });
    child.stdout?.once('data', () => child.stdout?.destroy());
    const { exitCode, stderr } = await child;
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
  });
});

/** A command that writes its process id and then ends by force alone. */
function stubborn(mark: string): string {
  return `trap '' TERM HUP INT; echo $$ > ${mark}.new; mv ${mark}.new ${mark}; while :; do sleep 0.1; done`;
}

function pidIn(path: string): number {
  return Number(readFileSync(path, 'utf8'));
}

/** A dead process that nobody has collected can still be signalled. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
