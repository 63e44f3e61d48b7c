/** The demo: a scripted model behind the real client, with real tools in a temporary repository. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { execa } from 'execa';
import { systemClock } from '../../clock.ts';
import { watchPath } from '../../inspect/watch-path.ts';
import { ScriptedModel } from '../../testing/scripted-model.ts';
import { listen } from '../../testing/scripted-server.ts';
import type { RunFlags } from '../arguments.ts';
import { exitStatus, statusOf } from '../exit-status.ts';
import { endingOf } from '../format.ts';
import type { CliIo } from '../io.ts';
import { rendererFor } from '../render.ts';
import { runQuery } from '../run-query.ts';
import { buggyFile, demoFiles } from './files.ts';
import { demoScript, testCommand } from './script.ts';

const demoPrompt = `Fix the null pointer bug in ${buggyFile}`;

/** Runs the demo and gives the exit status: 0 when the query is done and the test went from red to green. */
export async function runDemo(prompt: string, flags: RunFlags, io: CliIo): Promise<number> {
  // Words for people go beside the output of a program.
  const isForPeople = flags.outputFormat === 'text' && !flags.print;
  const say = isForPeople ? io.out : io.err;
  say(`${firstLine(prompt, io)}\n`);
  const folder = await makeRepository();
  const before = await runTests(folder);
  say(`Repository: ${folder}\nTests before: ${verdict(before, io)}\n\n`);
  const model = new ScriptedModel({
    model: demoScript,
    limits: { contextWindow: 200_000, maxOutput: 64_000 },
    clock: systemClock,
    profile: 'plain',
  });
  const server = await listen(model);
  try {
    const path: string[] = [];
    const renderer = rendererFor(flags, io);
    say(`${io.colors.dim('>')} ${demoPrompt}\n\n`);
    const { terminal } = await runQuery(
      {
        prompt: demoPrompt,
        model: 'scripted-model',
        baseUrl: server.url,
        apiKey: 'scripted',
        profile: 'plain',
        cwd: folder,
        permissionMode: 'acceptEdits',
        rules: [{ behavior: 'allow', rule: `Bash(${testCommand})` }],
        inspect: watchPath({
          onContinue: (name) => path.push(name),
          ...(flags.verbose ? { onPhase: (phase) => io.err(io.colors.dim(`[${phase}]\n`)) } : {}),
        }),
      },
      renderer,
      io,
    );
    const after = await runTests(folder);
    const overloads = model.requests.length - terminal.turns;
    say(
      `\n${report(folder, before, after, { path: [...path, endingOf(terminal)], calls: model.requests.length, overloads }, io)}\n`,
    );
    return after.isGreen || statusOf(terminal) !== exitStatus.done ? statusOf(terminal) : exitStatus.notDone;
  } finally {
    await server.close();
  }
}

function firstLine(prompt: string, io: CliIo): string {
  const heard = prompt === '' ? '' : ' Your prompt reached no model.';
  return io.colors.yellow(`Demo: no key was found, so the model is scripted; client, loop and tools are real.${heard}`);
}

/** Copies the repository to a temporary folder; a git repository where git is there. */
async function makeRepository(): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-demo-')));
  for (const [path, content] of Object.entries(demoFiles)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  await execa('git', ['init', '--quiet'], { cwd: folder, reject: false });
  return folder;
}

interface TestRun {
  readonly isGreen: boolean;
  readonly passed: number;
  readonly failed: number;
}

/** Runs the tests of the repository with the Node that runs this. */
async function runTests(folder: string): Promise<TestRun> {
  useThisNode();
  const { stdout, exitCode } = await execa(process.execPath, ['--test', '--test-reporter=tap'], {
    cwd: folder,
    reject: false,
    // A test run inside a test run reports to the outer one instead of printing.
    env: { NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: '' },
  });
  const count = (name: string): number => Number(new RegExp(`^# ${name} (\\d+)`, 'm').exec(stdout)?.[1] ?? 0);
  return { isGreen: exitCode === 0, passed: count('pass'), failed: count('fail') };
}

/** The shell of the tools finds the Node that runs this first: an older one could not run the repository's tests. */
function useThisNode(): void {
  const folder = dirname(process.execPath);
  const path = process.env['PATH'] ?? '';
  if (!path.startsWith(`${folder}${delimiter}`)) process.env['PATH'] = `${folder}${delimiter}${path}`;
}

function verdict({ isGreen, passed, failed }: TestRun, io: CliIo): string {
  return isGreen ? io.colors.green(`green (${passed} pass)`) : io.colors.red(`red (${passed} pass, ${failed} fails)`);
}

interface Journey {
  readonly path: readonly string[];
  readonly calls: number;
  readonly overloads: number;
}

function report(
  folder: string,
  before: TestRun,
  after: TestRun,
  { path, calls, overloads }: Journey,
  io: CliIo,
): string {
  const patch = createTwoFilesPatch(
    `a/${buggyFile}`,
    `b/${buggyFile}`,
    demoFiles[buggyFile] ?? '',
    readFileSync(join(folder, buggyFile), 'utf8'),
    undefined,
    undefined,
    { context: 1 },
  );
  return [
    `Tests after: ${verdict(before, io)} -> ${verdict(after, io)}`,
    '',
    colored(patch, io),
    `Path through the chart: ${path.join(' > ')}`,
    `Model calls: ${calls}, of which ${overloads} met an overload (529), was asked again after a wait, and was never shown`,
    '',
    'With a real model:',
    '  ANTHROPIC_API_KEY=... escapement "fix the bug"',
    '  escapement --base-url http://localhost:11434 --model NAME "fix the bug"   (a server that speaks the Messages API)',
  ].join('\n');
}

function colored(patch: string, io: CliIo): string {
  const { green, red } = io.colors;
  return patch
    .split('\n')
    .filter((line) => !line.startsWith('==='))
    .map((line) => (line.startsWith('+') ? green(line) : line.startsWith('-') ? red(line) : line))
    .join('\n');
}
