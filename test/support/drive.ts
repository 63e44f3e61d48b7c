/**
 * Drives the pure engine by hand: send events, answer what runs. Whatever a test does, every request that the engine
 * makes and the history at every end go through the validator.
 */
import { defaultConfig, defaultLimits, type LoopConfig, type RecoveryLimits } from '../../src/core/config.ts';
import { contextSize } from '../../src/core/context/tokens.ts';
import type { Effect, EffectName, EffectOf } from '../../src/core/effect.ts';
import type { EventOf, LoopEvent } from '../../src/core/event.ts';
import { type Failure, type FailureClass, failureOf } from '../../src/core/failure.ts';
import { initialState, type QueryStart } from '../../src/core/initial-state.ts';
import type { Usage } from '../../src/core/message.ts';
import type { Output } from '../../src/core/output.ts';
import { phaseEffectId } from '../../src/core/running.ts';
import type { Carried, LoopState, Terminal, ToolOutcome, Unfinished } from '../../src/core/state.ts';
import { clearOutbox, firstRow, follow, step } from '../../src/core/step.ts';
import { syntheticOutcome } from '../../src/core/tools/schedule.ts';
import { projectHistory } from '../../src/core/wire/project.ts';
import type { WireRequest } from '../../src/core/wire/request-type.ts';
import { describeViolations, type RequestLimits, validateRequest } from '../../src/core/wire/validate.ts';
import { type Said, usage, user } from './said.ts';

const seed = '00000000-0000-4000-8000-000000000000';

export type DriveConfig = Partial<Omit<LoopConfig, 'limits'>> & {
  readonly limits?: Partial<RecoveryLimits>;
  /** In tokens. Default 200,000. */
  readonly window?: number;
  /** In tokens. Default 64,000. */
  readonly maxOutput?: number;
};

const nothingUsed = usage(0);

function configOf({ limits, window = 200_000, maxOutput = 64_000, ...same }: DriveConfig = {}): LoopConfig {
  return {
    ...defaultConfig,
    models: ['one'],
    fallbackLimits: { contextWindow: window, maxOutput },
    ...same,
    limits: { ...defaultLimits, ...limits },
  };
}

export class Drive {
  state: LoopState;
  readonly config: LoopConfig;
  /** Everything that the engine asked for, in order. */
  readonly effects: Effect[] = [];
  /** Names of the rows that fired, in order. */
  readonly rows: string[] = [];
  /** What the newest event asked for. */
  newest: readonly Effect[] = [];

  constructor(config: DriveConfig = {}, start: Partial<QueryStart> = {}) {
    this.config = configOf(config);
    const prompt = start.prompt ?? (start.messages === undefined ? 'go' : undefined);
    this.state = initialState({ seed, ...start, ...(prompt === undefined ? {} : { prompt }) }, this.config);
  }

  get carried(): Carried {
    return this.state.carried;
  }

  get phase(): LoopState['phase'] {
    return this.state.phase;
  }

  /** Reason and outcome of the end; empty while there is none. */
  get end(): string {
    const { terminal } = this.state;
    return terminal === null ? '' : [terminal.reason, terminal.outcome].filter(Boolean).join(' ');
  }

  get terminal(): Terminal {
    if (this.state.terminal === null) throw new Error(`The query has not ended: ${this.phase}.`);
    return this.state.terminal;
  }

  get continues(): readonly string[] {
    const names = this.rows.map((name) => name.split('.')[0]!);
    return names.filter((name) => continueNames.has(name));
  }

  get shown(): readonly Output[] {
    return this.effects.flatMap((effect) => (effect.type === 'emit' ? [effect.output] : []));
  }

  shownOf<Type extends Output['type']>(type: Type): readonly Extract<Output, { type: Type }>[] {
    return this.shown.filter((output): output is Extract<Output, { type: Type }> => output.type === type);
  }

  started<Name extends EffectName>(name: Name): readonly EffectOf<Name>[] {
    return this.effects.flatMap((effect) => (effect.type === name ? [effect as unknown as EffectOf<Name>] : []));
  }

  get cancelled(): readonly string[] {
    return this.effects.flatMap((effect) => (effect.type === 'cancel' ? [effect.id] : []));
  }

  /** The newest request for an answer. */
  get request(): WireRequest {
    const request = this.started('streamModel').at(-1)?.request;
    if (request === undefined) throw new Error('No request was sent.');
    return request;
  }

