/** Texts of the command line: pure, so that they can be tested without a terminal. */
import type { Observation } from '../core/output.ts';
import type { Terminal } from '../core/state.ts';
import { costOf } from '../model/prices.ts';
import type { CliIo } from './io.ts';

type Colors = CliIo['colors'];

const numbers = new Intl.NumberFormat('en-US');

/** A time for people: `7 ms`, `1.3 s`, `2 min 5 s`. */
function formatTime(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** The line of a tool that has ended. */
export function toolLine(tool: Observation & { type: 'progress' }, asked: string, colors: Colors): string {
  const mark = tool.isError === true ? colors.red('✗') : colors.green('✓');
  const failed = tool.isError === true ? `  ${colors.red(tool.text)}` : '';
  return `${mark} ${colors.bold(tool.name)} ${asked} ${colors.dim(`(${formatTime(tool.ms)})`)}${failed}`;
}

/** `completed (done)`, or the reason alone. */
export function endingOf(terminal: Terminal): string {
  return terminal.outcome === null ? terminal.reason : `${terminal.reason} (${terminal.outcome})`;
}

/** The last line: how it ended, and what it took. */
export function summaryLine(terminal: Terminal, model: string, colors: Colors): string {
  const { usage, turns } = terminal;
  const input = usage.input + usage.cacheRead + usage.cacheCreation;
  const cost = costOf(model, usage);
  const parts = [
    terminal.outcome === 'done' ? colors.green(endingOf(terminal)) : colors.yellow(endingOf(terminal)),
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    `${numbers.format(input)} tokens in, ${numbers.format(usage.output)} out`,
    ...(cost === null ? [] : [`$${cost.toFixed(4)}`]),
  ];
  const detail = terminal.detail === null ? '' : `\n${terminal.detail}`;
  return `${parts.join(colors.dim(' · '))}${detail}`;
}
