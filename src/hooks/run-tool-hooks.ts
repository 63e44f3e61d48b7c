/** Runs the hooks around a tool call and makes one verdict of what they say. */
import type { JsonObject } from '../core/json.ts';
import type {
  AskHook,
  PostToolUseVerdict,
  PreToolUseVerdict,
  ToolCallView,
  ToolHooks,
  ToolResultView,
} from '../tools/hook-port.ts';
import { askHook } from './ask-hook.ts';
import type { Hooks, PostToolUseAnswer, PostToolUseHook, PreToolUseAnswer, PreToolUseHook } from './hook.ts';
import { postToolUseAnswer, preToolUseAnswer } from './hook-answers.ts';
import { addContext, noticesOf } from './hook-texts.ts';
import { selectHooks } from './select-hooks.ts';

const strength = { pass: 0, allow: 1, unsure: 2, ask: 3, deny: 4 } as const;

/** The function hooks of a query in the form that the pipeline asks for. */
export function createToolHooks(hooks: Pick<Hooks, 'preToolUse' | 'postToolUse'>): ToolHooks {
  return {
    preToolUse(names) {
      const wanted = selectHooks(hooks.preToolUse, names);
      return wanted.length === 0 ? null : (call, ask) => runPreToolUseHooks(wanted, call, ask);
    },
    postToolUse(names) {
      const wanted = selectHooks(hooks.postToolUse, names);
      return wanted.length === 0 ? null : (call, ask) => runPostToolUseHooks(wanted, call, ask);
    },
  };
}

/**
 * Asks the hooks one after another, each about the input as the ones before it left it, those that are asked side by side
 * as one; a denial or a stop ends the round.
 */
async function runPreToolUseHooks(
  hooks: readonly PreToolUseHook[],
  call: ToolCallView,
  ask: AskHook,
): Promise<PreToolUseVerdict | null> {
  let verdict: PreToolUseVerdict = nothingSaid;
  for (const batch of batchesOf(hooks)) {
    const input = verdict.input ?? call.input;
    const replies = await Promise.all(
      batch.map((hook) => {
        const view = { ...call, input: structuredClone(input) };
        return askHook(hook, (signal) => hook.run(view, signal), preToolUseAnswer, ask);
      }),
    );
    for (const [index, reply] of replies.entries()) {
      const { name } = batch[index]!;
      if (reply.type === 'aborted') return null;
      verdict =
        reply.type === 'broken' ? addUnsure(verdict, name, reply.why) : addAnswer(verdict, name, reply.answer ?? {});
    }
    if (verdict.behavior === 'deny' || verdict.stop !== null) return verdict;
  }
  return verdict;
}

/** Neighbours that are asked side by side are one batch, every other hook is one by itself. */
function batchesOf(hooks: readonly PreToolUseHook[]): readonly (readonly PreToolUseHook[])[] {
  const batches: PreToolUseHook[][] = [];
  for (const hook of hooks) {
    const last = batches.at(-1);
    if (hook.sideBySide === true && last?.[0]?.sideBySide === true) last.push(hook);
    else batches.push([hook]);
  }
  return batches;
}

const nothingSaid: PreToolUseVerdict = {
  behavior: 'pass',
  by: null,
  reason: null,
  input: null,
  contexts: [],
  stop: null,
  notices: [],
};

function addUnsure(verdict: PreToolUseVerdict, name: string, why: string): PreToolUseVerdict {
  const notice = `The PreToolUse hook ${name} ${why}`;
  return { ...strengthen(verdict, 'unsure', name, notice), notices: [...verdict.notices, notice] };
}

function addAnswer(verdict: PreToolUseVerdict, name: string, answer: PreToolUseAnswer): PreToolUseVerdict {
  const changed = answer.input === undefined ? verdict : changeInput(verdict, answer.input);
  const decided = strengthen(changed, answer.decision ?? 'pass', name, answer.reason ?? null);
  return {
    ...decided,
    contexts: addContext(decided.contexts, 'PreToolUse', name, answer.context),
    stop: decided.stop ?? (answer.stop === undefined ? null : stopReason(name, answer.stop)),
    notices: [...decided.notices, ...noticesOf('PreToolUse', name, answer.notices)],
  };
}

/** An approval belongs to the input that it was given for: a later change voids it. */
function changeInput(verdict: PreToolUseVerdict, input: JsonObject): PreToolUseVerdict {
  if (verdict.behavior !== 'allow') return { ...verdict, input };
  return { ...verdict, input, behavior: 'pass', by: null, reason: null };
}

function strengthen(
  verdict: PreToolUseVerdict,
  behavior: PreToolUseVerdict['behavior'],
  by: string,
  reason: string | null,
): PreToolUseVerdict {
  return strength[behavior] > strength[verdict.behavior] ? { ...verdict, behavior, by, reason } : verdict;
}

function stopReason(name: string, reason: string): string {
  return reason.trim() === '' ? `The hook ${name} stopped the loop.` : reason.toWellFormed();
}

/** Asks the hooks side by side; what they say is put together in the order of the list. */
async function runPostToolUseHooks(
  hooks: readonly PostToolUseHook[],
  call: ToolResultView,
  ask: AskHook,
): Promise<PostToolUseVerdict | null> {
  const replies = await Promise.all(
    hooks.map((hook) => {
      const view = structuredClone(call);
      return askHook(hook, (signal) => hook.run(view, signal), postToolUseAnswer, ask);
    }),
  );
  let verdict: PostToolUseVerdict = { contexts: [], stop: null, output: null, broken: [], notices: [] };
  for (const [index, reply] of replies.entries()) {
    const { name } = hooks[index]!;
    if (reply.type === 'aborted') return null;
    if (reply.type === 'answer') verdict = addPostAnswer(verdict, name, reply.answer ?? {});
    else verdict = { ...verdict, broken: [...verdict.broken, `The PostToolUse hook ${name} ${reply.why}`] };
  }
  return verdict;
}

function addPostAnswer(verdict: PostToolUseVerdict, name: string, answer: PostToolUseAnswer): PostToolUseVerdict {
  return {
    ...verdict,
    contexts: addContext(verdict.contexts, 'PostToolUse', name, answer.context),
    stop: verdict.stop ?? (answer.stop === undefined ? null : stopReason(name, answer.stop)),
    output: answer.output?.toWellFormed() ?? verdict.output,
    notices: [...verdict.notices, ...noticesOf('PostToolUse', name, answer.notices)],
  };
}
