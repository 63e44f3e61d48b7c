/** A simulated run as text: what happened, line by line. */
import type { Emitted } from '../core/output.ts';
import type { SimulationResult } from './simulation-result.ts';

/** Longest text of one line, in characters. */
const longestText = 100;

/** The timeline of a run for people; `--json` says the same for programs. */
export function formatTimeline(result: SimulationResult): string {
  const { counts, terminal } = result;
  return [
    result.name,
    ...result.events.map(({ index, type, phase }) => `  ${String(index).padStart(4)}  ${phase.padEnd(20)} ${type}`),
    '  shown:',
    ...result.emitted.map((emitted) => `        ${describe(emitted)}`),
    `  path:   ${[...result.transitions, endOf(terminal)].join(' > ')}`,
    `  counts: ${counts.modelCalls} model calls (at most ${result.bound.modelCalls}), ${counts.summaryCalls} summaries, ${counts.toolRuns} tool runs, ${counts.stopHookRuns} stop hook runs, ${result.turnCount} turns, ${result.ms} virtual ms`,
    ...(terminal?.detail ? [`  detail: ${terminal.detail}`] : []),
    ...(result.queued.length > 0 ? [`  queued: ${result.queued.length} user messages wait for the next query`] : []),
    ...result.violations.map((violation) => `  VIOLATION: ${violation}`),
  ].join('\n');
}

function endOf(terminal: SimulationResult['terminal']): string {
  if (terminal === null) return '(no terminal)';
  return terminal.outcome === null ? terminal.reason : `${terminal.reason} (${terminal.outcome})`;
}

function describe(emitted: Emitted): string {
  switch (emitted.type) {
    case 'assistant':
    case 'user':
      return `${emitted.type.padEnd(10)} ${cut(JSON.stringify(emitted.message.content))}`;
    case 'tombstone':
      return `tombstone  ${emitted.why}`;
    case 'boundary':
      return `boundary   ${emitted.kind}: ${emitted.tokensBefore} to ${emitted.tokensAfter} tokens`;
    case 'error':
      return `error      ${emitted.failure.class}: ${cut(emitted.failure.message)}`;
    case 'command':
      return `command    ${emitted.status} ${emitted.messageId}`;
    case 'notice':
    case 'tool_use_summary':
      return `${emitted.type.padEnd(10)} ${cut(emitted.text)}`;
    default:
      return emitted.type;
  }
}

function cut(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
