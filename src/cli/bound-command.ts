/** `escapement bound`: the worst case of a query, computed from its limits. */
import { bound, type Mechanism } from '../core/bound.ts';
import { boundWithSubAgents } from '../core/bound-tree.ts';
import type { LoopConfig } from '../core/config.ts';
import { type LoopOptions, toLoopConfig } from '../options.ts';
import { exitStatus } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';
import { readJson } from './simulate-command.ts';

/** What each share of the model calls is, in the order of the table. */
const names: { readonly [Name in Mechanism]: string } = {
  turns: 'turns',
  drains: 'drains of staged summaries',
  reactiveCompactions: 'after reactive compactions',
  escalations: 'escalations of the output cap',
  outputRecoveries: 'continuations of cut answers',
  stopHookBlocks: 'blocks by stop hooks',
  budgetContinuations: 'continuations for the token budget',
  malformedAnswers: 'malformed answers asked again',
  pauseTurns: 'paused answers sent back',
  thinkingOnly: 'answers of thinking only asked again',
  outputMismatches: 'answers that do not fit the schema asked again',
  fallbacks: 'fallbacks to another model',
  retries: 'retries of all of these',
  oneShotResends: 'one-shot resends',
};

/** Prints the bound of the defaults, or of the options in a file, with the share of each mechanism. */
export function boundCommand(file: string | null, io: CliIo): number {
  const options = file === null ? {} : readJson(file, io);
  const config = configOf(options);
  const { modelCalls, summaryCalls, toolFreeIterations, turns, shares } = bound(config);
  const scope = config.maxTurns === null ? 'for each turn' : `for all ${turns} turns together`;
  io.out(`at most ${modelCalls} model calls and ${summaryCalls} summary calls, ${scope}\n`);
  io.out(`at most ${toolFreeIterations} iterations in a row without a tool\n\nmodel calls by what causes them:\n`);
  for (const [name, words] of Object.entries(names)) {
    const calls = shares[name as Mechanism];
    if (calls > 0) io.out(`${String(calls).padStart(7)}  ${words}\n`);
  }
  io.out(`\n${treeText(config)}\n`);
  return exitStatus.done;
}

/** What sub-agents may add, where the query has the tool Agent. */
function treeText(config: LoopConfig): string {
  const { modelCalls, summaryCalls, queries } = boundWithSubAgents(config);
  if (queries === 1) return 'no sub-agents may start';
  const agents = `${queries - 1} sub-agents`;
  if (!Number.isFinite(modelCalls))
    return `with ${agents} there is no bound: set maxTurns, which holds for each of them`;
  return `with ${agents}: at most ${modelCalls} model calls and ${summaryCalls} summary calls together`;
}

function configOf(options: unknown): LoopConfig {
  try {
    return toLoopConfig(options as LoopOptions, { modelLimits: {}, stopHooks: true, microcompactor: null });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
