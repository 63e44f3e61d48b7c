/** Runs a scenario through the real engine in virtual time: same file, same seed, same bytes. */
import { bound } from '../core/bound.ts';
import type { LoopEvent } from '../core/event.ts';
import type { Emitted } from '../core/output.ts';
import { sessionFacts } from '../core/session.ts';
import type { ContinueName, LoopState, Terminal } from '../core/state.ts';
import { watchPath } from '../inspect/watch-path.ts';
import type { QueryOptions } from '../prepare.ts';
import { type Query, query } from '../query.ts';
import { memoryJournal, type RecordedQuery } from '../session/journal.ts';
import { createMemoryStore } from '../tools/result-store.ts';
import { brokenLaws } from './run-laws.ts';
import type { Scenario } from './scenario.ts';
import { scenarioHistory, scenarioPrompt, scenarioSession, scenarioStaged } from './scenario-history.ts';
import { scenarioHooks, scenarioPermissions, scenarioTools, type SimulationProbe } from './scenario-tools.ts';
import { scriptedFetch } from './scripted-fetch.ts';
import { ScriptedModel } from './scripted-model.ts';
import type { SimulationResult } from './simulation-result.ts';
import { runInVirtualTime, VirtualClock } from './virtual-clock.ts';

const defaultWindow = 200_000;
const defaultMaxOutput = 64_000;
/** A script that repeats for ever must end all the same. */
const defaultMaxTurns = 20;

/** Runs a scenario. Never rejects for what the run does: what may not happen is listed in `violations`. */
export async function simulate(scenario: Scenario): Promise<SimulationResult> {
  return (await simulateRecorded(scenario)).result;
}

/** As `simulate`, with the journal of every query. */
export async function simulateRecorded(
  scenario: Scenario,
): Promise<{ readonly result: SimulationResult; readonly journals: readonly RecordedQuery[] }> {
  const simulation = new Simulation(scenario);
  const result = await simulation.run();
  return { result, journals: simulation.journals };
}

type UserAct = NonNullable<Scenario['user']>[number];

