/**
 * The one way in which every tool is run. Stages, in this order: look-up, abort check, schema, semantic validation,
 * backfill on a copy, start of the tool's own permission check, PreToolUse hooks, permission, denial, run, result budget,
 * PostToolUse hooks, new messages. Each may end the call; the outcome says which one did.
 */
import type { ToolOutcome } from '../core/state.ts';
import { askHooks, contextBlocks } from './ask-hooks.ts';
import { askPermission, type StartedCheck, startCheck } from './ask-permission.ts';
import { abortedOutcome, type CallIo, type CallScope, type PipelineDeps, scopeOf, type ToolCall } from './call.ts';
import { errorOutcome } from './outcome.ts';
import { type ReadInput, readInput } from './read-input.ts';
import type { ToolRegistry } from './registry.ts';
import { runGranted, withinBudget } from './run-call.ts';
import { oneLine } from './text.ts';
import { describeThrown } from './thrown.ts';

/** Runs one call to its outcome. Never rejects. After an abort the outcome has the stage `abort` and is for nobody. */
export async function runPipeline(call: ToolCall, deps: PipelineDeps, io: CallIo): Promise<ToolOutcome> {
  try {
    const registry = deps.registry();
    const tool = registry.find(call.name);
    if (tool === null) return unknownTool(call.name, registry);
    if (io.signal.aborted) return abortedOutcome();
    return await runStages(scopeOf(tool, call, deps, io));
  } catch (error) {
    // Foreign code is guarded where it is called, so this is a bug; the turn goes on all the same.
    return errorOutcome('pipeline', `The call failed inside the engine: ${describeThrown(error)}`);
  }
}

async function runStages(scope: CallScope): Promise<ToolOutcome> {
  const read = await readInput(scope, scope.call.input, null);
  if ('outcome' in read) return read.outcome;
  const check = startCheck(scope, read.value);
  try {
    const outcome = await runChecked(scope, read.value, check);
    // What a hook, a rule or the user said instead of a result may be too long as well.
    return outcome.whole === null ? await withinBudget(scope, outcome) : outcome;
  } finally {
    check.cancel();
  }
}

async function runChecked(scope: CallScope, input: ReadInput, check: StartedCheck): Promise<ToolOutcome> {
  const hooked = await askHooks(scope, input);
  if ('outcome' in hooked) return hooked.outcome;
  const permitted = await askPermission(scope, hooked.value, check);
  if (scope.io.signal.aborted) return abortedOutcome();
  const outcome = 'outcome' in permitted ? permitted.outcome : await runGranted(scope, permitted.value);
  const contexts = contextBlocks(scope, hooked.value.verdict?.contexts ?? []);
  return { ...outcome, attachments: [...contexts, ...outcome.attachments] };
}

/** Models make up names; the known ones put them right. */
function unknownTool(name: string, registry: ToolRegistry): ToolOutcome {
  const known = registry.tools.map((tool) => tool.name).join(', ');
  const rest = known === '' ? 'There are no tools.' : `The tools are: ${known}.`;
  return errorOutcome('lookup', `No tool goes by the name ${JSON.stringify(oneLine(name, 100))}. ${rest}`);
}
