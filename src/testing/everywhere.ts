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
  /** Index of the event before which it happened; of a moment between two events, that of the second one. */
  readonly index: number;
  /** Type of that event in the whole run; of a moment between two events, which one it is. */
  readonly moment: string;
  /** Phase in which the loop was; empty when the moment never came. */
  readonly phase: string;
  /** `nothing`: the whole run breaks a law by itself. */
  readonly what: 'interrupt' | 'submit' | 'crash' | 'nothing';
  readonly violation: string;
}

type Act = NonNullable<Scenario['user']>[number];

const done: ModelEntry = { stream: [{ text: 'done' }, { stop: 'end_turn' }], repeat: true };
const short: ModelEntry = { text: 'short', repeat: true };

/** A run that is broken somewhere asks for more answers than its script has. */
function withoutEnd(entries: readonly ModelEntry[], last: ModelEntry): ModelEntry[] {
  return entries.at(-1)?.repeat === true ? [...entries] : [...entries, last];
}

function agentsWithoutEnd(agents: NonNullable<Scenario['agents']>): NonNullable<Scenario['agents']> {
  return Object.fromEntries(
    Object.entries(agents).map(([name, { model }]) => [name, { model: withoutEnd(model, done) }]),
  );
}

/** The first query of the scenario alone, never at a loss for an answer. */
function oneQuery({ then: _then, ...scenario }: Scenario): Scenario {
  return {
    ...scenario,
    model: withoutEnd(scenario.model, done),
    summary: withoutEnd(scenario.summary ?? [], short),
    ...(scenario.agents === undefined ? {} : { agents: agentsWithoutEnd(scenario.agents) }),
    ...(scenario.small === undefined ? {} : { small: withoutEnd(scenario.small, short) }),
  };
}

/** A run that is broken, and where. */
interface Broken {
  readonly what: EverywhereViolation['what'];
  readonly moment: string;
  readonly scenario: Scenario;
}

const next = { prompt: 'next' };

/**
 * Runs the first query of a scenario once, then again with an abort of each kind before every event, as soon as each
 * phase waits, and as soon as each tool runs; each time a next query follows. An aborted query must end as aborted, with
 * no error; no timer, no abort listener and no child process may be left; its history must be one that the API accepts,
 * and that the next query can go on from.
 *
 * @returns what went wrong; nothing for tools and hooks that behave.
 * @throws TypeError when an option cannot be used.
 */
export function abortEverywhere(
  scenario: Scenario,
  options: EverywhereOptions = {},
): Promise<readonly EverywhereViolation[]> {
  return everywhere(scenario, options, (base, whole) =>
    momentsOf(whole).flatMap(({ at, moment }) =>
      (['interrupt', 'submit'] as const).map((what) => {
        const act: Act = { abort: what, ...(what === 'submit' ? { text: 'now this' } : {}), at };
        // oxlint-disable-next-line unicorn/no-thenable -- the word of the format; nobody awaits a scenario
        return { what, moment, scenario: { ...base, user: [act, ...(base.user ?? [])], then: [next] } };
      }),
    ),
  );
}

/**
 * Runs the first query of a scenario once, then again with the death of the process before every event: the journal is
 * cut there and resumed, and a next query follows. The resumed query must end, a tool call that is neither read-only nor
 * replay-safe must not run twice; and nothing may be left, as in `abortEverywhere`.
 *
 * @returns what went wrong; nothing for tools and hooks that behave.
 * @throws TypeError when an option cannot be used.
 */
export function crashEverywhere(
  scenario: Scenario,
  options: EverywhereOptions = {},
): Promise<readonly EverywhereViolation[]> {
  return everywhere(scenario, options, (base, { events }) =>
    events.map(({ index, type }) => ({
      what: 'crash',
      moment: type,
      // oxlint-disable-next-line unicorn/no-thenable -- the word of the format; nobody awaits a scenario
      scenario: { ...base, then: [{ resume: { cut: index } }, next] },
    })),
  );
}

/** Every event, and between them what lasts: a phase that waits, a tool that runs. */
function momentsOf({
  events,
  emitted,
}: SimulationResult): readonly { readonly at: Act['at']; readonly moment: string }[] {
  // Nothing waits in `ready`: the first event is there at once.
  const phases = new Set(events.map(({ phase }) => phase).filter((phase) => phase !== 'ready'));
  const calls = emitted.flatMap((item) =>
    item.type === 'assistant'
      ? item.message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
      : [],
  );
  return [
    ...events.map(({ index, type }) => ({ at: index, moment: type })),
    ...[...phases].map((phase) => ({ at: { phase, after: 0 }, moment: `the phase ${phase} waits` })),
    ...[...new Set(calls)].map((call) => ({ at: { tool: call }, moment: `the tool ${call} runs` })),
  ];
}

async function everywhere(
  scenario: Scenario,
  options: EverywhereOptions,
  broken: (base: Scenario, whole: SimulationResult) => readonly Broken[],
): Promise<readonly EverywhereViolation[]> {
  const base = oneQuery(scenario);
  const whole = await simulate(base, options);
  const waits = whole.violations.some(isWaiting);
  const found: EverywhereViolation[] = whole.violations
    .filter((violation) => !isWaiting(violation))
    .map((violation) => ({ index: 0, moment: 'none', phase: '', what: 'nothing', violation }));
  for (const { what, moment, scenario: changed } of broken(base, whole)) {
    const result = await simulate(changed, options);
    const mark = result.events.find(({ type }) => type === (what === 'crash' ? 'query.resumed' : 'abort'));
    const violations = [
      ...result.violations.filter((violation) => !(waits && mayWait(what, violation, mark === undefined))),
      ...(what === 'crash' ? [] : terminalLaw(result)),
      ...(options.law?.(result) ?? []),
    ];
    const { index = 0, phase = '' } = mark ?? {};
    for (const violation of violations) found.push({ index, moment, phase, what, violation });
  }
  return found;
}

/** A run that only an abort ends is a good one to abort: alone it waits for ever. */
function isWaiting(violation: string): boolean {
  return violation.includes('waits for something that never comes');
}

/** What waits for ever when nobody breaks it may do so again: when it is resumed, and in the query after the aborted one. */
function mayWait(what: EverywhereViolation['what'], violation: string, isWhole: boolean): boolean {
  return isWaiting(violation) && (what === 'crash' || isWhole || !violation.startsWith('Query 1:'));
}

/** The phases whose abort leaves tool runs or what belongs behind them unfinished. */
const toolPhases: ReadonlySet<string> = new Set(['runningTools', 'attaching']);

function terminalLaw({ terminals, events }: SimulationResult): readonly string[] {
  const abort = events.find(({ type }) => type === 'abort');
  // The moment may never have come: in real time the run is sometimes over before.
  if (abort === undefined) return [];
  const right = toolPhases.has(abort.phase) ? 'aborted_tools' : 'aborted_streaming';
  const [terminal] = terminals;
  if (terminal === undefined) return ['The aborted query did not end.'];
  return [
    ...(terminal.reason === right ? [] : [`The query ended as ${terminal.reason}; right is ${right}.`]),
    ...(terminal.failure === null ? [] : ['The aborted query tells of an error.']),
  ];
}
