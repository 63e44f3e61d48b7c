/** What the user of a scenario does, and when. */
import type { Clock } from '../clock.ts';
import type { Query } from '../query.ts';
import type { Scenario } from './scenario.ts';

type Act = NonNullable<Scenario['user']>[number];

/** Does each act once, in the query that is under way when its moment comes. */
export class ScenarioUser {
  readonly #acts: readonly Act[];
  readonly #clock: Clock;
  readonly #query: () => Query | null;
  readonly #entered = new Set<string>();
  readonly #acted = new Set<Act>();
  /** Takes back what the user would do later. */
  #planned: (() => void)[] = [];

  constructor(acts: readonly Act[], clock: Clock, query: () => Query | null) {
    this.#acts = acts;
    this.#clock = clock;
    this.#query = query;
  }

  /** Called before the event of an index is taken. */
  beforeEvent(index: number): void {
    for (const act of this.#acts) if (act.at === index) this.#act(act);
  }

  /** Called when a tool starts. */
  onToolStart(toolUseId: string): void {
    for (const act of this.#acts) {
      if (typeof act.at === 'object' && 'tool' in act.at && act.at.tool === toolUseId) this.#plan(act, 0);
    }
  }

  /** Called with each phase that is entered; the first time counts. */
  onPhase(phase: string): void {
    if (this.#entered.has(phase)) return;
    this.#entered.add(phase);
    for (const act of this.#acts) {
      if (typeof act.at === 'object' && 'phase' in act.at && act.at.phase === phase) this.#plan(act, act.at.after);
    }
  }

  /** What was to come after the end of the query never happens. */
  queryEnded(): void {
    for (const takeBack of this.#planned.splice(0)) takeBack();
  }

  #plan(act: Act, after: number): void {
    this.#planned.push(this.#clock.schedule(() => this.#act(act), after));
  }

  #act(act: Act): void {
    const query = this.#query();
    // What the user does makes an event of its own at the same index, and must not be done again before that one.
    if (query === null || this.#acted.has(act)) return;
    this.#acted.add(act);
    if ('submit' in act) query.send(act.submit);
    else if (act.abort === 'submit') query.submit(act.text ?? '');
    else query.interrupt();
  }
}
