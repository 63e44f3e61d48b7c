/** Texts of the command line: pure, so that they can be tested without a terminal. */
import type { Observation } from '../core/output.ts';
import type { Terminal } from '../core/state.ts';
import type { CliIo } from './io.ts';
import { visible, visibleProse } from './visible.ts';

type Colors = CliIo['colors'];

const numbers = new Intl.NumberFormat('en-US');

/** A time for people: `7 ms`, `1.3 s`, `2 min 5 s`. */
export function formatTime(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The line of a tool that has ended. */
export function toolLine(tool: Observation & { type: 'progress' }, asked: string, colors: Colors): string {
  const mark = tool.isError === true ? colors.red('✗') : colors.green('✓');
  const failed = tool.isError === true ? `  ${colors.red(visible(tool.text))}` : '';
  const call = `${colors.bold(visible(tool.name))} ${visible(asked)}`;
  return `${mark} ${call} ${colors.dim(`(${formatTime(tool.ms)})`)}${failed}`;
}

/** `completed (done)`, or the reason alone. */
export function endingOf(terminal: Terminal): string {
  return terminal.outcome === null ? terminal.reason : `${terminal.reason} (${terminal.outcome})`;
}

/** The detail of an ending, unless it is the error that was shown right before it; null when there is none. */
export function newDetail({ detail, failure }: Terminal): string | null {
  return detail === null || detail === failure?.message ? null : visibleProse(detail);
}

/** True when the model did what it was asked: it is done, or a token budget kept it at work until it was spent. */
export function isGood({ outcome }: Pick<Terminal, 'outcome'>): boolean {
  return outcome === 'done' || outcome === 'budget_spent';
}

/** Output tokens that a query should use, and how many of them it did. */
export interface TokenBudget {
  readonly total: number;
  readonly used: number;
}

function budgetPart({ total, used }: TokenBudget): string {
  return `${Math.floor((used / total) * 100)} % of ${numbers.format(total)} budget tokens used`;
}

/** The last line: how it ended, and what it took. */
export function summaryLine(terminal: Terminal, budget: TokenBudget | null, colors: Colors): string {
  const { usage, turns, cost } = terminal;
  const input = usage.input + usage.cacheRead + usage.cacheCreation;
  const parts = [
    isGood(terminal) ? colors.green(endingOf(terminal)) : colors.yellow(endingOf(terminal)),
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    `${numbers.format(input)} tokens in, ${numbers.format(usage.output)} out`,
    ...(budget === null ? [] : [budgetPart(budget)]),
    ...(cost === null ? [] : [`$${cost.toFixed(4)}`]),
  ];
  const detail = newDetail(terminal);
  return `${parts.join(colors.dim(' · '))}${detail === null ? '' : `\n${detail}`}`;
}
