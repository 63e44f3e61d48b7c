/** An abort, or the death of the process, before every event of a run. */
import type { ModelEntry, Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';
import type { SimulationOptions } from './simulation-options.ts';
import type { SimulationResult } from './simulation-result.ts';

export interface EverywhereOptions extends SimulationOptions {
  /** A law of one's own: says what is wrong with a run that was aborted or resumed, one sentence each. */
  readonly law?: (result: SimulationResult) => readonly string[];
}

/** What went wrong when a run was broken at one place. */
export interface EverywhereViolation {
  /** The event of the whole run before which it happened. */
  readonly index: number;
  readonly event: string;
  /** Phase in which the loop was. */
  readonly phase: string;
  readonly what: 'interrupt' | 'submit' | 'crash' | 'nothing';
  readonly violation: string;
}

const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }], repeat: true };
const short: ModelEntry = { text: 'short', repeat: true };

/** A run that is broken somewhere asks for more answers than its script has. */
function withoutEnd(entries: readonly ModelEntry[], last: ModelEntry): ModelEntry[] {
  return entries.at(-1)?.repeat === true ? [...entries] : [...entries, last];
}

/** The first query of the scenario alone, never at a loss for an answer. */
function oneQuery({ then: _then, ...scenario }: Scenario): Scenario {
  return {
    ...scenario,
    model: withoutEnd(scenario.model, done),
    summary: withoutEnd(scenario.summary ?? [], short),
    ...(scenario.small === undefined ? {} : { small: withoutEnd(scenario.small, short) }),
  };
}

const next = { prompt: 'next' };

/**
 * Runs the first query of a scenario once, then again with an abort of each kind before every event, each time followed
 * by a next query. An aborted query must end as aborted, with no error; no timer, no abort listener and no child process
 * may be left; its history must be one that the API accepts, and that the next query can go on from.
 *
 * @returns what went wrong, in the order of the events; nothing for tools and hooks that behave.
 * @throws TypeError when an option cannot be used.
 */
export function abortEverywhere(
  scenario: Scenario,
  options: EverywhereOptions = {},
): Promise<readonly EverywhereViolation[]> {
  return everywhere(oneQuery(scenario), options, ['interrupt', 'submit'], (base, kind, index) => ({
    ...base,
    user: [...(base.user ?? []), { abort: kind, ...(kind === 'submit' ? { text: 'now this' } : {}), at: index }],
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the format; nobody awaits a scenario
    then: [next],
  }));
}

/**
 * Runs the first query of a scenario once, then again with the death of the process before every event: the journal is
 * cut there and resumed, and a next query follows. The resumed query must end, a tool call that is neither read-only nor
 * replay-safe must not run twice; and nothing may be left, as in `abortEverywhere`.
 *
 * @returns what went wrong, in the order of the events; nothing for tools and hooks that behave.
 * @throws TypeError when an option cannot be used.
 */
export function crashEverywhere(
  scenario: Scenario,
  options: EverywhereOptions = {},
): Promise<readonly EverywhereViolation[]> {
  return everywhere(oneQuery(scenario), options, ['crash'], (base, _kind, index) => ({
    ...base,
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the format; nobody awaits a scenario
    then: [{ resume: { cut: index } }, next],
  }));
}

async function everywhere<Kind extends Exclude<EverywhereViolation['what'], 'nothing'>>(
  base: Scenario,
  options: EverywhereOptions,
  kinds: readonly Kind[],
  broken: (base: Scenario, kind: Kind, index: number) => Scenario,
): Promise<readonly EverywhereViolation[]> {
  const whole = await simulate(base, options);
  const waits = whole.violations.some(isWaiting);
  const found: EverywhereViolation[] = whole.violations
    .filter((violation) => !isWaiting(violation))
    .map((violation) => ({ index: 0, event: 'none', phase: 'none', what: 'nothing', violation }));
  for (const { index, type, phase } of whole.events) {
    for (const kind of kinds) {
      const result = await simulate(broken(base, kind, index), options);
      const violations = [
        ...result.violations.filter((violation) => !(waits && mayWait(kind, violation))),
        ...(kind === 'crash' ? [] : terminalLaw(index, result)),
        ...(options.law?.(result) ?? []),
      ];
      for (const violation of violations) found.push({ index, event: type, phase, what: kind, violation });
    }
  }
  return found;
}

/** A run that only an abort ends is a good one to abort: alone it waits for ever. */
function isWaiting(violation: string): boolean {
  return violation.includes('waits for something that never comes');
}

/** What waits for ever when nobody breaks it may do so again: when it is resumed, and in the query after the aborted one. */
function mayWait(kind: EverywhereViolation['what'], violation: string): boolean {
  return isWaiting(violation) && (kind === 'crash' || !violation.startsWith('Query 1:'));
}

/** The phases whose abort leaves tool runs or what belongs behind them unfinished. */
const toolPhases: ReadonlySet<string> = new Set(['runningTools', 'attaching']);

function terminalLaw(index: number, { terminals, events }: SimulationResult): readonly string[] {
  const abort = events.find((event) => event.type === 'abort');
  // In real time the run may have been over before.
  if (abort === undefined || abort.index > index) return [];
  const right = toolPhases.has(abort.phase) ? 'aborted_tools' : 'aborted_streaming';
  const [terminal] = terminals;
  if (terminal === undefined) return ['The aborted query did not end.'];
  return [
    ...(terminal.reason === right ? [] : [`The query ended as ${terminal.reason}; right is ${right}.`]),
    ...(terminal.failure === null ? [] : ['The aborted query tells of an error.']),
  ];
}
