/** `escapement bound`: the worst case of a query, computed from its limits. */
import { bound } from '../core/bound.ts';
import { type LoopOptions, toLoopConfig } from '../options.ts';
import { exitStatus } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';
import { readJson } from './simulate-command.ts';

/** Prints the bound of the defaults, or of the options in a file. */
export function boundCommand(file: string | null, io: CliIo): number {
  const options = file === null ? {} : readJson(file, io);
  const { modelCalls, summaryCalls, turns } = bound(configOf(options));
  const scope = turns === 1 ? 'for each turn' : `for all ${turns} turns together`;
  io.out(`at most ${modelCalls} model calls and ${summaryCalls} summary calls, ${scope}\n`);
  return exitStatus.done;
}

function configOf(options: unknown): ReturnType<typeof toLoopConfig> {
  try {
    return toLoopConfig(options as LoopOptions, { modelLimits: {}, stopHooks: true, microcompactor: null });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
