/** Texts of the demo: pure. */
import { createTwoFilesPatch } from 'diff';
import type { CliIo } from '../io.ts';
import { buggyFile, demoFiles } from './files.ts';

type Colors = CliIo['colors'];

/** How the tests of the repository went. */
export interface TestRun {
  readonly isGreen: boolean;
  readonly passed: number;
  readonly failed: number;
}

export interface Journey {
  readonly before: TestRun;
  readonly after: TestRun;
  /** The file with the bug, as it is now. */
  readonly fixed: string;
  /** Continues and the ending, in order. */
  readonly path: readonly string[];
  readonly calls: number;
  readonly overloads: number;
}

/** Nobody shall take the demo for a model; `hasPrompt` says whether one was given. */
export function firstLine(hasPrompt: boolean, colors: Colors): string {
  const heard = hasPrompt ? ' Your prompt reached no model.' : '';
  return colors.yellow(`Demo: no key was found, so the model is scripted; client, loop and tools are real.${heard}`);
}

export function verdict({ isGreen, passed, failed }: TestRun, { green, red }: Colors): string {
  return isGreen ? green(`green (${passed} pass)`) : red(`red (${passed} pass, ${failed} fails)`);
}

/** What the demo has shown: tests, diff, path, and how to go on with a real model. */
export function report({ before, after, fixed, path, calls, overloads }: Journey, colors: Colors): string {
  return [
    `Tests after: ${verdict(before, colors)} -> ${verdict(after, colors)}`,
    '',
    patchOf(fixed, colors),
    `Path through the chart: ${path.join(' > ')}`,
    `Model calls: ${calls}, of which ${overloads} met an overload (529), was asked again after a wait, and was never shown`,
    '',
    'With a real model:',
    '  ANTHROPIC_API_KEY=... escapement "fix the bug"',
    '  escapement --base-url http://localhost:11434 --model NAME "fix the bug"   (a server that speaks the Messages API)',
  ].join('\n');
}

function patchOf(fixed: string, { green, red }: Colors): string {
  const names = [`a/${buggyFile}`, `b/${buggyFile}`] as const;
  return createTwoFilesPatch(...names, demoFiles[buggyFile] ?? '', fixed, undefined, undefined, { context: 1 })
    .split('\n')
    .filter((line) => !line.startsWith('==='))
    .map((line) => (line.startsWith('+') ? green(line) : line.startsWith('-') ? red(line) : line))
    .join('\n');
}
