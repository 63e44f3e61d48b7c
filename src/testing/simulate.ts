/** Runs a scenario through the real engine in virtual time: same file, same seed, same bytes. */
import { setImmediate } from 'node:timers/promises';
import { bound } from '../core/bound.ts';
import { runningTools } from '../core/running.ts';
import type { LoopEvent } from '../core/event.ts';
import type { Emitted } from '../core/output.ts';
import { sessionFacts } from '../core/session-facts.ts';
import type { ContinueName, LoopState, Terminal } from '../core/state.ts';
import { watchPath } from '../inspect/watch-path.ts';
import type { QueryOptions } from '../query-options.ts';
import { type Query, query } from '../query.ts';
import { memoryJournal, type RecordedQuery, replay } from '../session/journal.ts';
import { foldingJournal } from './folding-journal.ts';
import { Leftovers } from './leftovers.ts';
import { brokenLaws } from './run-laws.ts';
import type { Scenario } from './scenario.ts';
import { scenarioHistory, scenarioPrompt, scenarioSession, scenarioStaged } from './scenario-history.ts';
import type { SimulationProbe } from './scenario-tools.ts';
import { ScenarioUser } from './scenario-user.ts';
import type { ScriptedModel } from './scripted-model.ts';
import { brokenPromises } from './shown-laws.ts';
import { realTime, type SimulatedTime, virtualTime } from './simulated-time.ts';
import { scenarioModel, simulatedOptions, type SimulationOptions } from './simulation-options.ts';
import { shownRequest, type SimulationResult } from './simulation-result.ts';
import { brokenStarts } from './tool-laws.ts';

/** Runs a scenario. Never rejects for what the run does: what may not happen is listed in `violations`. */
export async function simulate(scenario: Scenario, options: SimulationOptions = {}): Promise<SimulationResult> {
  return (await simulateRecorded(scenario, options)).result;
}

/** As `simulate`, with the journal of every query. */
export async function simulateRecorded(
  scenario: Scenario,
  options: SimulationOptions = {},
): Promise<{ readonly result: SimulationResult; readonly journals: readonly RecordedQuery[] }> {
  const simulation = new Simulation(scenario, options);
  const result = await simulation.run();
  return { result, journals: simulation.journals };
}

type FollowUp = NonNullable<Scenario['then']>[number];