class Simulation {
  readonly #scenario: Scenario;
  readonly #clock = new VirtualClock();
  readonly #probe: SimulationProbe = { toolRuns: 0, stopHookRuns: 0, onToolStart: () => {} };
  readonly #model: ScriptedModel;
  readonly #options: QueryOptions;
  readonly #transitions: ContinueName[] = [];
  readonly #events: { index: number; type: LoopEvent['type']; phase: string }[] = [];
  readonly #emitted: Emitted[] = [];
  readonly #terminals: Terminal[] = [];
  readonly #violations: string[] = [];
  readonly #entered = new Set<string>();
  readonly #acted = new Set<UserAct>();
  /** Takes back what the user would do later. */
  #planned: (() => void)[] = [];
  #modelCalls = 0;
  #summaryCalls = 0;
  #query: Query | null = null;
  #recorded: RecordedQuery | null = null;
  readonly journals: RecordedQuery[] = [];
  #queries = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const { contextWindow = defaultWindow, modelMaxOutput = Math.min(defaultMaxOutput, contextWindow) } =
      scenario.config ?? {};
    this.#model = new ScriptedModel({
      model: scenario.model,
      summary: scenario.summary ?? [],
      small: scenario.small ?? [],
      limits: { contextWindow, maxOutput: modelMaxOutput },
      clock: this.#clock,
      profile: scenario.config?.profile ?? 'anthropic',
      systemTokens: scenario.config?.systemTokens ?? 0,
    });
    this.#options = this.#baseOptions(contextWindow, modelMaxOutput);
  }

  #baseOptions(contextWindow: number, modelMaxOutput: number): QueryOptions {
    const scenario = this.#scenario;
    const canUseTool = scenarioPermissions(scenario);
    return {
      model: 'scripted-model',
      permissionMode: 'bypassPermissions',
      maxTurns: defaultMaxTurns,
      ...(scenario.small === undefined ? {} : { smallModel: 'scripted-small' }),
      ...scenario.config,
      contextWindow,
      modelMaxOutput,
      apiKey: 'scripted',
      baseUrl: 'http://scripted.invalid',
      fetch: scriptedFetch(this.#model),
      tools: scenarioTools(scenario, this.#clock, this.#probe),
      hooks: scenarioHooks(scenario, this.#probe),
      ...(canUseTool === null ? {} : { canUseTool }),
      resultStore: createMemoryStore(),
      inspect: watchPath({
        onContinue: (name) => this.#transitions.push(name),
        onPhase: (phase) => this.#enter(phase),
      }),
    };
  }

  async run(): Promise<SimulationResult> {
    const { prompt, then = [] } = this.#scenario;
    const history = scenarioHistory(this.#scenario, 'scripted-model');
    await this.#runQuery({
      ...this.#options,
      ...(prompt === undefined ? {} : { prompt: scenarioPrompt(prompt) }),
      messages: history,
      session: scenarioSession(this.#scenario, 'scripted-model'),
      staged: scenarioStaged(this.#scenario, history),
    });
    for (const next of then) {
      if ('resume' in next) await this.#resume(next.resume.cut);
      else await this.#followUp(next.prompt, next.config);
    }
    return this.#result();
  }

  async #followUp(prompt: string | readonly unknown[], config: Scenario['config']): Promise<void> {
    const state = this.#query?.state;
    await this.#runQuery({
      ...this.#options,
      ...config,
      prompt: scenarioPrompt(prompt),
      messages: state?.carried.messages ?? [],
      ...(state === null || state === undefined ? {} : { toolUseContext: state.carried.toolUseContext }),
      queued: this.#query?.queued ?? [],
      session: state === null || state === undefined ? null : sessionFacts(state),
    });
  }

  async #resume(cut: number): Promise<void> {
    if (this.#recorded === null) return;
    const recorded = { ...this.#recorded, events: this.#recorded.events.slice(0, cut) };
    await this.#runQuery({ ...this.#options, resume: recorded });
  }

  /** The query after this one resumes a journal: this one dies before the event that it is cut at. */
  #diesAt(): number | null {
    const next = this.#scenario.then?.[this.#queries - 1];
    return next !== undefined && 'resume' in next ? next.resume.cut : null;
  }

  async #runQuery(options: QueryOptions): Promise<void> {
    this.#queries += 1;
    const journal = memoryJournal();
    const seed = seedOf(this.#scenario.seed ?? 1, this.#queries);
    // A resumed query goes on counting where its journal was cut.
    const earlier = options.resume?.events.length ?? 0;
    const started = query({
      ...options,
      journal,
      deps: { clock: this.#clock, uuid: () => seed },
      beforeEvent: (index, event, state) => this.#beforeEvent(earlier + index, event, state),
    });
    this.#query = started;
    this.#scheduleTools();
    try {
      const terminal = await runInVirtualTime(this.#clock, this.#consume(started));
      if (terminal !== null) this.#terminals.push(terminal);
    } catch (error) {
      this.#violations.push(`The query threw: ${error instanceof Error ? error.message : String(error)}`);
    }
    for (const takeBack of this.#planned.splice(0)) takeBack();
    if (this.#diesAt() !== null) this.#clock.clear();
    const recorded = journal.recorded();
    this.#recorded = recorded === null ? null : withEarlier(options.resume, recorded);
    if (this.#recorded !== null) this.journals.push(this.#recorded);
    this.#checkLaws(started);
  }

  async #consume(started: Query): Promise<Terminal | null> {
    for (;;) {
      const { done, value } = await started.next();
      if (done === true) return value ?? null;
      if (value.type !== 'delta' && value.type !== 'progress') this.#emitted.push(value);
    }
  }

  #beforeEvent(index: number, event: LoopEvent, state: LoopState): void {
    if (this.#diesAt() === index) {
      void this.#query?.return();
      return;
    }
    const told = this.#events.length;
    if (this.#queries === 1) {
      for (const act of this.#scenario.user ?? []) if (act.at === index) this.#act(act);
    }
    // What the user did came before this event, which is announced again unless the query is over.
    if (this.#events.length > told) return;
    this.#events.push({ index, type: event.type, phase: state.phase });
  }

  /** Plans an act of the user; what comes after the end of the query never happens. */
  #plan(act: UserAct, after: number): void {
    this.#planned.push(this.#clock.schedule(() => this.#act(act), after));
  }

  #act(act: UserAct): void {
    const started = this.#query;
    // What the user does makes an event of its own at the same index, and must not be done again before that one.
    if (started === null || this.#acted.has(act)) return;
    this.#acted.add(act);
    if ('submit' in act) started.send(act.submit);
    else if (act.abort === 'submit') started.submit(act.text ?? '');
    else started.interrupt();
  }

  #scheduleTools(): void {
    this.#probe.onToolStart = (toolUseId) => {
      for (const act of this.#scenario.user ?? []) {
        if (typeof act.at === 'object' && 'tool' in act.at && act.at.tool === toolUseId) {
          this.#plan(act, 0);
        }
      }
    };
  }

  #enter(phase: string): void {
    if (this.#entered.has(phase)) return;
    this.#entered.add(phase);
    for (const act of this.#scenario.user ?? []) {
      if (typeof act.at === 'object' && 'phase' in act.at && act.at.phase === phase) {
        this.#plan(act, act.at.after);
      }
    }
  }

  #checkLaws(ended: Query): void {
    const { state } = ended;
    // What died is counted by the query that goes on from its journal.
    if (state === null || this.#recorded === null || this.#diesAt() !== null) return;
    this.#modelCalls += state.query.modelCalls;
    this.#summaryCalls += state.query.summaryCalls;
    for (const broken of brokenLaws(this.#recorded, state)) this.#violate(broken);
    if (this.#clock.pending > 0) this.#violate(`${this.#clock.pending} timers are left.`);
  }

  #violate(what: string): void {
    this.#violations.push(`Query ${this.#queries}: ${what}`);
  }

  #result(): SimulationResult {
    const state = this.#query?.state ?? null;
    const worst = this.#recorded === null ? null : bound(this.#recorded.config);
    return {
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
      requests: this.#model.requests.map(({ purpose, model, maxTokens, messages, estimate }) => ({
        purpose,
        model,
        maxTokens,
        messages,
        estimate,
      })),
      emitted: this.#emitted,
      messages: state?.carried.messages ?? [],
      queued: this.#query?.queued ?? [],
      violations: [...this.#model.violations, ...this.#violations],
      ms: this.#clock.now() - new VirtualClock().now(),
    };
  }
}

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
