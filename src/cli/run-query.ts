/** Runs one query for the command line: shows it, asks, and handles Ctrl+C. */
import type { Emitted } from '../core/output.ts';
import type { LoopState, Terminal } from '../core/state.ts';
import type { QueryOptions } from '../prepare.ts';
import { type Query, query } from '../query.ts';
import { exitStatus } from './exit-status.ts';
import type { CliIo } from './io.ts';
import type { Renderer } from './render.ts';

export interface ShownQuery {
  readonly terminal: Terminal;
  readonly state: LoopState;
  readonly query: Query;
}

/** Runs a query to its end. The first Ctrl+C interrupts it and keeps its history, the second ends the process. */
export async function runQuery(options: QueryOptions, renderer: Renderer, io: CliIo): Promise<ShownQuery> {
  const started = query(options);
  const stopListening = onInterrupt(started, renderer, io);
  try {
    const terminal = await showAll(started, renderer);
    const { state } = started;
    if (state === null) throw new Error('The query ended before it began.');
    renderer.end(terminal, modelOf(options, state), state.carried.messages);
    return { terminal, state, query: started };
  } finally {
    stopListening();
  }
}

async function showAll(started: Query, renderer: Renderer): Promise<Terminal> {
  for (;;) {
    const result: IteratorResult<Emitted, Terminal> = await started.next();
    if (result.done === true) return result.value;
    renderer.show(result.value);
  }
}

function modelOf(options: QueryOptions, state: LoopState): string {
  return [options.model ?? '', ...(options.fallbackModels ?? [])][state.query.modelIndex] ?? '';
}

function onInterrupt(started: Query, renderer: Renderer, io: CliIo): () => void {
  let count = 0;
  const interrupt = (): void => {
    count += 1;
    renderer.pause();
    if (count > 1) process.exit(exitStatus.interrupted);
    io.err(io.colors.dim('\nInterrupted: the history is kept. Press Ctrl+C again to end at once.\n'));
    started.interrupt();
  };
  process.on('SIGINT', interrupt);
  return () => void process.off('SIGINT', interrupt);
}
