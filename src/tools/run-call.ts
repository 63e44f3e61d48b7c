/** The last stages of a call: the tool runs, its result is brought to size, the PostToolUse hooks have their say. */
import type { ToolOutcome } from '../core/state.ts';
import { contextBlocks, viewOf } from './ask-hooks.ts';
import type { Granted } from './ask-permission.ts';
import { abortedOutcome, askWithin, type CallScope, guard } from './call.ts';
import { fitImages } from './fit-images.ts';
import { hashInput } from './hash.ts';
import { attach, errorOutcome, outcomeOf } from './outcome.ts';
import { applyResultBudget } from './result-budget.ts';
import { checkOutput } from './tool-output.ts';

/** Runs a call that may run. Never rejects: whatever is thrown, returned or never returned becomes an outcome. */
export async function runGranted(scope: CallScope, granted: Granted): Promise<ToolOutcome> {
  scope.io.began();
  const ran = await runTool(scope, granted);
  if (ran.stage === 'abort') return ran;
  const changed = { ...ran, contextChanges: [...granted.contextChanges, ...ran.contextChanges] };
  const fitting = await withinBudget(scope, changed);
  return afterHooks(scope, granted, changed, fitting);
}

async function runTool(scope: CallScope, { parsed, outside }: Granted): Promise<ToolOutcome> {
  const { tool, context, io } = scope;
  let running = true;
  const progress = (text: string): void => {
    if (running) io.progress(text);
  };
  const settled = await guard(
    scope,
    (signal) => tool.run(parsed, { ...context, signal, progress, outsideAllowed: outside }),
    tool.timeoutMs,
  );
  running = false;
  switch (settled.type) {
    case 'value':
      return returned(scope, settled.value);
    case 'thrown':
      return errorOutcome('run', settled.message);
    case 'timeout':
      return errorOutcome(
        'timeout',
        `${tool.name} ran longer than ${(tool.timeoutMs ?? 0) / 1_000} seconds and was stopped.`,
      );
    case 'aborted':
      return abortedOutcome();
  }
}

function returned({ tool }: CallScope, value: unknown): ToolOutcome {
  const output = checkOutput(value);
  if (output === null)
    return errorOutcome('run', `${tool.name} returned neither text nor content blocks: a bug of the tool.`);
  const { content, isError, cancelsSiblings, contextChanges, attachments, spent, cost } = output;
  const paid = spent.length === 0 ? {} : { spent, ...(cost === undefined ? {} : { cost }) };
  return attach({ ...outcomeOf('run', content, isError), ...paid, cancelsSiblings, contextChanges }, attachments);
}

/** The outcome with what the model gets of it: images scaled down, a text over the limit in the store. */
export async function withinBudget({ tool, deps, call }: CallScope, outcome: ToolOutcome): Promise<ToolOutcome> {
  const { store, scaleImage } = deps;
  const content = await fitImages(outcome.content, scaleImage);
  const fitting = await applyResultBudget(content, tool.maxResultSizeChars, store, call.toolUseId);
  return { ...outcome, ...fitting, attachments: await fitImages(outcome.attachments, scaleImage) };
}

/** The hooks see the result as the tool gave it, the model gets `fitting`. A broken hook makes it an error that keeps the output. */
async function afterHooks(
  scope: CallScope,
  granted: Granted,
  ran: ToolOutcome,
  fitting: ToolOutcome,
): Promise<ToolOutcome> {
  const { deps, tool, io } = scope;
  const ask = deps.hooks.postToolUse([tool.name, ...tool.aliases]);
  if (ask === null) return fitting;
  const view = { ...viewOf(scope, granted.json), content: ran.content, isError: ran.isError };
  const verdict = await ask(view, askWithin(scope));
  if (verdict === null) return abortedOutcome();
  const { broken, stop, contexts, notices } = verdict;
  io.decided({ kind: 'postToolUse', inputHash: hashInput(granted.json), answer: { ...verdict } });
  for (const notice of [...broken, ...notices]) io.notice(notice);
  const replaced = await withOutput(scope, fitting, verdict.output);
  const outcome = broken.length === 0 ? replaced : brokenOutcome(replaced, broken);
  const stage = stop === null ? outcome.stage : 'postToolUse';
  return attach({ ...outcome, stop, stage }, contextBlocks(scope, contexts));
}

/** What a hook puts in the place of a result; the results of own tools are what they are. */
async function withOutput(scope: CallScope, outcome: ToolOutcome, output: string | null): Promise<ToolOutcome> {
  if (output === null || !scope.tool.name.startsWith('mcp__')) return outcome;
  const { content } = outcomeOf('postToolUse', [{ type: 'text', text: output }], outcome.isError);
  return withinBudget(scope, { ...outcome, stage: 'postToolUse', whole: null, content });
}

function brokenOutcome(outcome: ToolOutcome, broken: readonly string[]): ToolOutcome {
  const text = `${broken.join('\n')}\nThe tool had ended before that; this is its output:`;
  const { content, attachments } = outcomeOf('postToolUse', [{ type: 'text', text }, ...outcome.content], true);
  return attach({ ...outcome, stage: 'postToolUse', isError: true, content }, attachments);
}
