/** What a query may not leave behind: timers, abort listeners, child processes. */
import { getEventListeners } from 'node:events';
import { type Hooks, noHooks } from '../hooks/hook.ts';
import type { Tool } from '../tools/tool.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** How often a process that was killed is looked for again before it counts as left behind. */
const looks = 15;
/** Signals that are looked at in the end; more than any query has at work at once. */
const mostSignals = 1_000;

/** Learns of every signal that a query hands out, and says what is left on them when it is over. */
export class Leftovers {
  readonly #time: SimulatedTime;
  readonly #signals = new Map<AbortSignal, string>();
  /** What was there before, or was reported already. */
  #known = { timers: 0, processes: childProcesses() };

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  /** Looks at a signal when the query is over. `name` says whose it is. */
  watch(signal: AbortSignal | null | undefined, name: string): void {
    if (signal === null || signal === undefined) return;
    this.#signals.set(signal, name);
    if (this.#signals.size > mostSignals) this.#forgetOld();
  }

  /** Of a long session the older half is forgotten where nothing is left: those calls ended long ago. */
  #forgetOld(): void {
    for (const signal of [...this.#signals.keys()].slice(0, mostSignals / 2)) {
      if (getEventListeners(signal, 'abort').length === 0) this.#signals.delete(signal);
    }
  }

  /** The same `fetch`, its signals watched. */
  watchFetch(fetched: typeof fetch): typeof fetch {
    return (input, init) => {
      this.watch(init?.signal, 'a request');
      return fetched(input, init);
    };
  }

  /** The same tools, their signals watched. `onStart` is told of each run. */
  watchTools(tools: readonly Tool[], onStart: (toolUseId: string) => void): readonly Tool[] {
    return tools.map((tool) => ({
      ...tool,
      run: (input, context) => {
        this.watch(context.signal, `the tool ${tool.name}`);
        onStart(context.toolUseId);
        return tool.run(input, context);
      },
    }));
  }

  /** The same hooks, their signals watched. */
  watchHooks(hooks: Partial<Hooks>): Hooks {
    const watched = Object.entries(hooks).map(([kind, list]) => [kind, list.map((hook) => this.#watchHook(hook))]);
    return { ...noHooks, ...Object.fromEntries(watched) } as Hooks;
  }

  /** A hook of any kind: what it is asked about passes through. */
  #watchHook(hook: Hooks[keyof Hooks][number]): unknown {
    const run = hook.run as (view: unknown, signal: AbortSignal) => unknown;
    return {
      ...hook,
      run: (view: unknown, signal: AbortSignal) => {
        this.watch(signal, `the hook ${hook.name}`);
        return run(view, signal);
      },
    };
  }

  /** What is left, one sentence each; forgets the signals of the query. `isGone`: nobody waits for its timers, as after the death of a process. */
  async found(isGone: boolean): Promise<readonly string[]> {
    await (isGone ? this.#time.die() : this.#time.settle());
    for (let look = 0; look < looks && childProcesses() > this.#known.processes; look += 1) await this.#time.settle();
    const now = { timers: this.#time.pending(), processes: childProcesses() };
    const timers = now.timers - this.#known.timers;
    const processes = now.processes - this.#known.processes;
    this.#known = now;
    const listeners = [...this.#signals].filter(([signal]) => getEventListeners(signal, 'abort').length > 0);
    this.#signals.clear();
    return [
      ...(timers > 0 ? [`${timers} timers are left.`] : []),
      ...(processes > 0 ? [`${processes} child processes are left.`] : []),
      ...new Set(listeners.map(([, name]) => `An abort listener is left on the signal of ${name}.`)),
    ];
  }
}

/** Child processes of this process that have not ended. */
function childProcesses(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'ProcessWrap').length;
}