  /** Tool runs by their status, by id. */
  get tools(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.state.scratch.toolRuns.map(({ toolUseId, status }) => [toolUseId, status]));
  }

  send(event: LoopEvent): this {
    this.#takeDown(event);
    const { state, effects } = step(this.state, event, this.config);
    this.state = state;
    this.newest = effects;
    this.effects.push(...effects);
    for (const effect of effects) if ('request' in effect) this.#check(effect);
    if (state.phase === 'ended') this.#checkHistory();
    return this;
  }

  /** Sets carried fields by hand, where the way there is no matter of the test. */
  carries(more: Partial<Carried>): this {
    this.state = { ...this.state, carried: { ...this.state.carried, ...more } };
    return this;
  }

  begin(blocked: string | null = null): this {
    return this.send({ type: 'query.started', blocked });
  }

  /** Blocks of the answer under way. */
  says(...said: readonly Said[]): this {
    for (const one of said) this.send({ type: 'model.blockEnded', effectId: this.#running(), ...one });
    return this;
  }

  /** The answer ends by the protocol. */
  stops(stopReason: string | null, used: Usage = nothingUsed): this {
    return this.send({ type: 'model.answered', effectId: this.#running(), stopReason, usage: used });
  }

  answers(stopReason: string | null, ...said: readonly Said[]): this {
    return this.says(...said).stops(stopReason);
  }

  fails(failure: FailureClass | Partial<Failure>, unfinished: Unfinished | null = null): this {
    const known =
      typeof failure === 'string'
        ? failureOf(failure, `It says ${failure}.`)
        : { ...failureOf('thrown', ''), ...failure };
    return this.send({
      type: 'model.failed',
      effectId: this.#running(),
      failure: known,
      unfinished,
      usage: nothingUsed,
    });
  }

  summary(words = 'short', stopReason: string | null = 'end_turn', used: Usage = nothingUsed): this {
    return this.send({
      type: 'compact.answered',
      effectId: this.#running(),
      text: words,
      block: null,
      stopReason,
      usage: used,
    });
  }

  summaryFails(kind: FailureClass = 'server'): this {
    return this.send({
      type: 'compact.failed',
      effectId: this.#running(),
      failure: failureOf(kind, `It says ${kind}.`),
    });
  }

  /** A tool ends: with a text, or with whatever else is said of its outcome. */
  toolEnds(toolUseId: string, outcome: Partial<ToolOutcome> | string = 'x'): this {
    const run = this.state.scratch.toolRuns.find((one) => one.toolUseId === toolUseId);
    const more = typeof outcome === 'string' ? { content: [{ type: 'text', text: outcome } as const] } : outcome;
    const whole = { ...syntheticOutcome('x'), isError: false, stage: 'run', ...more };
    return this.send({ type: 'tool.ended', effectId: run?.effectId ?? 'none', toolUseId, outcome: whole });
  }

  /** Every tool that runs ends, in the order of the calls, until none does. */
  allToolsEnd(): this {
    for (let run = this.#runningTool(); run !== undefined; run = this.#runningTool()) this.toolEnds(run);
    return this;
  }

  attaches(more: Partial<EventOf<'attachments.collected'>> = {}): this {
    const nothing = { attachments: [], tools: null, notices: [] };
    return this.send({ type: 'attachments.collected', effectId: this.#running(), ...nothing, ...more });
  }

  /** One whole turn: an answer with these tools, their results, and on to the next request. */
  turn(...said: readonly Said[]): this {
    return this.answers('tool_use', ...said)
      .allToolsEnd()
      .attaches();
  }

  hooks(more: Partial<EventOf<'stopHooks.ended'>> = {}): this {
    return this.send({
      type: 'stopHooks.ended',
      effectId: this.#running(),
      errors: [],
      prevent: null,
      notices: [],
      ...more,
    });
  }

  queues(id: string): this {
    return this.send({ type: 'message.queued', message: { id, content: [{ type: 'text', text: id }] } });
  }

  interrupts(unfinished: Unfinished | null = null): this {
    return this.send({ type: 'abort', kind: 'interrupt', message: null, unfinished });
  }

  submits(id: string): this {
    const message = { id, content: [{ type: 'text' as const, text: id }] };
    return this.send({ type: 'abort', kind: 'submit', message, unfinished: null });
  }

  resumes(): this {
    return this.send({ type: 'query.resumed' });
  }

  #running(): string {
    return phaseEffectId(this.state) ?? 'none';
  }

  #runningTool(): string | undefined {
    return this.state.scratch.toolRuns.find(({ status }) => status === 'running')?.toolUseId;
  }

  #takeDown(event: LoopEvent): void {
    let next = clearOutbox(this.state);
    for (
      let row = firstRow(next, event, this.config, false);
      row !== null;
      row = firstRow(next, event, this.config, true)
    ) {
      this.rows.push(row.name);
      next = follow(row, next, event, this.config);
    }
  }

  #check({ type, request }: { readonly type: string; readonly request: WireRequest }): void {
    this.#validate(request, type === 'streamModel' ? contextSize(this.state, this.config) : null);
  }

  /** The history that is left is one that the API accepts with the next words of the user behind it. */
  #checkHistory(): void {
    const history = [...this.carried.messages, user('next', 'next')];
    const messages = projectHistory(history, { thinkingOf: null, endsPaused: false });
    this.#validate({ model: 'm', max_tokens: 1, messages }, null);
  }

  #validate(request: WireRequest, estimate: number | null): void {
    const limits: RequestLimits = { ...this.state.query.limits, estimate, profile: this.config.profile };
    const violations = validateRequest(request, limits);
    if (violations.length > 0) throw new Error(`The API would refuse this:\n${describeViolations(violations)}`);
  }
}

const continueNames: ReadonlySet<string> = new Set([
  'next_turn',
  'collapse_drain_retry',
  'reactive_compact_retry',
  'max_output_tokens_escalate',
  'max_output_tokens_recovery',
  'stop_hook_blocking',
  'token_budget_continuation',
]);

/** A query that has begun: the first request is sent. */
export function begun(config: DriveConfig = {}, start: Partial<QueryStart> = {}): Drive {
  return new Drive(config, start).begin();
}