/** What the user wants of a compaction, as the option of a query. */
function asked(compact: Scenario['compact']): Pick<QueryOptions, 'compact'> {
  if (compact === undefined) return {};
  return { compact: compact.instructions === undefined ? {} : { instructions: compact.instructions } };
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #time: SimulatedTime;
  readonly #probe: SimulationProbe = { toolRuns: 0, stopHookRuns: 0 };
  readonly #model: ScriptedModel;
  readonly #leftovers: Leftovers;
  readonly #user: ScenarioUser;
  readonly #options: QueryOptions;
  readonly #transitions: ContinueName[] = [];
  readonly #keepsAll: boolean;
  #announced = 0;
  readonly #events: { index: number; type: LoopEvent['type']; phase: string }[] = [];
  readonly #emitted: Emitted[] = [];
  readonly #terminals: Terminal[] = [];
  readonly #violations: string[] = [];
  /** Calls that ran when the process died and that may not run again. */
  readonly #diedWith = new Set<string>();
  #modelCalls = 0;
  #summaryCalls = 0;
  #query: Query | null = null;
  #recorded: RecordedQuery | null = null;
  readonly journals: RecordedQuery[] = [];
  #queries = 0;

  constructor(scenario: Scenario, { query: own = {}, time = 'virtual', keep = 'all' }: SimulationOptions) {
    this.#scenario = scenario;
    this.#keepsAll = keep === 'all';
    this.#time = time === 'virtual' ? virtualTime() : realTime();
    this.#leftovers = new Leftovers(this.#time);
    this.#model = scenarioModel(scenario, this.#time, keep);
    this.#user = new ScenarioUser(scenario.user ?? [], this.#time.clock, () => this.#query);
    const options = simulatedOptions(scenario, own, {
      time: this.#time,
      probe: this.#probe,
      leftovers: this.#leftovers,
      model: this.#model,
      onToolStart: (toolUseId) => this.#toolStarts(toolUseId),
    });
    const inspect = watchPath({
      onContinue: (name) => this.#continues(name),
      onPhase: (phase) => this.#user.onPhase(phase),
    });
    this.#options = { ...options, inspect };
  }

  async run(): Promise<SimulationResult> {
    const { prompt, compact, then = [] } = this.#scenario;
    const history = scenarioHistory(this.#scenario, 'scripted-model');
    await this.#runQuery({
      ...this.#options,
      ...(prompt === undefined ? {} : { prompt: scenarioPrompt(prompt) }),
      ...asked(compact),
      messages: history,
      session: scenarioSession(this.#scenario, 'scripted-model'),
      staged: scenarioStaged(this.#scenario, history),
    });
    for (const next of then) {
      if ('resume' in next) await this.#resume(next.resume.cut);
      else await this.#followUp(next);
    }
    return this.#result();
  }

  async #followUp(next: Exclude<FollowUp, { resume: unknown }>): Promise<void> {
    const state = this.#query?.state;
    await this.#runQuery({
      ...this.#options,
      ...next.config,
      ...('prompt' in next ? { prompt: scenarioPrompt(next.prompt) } : asked(next.compact)),
      messages: state?.carried.messages ?? [],
      staged: state?.query.staged ?? [],
      ...(state === null || state === undefined
        ? {}
        : { toolUseContext: state.carried.toolUseContext, session: sessionFacts(state) }),
      queued: this.#query?.queued ?? [],
    });
  }

  async #resume(cut: number): Promise<void> {
    if (this.#recorded === null) return;
    const recorded = { ...this.#recorded, events: this.#recorded.events.slice(0, cut) };
    for (const { toolUseId, verdict } of runningTools(replay(recorded))) {
      if (!verdict.readOnly && !verdict.replaySafe) this.#diedWith.add(toolUseId);
    }
    await this.#runQuery({ ...this.#options, resume: recorded });
  }

  /** The query after this one resumes a journal: this one dies before the event that it is cut at. */
  #diesAt(): number | null {
    const next = this.#scenario.then?.[this.#queries - 1];
    return next !== undefined && 'resume' in next ? next.resume.cut : null;
  }

  async #runQuery(options: QueryOptions): Promise<void> {
    this.#queries += 1;
    this.#model.forgetRefused();
    const journal = this.#journal();
    const seed = seedOf(this.#scenario.seed ?? 1, this.#queries);
    // A resumed query goes on counting where its journal was cut.
    const earlier = options.resume?.events.length ?? 0;
    const started = query({
      ...options,
      journal,
      deps: { ...options.deps, clock: this.#time.clock, uuid: () => seed, scaleImage: neverScales },
      signal: this.#signal(),
      beforeEvent: (index, event, state) => this.#beforeEvent(earlier + index, event, state),
    });
    this.#query = started;
    let isGone = this.#diesAt() !== null;
    try {
      const terminal = await this.#time.run(this.#consume(started));
      if (terminal !== null) this.#terminals.push(terminal);
    } catch (error) {
      this.#violate(`The query threw: ${error instanceof Error ? error.message : String(error)}`);
      isGone = true;
      await started.return();
    }
    this.#user.queryEnded();
    const recorded = journal.recorded();
    this.#recorded = recorded === null ? null : withEarlier(options.resume, recorded);
    if (this.#recorded !== null && this.#keepsAll) this.journals.push(this.#recorded);
    this.#checkLaws(started);
    for (const left of await this.#leftovers.found(isGone)) this.#violate(left);
  }

  /** A journal that is cut somewhere is kept whole. */
  #journal(): ReturnType<typeof memoryJournal> | ReturnType<typeof foldingJournal> {
    const isCut = this.#scenario.then?.some((next) => 'resume' in next) ?? false;
    return this.#keepsAll || isCut ? memoryJournal() : foldingJournal();
  }

  /** A signal that nobody aborts: the query must leave no listener on it. */
  #signal(): AbortSignal {
    const { signal } = new AbortController();
    this.#leftovers.watch(signal, 'the query');
    return signal;
  }

  async #consume(started: Query): Promise<Terminal | null> {
    for (;;) {
      const { done, value } = await started.next();
      if (done === true) return value ?? null;
      if (this.#keeps(value)) this.#emitted.push(value);
      // A run that never waits is one job of the machine, and what weak references name is not freed before its end.
      if (!this.#keepsAll && value.type === 'assistant') await setImmediate();
    }
  }

  /** Fragments are never kept; errors and tombstones always, since laws count them. */
  #keeps({ type }: Emitted): boolean {
    if (type === 'error' || type === 'tombstone') return true;
    return this.#keepsAll && type !== 'delta' && type !== 'progress';
  }

  #beforeEvent(index: number, event: LoopEvent, state: LoopState): void {
    if (this.#diesAt() === index) {
      void this.#query?.return();
      return;
    }
    const told = this.#announced;
    if (this.#queries === 1) this.#user.beforeEvent(index);
    // What the user did came before this event, which is announced again unless the query is over.
    if (this.#announced > told) return;
    this.#announced += 1;
    if (this.#keepsAll) this.#events.push({ index, type: event.type, phase: state.phase });
  }

  #continues(name: ContinueName): void {
    this.#diedWith.clear();
    this.#transitions.push(name);
  }

  #toolStarts(toolUseId: string): void {
    this.#probe.toolRuns += 1;
    if (this.#diedWith.has(toolUseId)) this.#violate(`The call ${toolUseId} ran again although it is not replay-safe.`);
    const state = this.#query?.state ?? null;
    if (state !== null) for (const broken of brokenStarts(state, toolUseId)) this.#violate(broken);
    this.#user.onToolStart(toolUseId);
  }

  #checkLaws(ended: Query): void {
    const { state } = ended;
    // What died is counted by the query that goes on from its journal.
    if (state === null || this.#recorded === null || this.#diesAt() !== null) return;
    this.#modelCalls += state.query.modelCalls;
    this.#summaryCalls += state.query.summaryCalls;
    for (const broken of brokenLaws(this.#recorded, state)) this.#violate(broken);
  }

  #violate(what: string): void {
    this.#violations.push(`Query ${this.#queries}: ${what}`);
  }

  #result(): SimulationResult {
    const state = this.#query?.state ?? null;
    const worst = this.#recorded === null ? null : bound(this.#recorded.config);
    const result = {
      name: this.#scenario.name,
      terminal: this.#terminals.at(-1) ?? null,
      terminals: this.#terminals,
      transitions: this.#transitions,
      turnCount: state?.carried.turnCount ?? 0,
      counts: {
        modelCalls: this.#modelCalls,
        summaryCalls: this.#summaryCalls,
        toolRuns: this.#probe.toolRuns,
        stopHookRuns: this.#probe.stopHookRuns,
      },
      bound: { modelCalls: worst?.modelCalls ?? 0, summaryCalls: worst?.summaryCalls ?? 0 },
      events: this.#events,
      requests: this.#model.requests.map(shownRequest),
      emitted: this.#emitted,
      messages: state?.carried.messages ?? [],
      queued: this.#query?.queued ?? [],
      violations: [...this.#model.violations, ...this.#violations],
      ms: this.#time.elapsedMs(),
    };
    return { ...result, violations: [...result.violations, ...brokenPromises(this.#scenario, result)] };
  }
}

/** Images of a scenario have a size and no pixels, and a simulation must not depend on what is installed. */
const neverScales = (): Promise<never> => Promise.reject(new Error('a simulation scales no image'));

/** A resumed journal goes on where the first one was cut. */
function withEarlier(earlier: RecordedQuery | undefined, recorded: RecordedQuery): RecordedQuery {
  if (earlier === undefined) return recorded;
  return { ...earlier, events: [...earlier.events, ...recorded.events] };
}

/** A uuid that depends on the scenario's seed and on which of its queries it is for. */
function seedOf(seed: number, number: number): string {
  const hex = (value: number, digits: number): string =>
    (value >>> 0).toString(16).padStart(digits, '0').slice(-digits);
  return `${hex(seed, 8)}-${hex(number, 4)}-4000-8000-000000000000`;
}
