/** The repository of the demo on the disk. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { demoFiles } from './files.ts';
import type { TestRun } from './report.ts';

/** Copies the repository to a temporary folder; a git repository where git is there. */
export async function makeRepository(): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-demo-')));
  for (const [path, content] of Object.entries(demoFiles)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  await execa('git', ['init', '--quiet'], { cwd: folder, reject: false });
  return folder;
}

/** Runs the tests of the repository with the Node that runs this. */
export async function runTests(folder: string): Promise<TestRun> {
  const { stdout, exitCode } = await execa(process.execPath, ['--test', '--test-reporter=tap'], {
    cwd: folder,
    reject: false,
    // A test run inside a test run reports to the outer one instead of printing.
    env: { NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: '' },
  });
  const count = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)`, 'm').exec(stdout)?.[1] ?? 0);
  return { isGreen: exitCode === 0, passed: count('pass'), failed: count('fail') };
}

/** An environment in which `node` is the Node that runs this: an older one could not run the repository's tests. */
export function withThisNode(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const path = env['PATH'] ?? '';
  return { ...env, PATH: `${dirname(process.execPath)}${delimiter}${path}`, NODE_TEST_CONTEXT: undefined };
}
