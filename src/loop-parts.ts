/** The parts of a query for hosts with a runtime of their own. */
import { randomUUID } from 'node:crypto';
import type { LoopConfig } from './core/config.ts';
import type { QueryStart } from './core/initial-state.ts';
import type { EffectRunners } from './effects/io.ts';
import { prepare } from './prepare.ts';
import type { QueryOptions } from './query-options.ts';
import { query } from './query.ts';

/** What a host of one's own needs to run the loop without `query()`. */
export interface LoopParts {
  readonly config: LoopConfig;
  /** For `initialState`, or for the machine's input. */
  readonly start: QueryStart;
  /** For `loopActors`, or to perform the effects of `step` with `performEffect`. */
  readonly runners: EffectRunners;
  /** Closes the MCP servers that were started for these parts. Call it when the loop has ended. Never rejects. */
  readonly close: () => Promise<void>;
}

/**
 * The parts of `query()`: give them to the chart, or to `step` and a loop of your own. Asks the server for the limits
 * of the models unless the options name them.
 *
 * @throws TypeError as `query()` does.
 */
export async function loopParts(
  options: Omit<QueryOptions, 'journal' | 'resume' | 'signal' | 'inspect' | 'parent' | 'beforeEvent'>,
): Promise<LoopParts> {
  const prepared = prepare(options, query);
  const { config, start, runners } = await prepared.resolve(new AbortController().signal);
  const { close } = prepared;
  return { config, start: { ...start, seed: (options.deps?.uuid ?? randomUUID)() }, runners, close };
}
