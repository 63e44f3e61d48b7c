/** Runs one query for the command line: shows it, and handles Ctrl+C. */
import type { Emitted } from '../core/output.ts';
import type { LoopState, Terminal } from '../core/state.ts';
import type { QueryOptions } from '../query-options.ts';
import { type Query, query } from '../query.ts';
import { exitStatus } from './exit-status.ts';
import { describeThrown } from '../tools/thrown.ts';
import { type CliIo, UsageError } from './io.ts';
import type { Renderer } from './render.ts';
import type { TypedLines } from './typed-lines.ts';

export interface ShownQuery {
  readonly terminal: Terminal;
  readonly state: LoopState;
  readonly query: Query;
}

/**
 * Runs a query to its end. The first Ctrl+C interrupts it and keeps its history, the second ends the process. What
 * is typed meanwhile is said to it.
 *
 * @throws UsageError for an option that cannot be used.
 */
export async function runQuery(
  options: QueryOptions,
  renderer: Renderer,
  io: CliIo,
  { typed, expand }: Typing = { typed: null, expand: (line) => Promise.resolve(line) },
): Promise<ShownQuery> {
  const started = startQuery({
    ...options,
    beforeEvent: (_index, event) => {
      if (event.type === 'model.failed') renderer.requestFailed(event.failure.message);
    },
  });
  const stopListening = io.interrupts.handle(interrupter(started, renderer, io));
  let lastSent = Promise.resolve();
  typed?.begin((line) => {
    lastSent = lastSent.then(async () => void started.send(await expandOrTell(line, expand, io)));
  });
  try {
    const terminal = await showAll(started, renderer);
    typed?.end();
    // What was typed last is in `queued` before anyone looks there.
    await lastSent;
    const { state } = started;
    if (state === null) throw new Error('The query ended before it began.');
    const total = options.tokenBudget ?? null;
    const budget = total === null ? null : { total, used: state.query.budgetUsed };
    renderer.end({ terminal, budget, messages: state.carried.messages });
    return { terminal, state, query: started };
  } finally {
    typed?.end();
    stopListening();
  }
}

/** What a person types while the query runs, and what each line stands for. */
export interface Typing {
  readonly typed: TypedLines | null;
  readonly expand: (line: string) => Promise<string>;
}

/** A line that cannot be expanded is said as it was typed. */
async function expandOrTell(line: string, expand: Typing['expand'], io: CliIo): Promise<string> {
  try {
    return await expand(line);
  } catch (error) {
    io.err(`${describeThrown(error)}\n`);
    return line;
  }
}

/** Options are checked by `query()`, whose sentences are for users too. */
function startQuery(options: QueryOptions): Query {
  try {
    return query(options);
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

async function showAll(started: Query, renderer: Renderer): Promise<Terminal> {
  for (;;) {
    const result: IteratorResult<Emitted, Terminal> = await started.next();
    if (result.done === true) return result.value;
    renderer.show(result.value);
  }
}

function interrupter(started: Query, renderer: Renderer, io: CliIo): () => void {
  let isInterrupted = false;
  return () => {
    renderer.pause();
    if (isInterrupted) io.exit(exitStatus.interrupted);
    isInterrupted = true;
    io.err(io.colors.dim('\nInterrupted: the history is kept. Press Ctrl+C again to end at once.\n'));
    started.interrupt();
    renderer.resume();
  };
}
