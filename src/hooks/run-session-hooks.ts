/** Runs the hooks around prompts, compactions and questions to the user, and makes one of what they say. */
import type { z } from 'zod';
import type { AskHook } from '../tools/hook-port.ts';
import { askHook } from './ask-hook.ts';
import type { HookMatcher, HookNotices, Hooks, PromptView, SessionStartView } from './hook.ts';
import { noticesAnswer, promptAnswer, sessionStartAnswer } from './hook-answers.ts';
import { addContext, noticesOf } from './hook-texts.ts';
import { selectHooks } from './select-hooks.ts';

/** What the hooks before the first call say together. */
export interface PromptVerdict {
  /** Why the prompt must not pass; null: it may. */
  readonly blocked: string | null;
  /** For the model, one text each, with the name of the hook. */
  readonly contexts: readonly string[];
  /** What hooks tell the user, and which crashed or hung; those count as a pass. */
  readonly notices: readonly string[];
}

interface AnyHook<View, Answer> {
  readonly name: string;
  readonly timeoutMs?: number;
  readonly sideBySide?: boolean;
  readonly causes?: HookMatcher;
  readonly run: (view: View, signal: AbortSignal) => Answer | undefined | void | Promise<Answer | undefined | void>;
}

/** Asks SessionStart hooks (`start` null: the session has begun before), then UserPromptSubmit hooks. Never rejects. */
export async function askPromptHooks(
  hooks: Pick<Hooks, 'sessionStart' | 'userPromptSubmit'>,
  start: SessionStartView | null,
  prompt: PromptView | null,
  ask: AskHook,
): Promise<PromptVerdict> {
  const contexts: string[] = [];
  const notices: string[] = [];
  let blocked: string | null = null;
  const take = (kind: string, { name, answer, notices: said }: Reply<{ context?: string | undefined }>): void => {
    contexts.push(...addContext([], kind, name, answer?.context));
    notices.push(...said);
  };
  if (start !== null) {
    const replies = await askAll('SessionStart', hooks.sessionStart, [start.source], start, sessionStartAnswer, ask);
    for (const reply of replies) take('SessionStart', reply);
  }
  if (prompt !== null) {
    const replies = await askAll('UserPromptSubmit', hooks.userPromptSubmit, [], prompt, promptAnswer, ask);
    for (const reply of replies) {
      take('UserPromptSubmit', reply);
      blocked ??= blockReason(reply.name, reply.answer?.block);
    }
  }
  return { blocked, contexts, notices };
}

function blockReason(name: string, reason: string | undefined): string | null {
  if (reason === undefined) return null;
  return reason.trim() === '' ? `The UserPromptSubmit hook ${name} blocked the prompt.` : reason.toWellFormed();
}

/** Asks hooks that can say nothing but notices, those of the cause; what they and the engine say comes back. Never rejects. */
export async function askNoticeHooks<View extends object>(
  kind: string,
  hooks: readonly AnyHook<View, HookNotices>[],
  cause: string,
  view: View,
  ask: AskHook,
): Promise<readonly string[]> {
  const replies = await askAll(kind, hooks, [cause], view, noticesAnswer, ask);
  return replies.flatMap((reply) => reply.notices);
}

interface Reply<Answer> {
  readonly name: string;
  readonly answer: Answer | undefined;
  readonly notices: readonly string[];
}

/** Side by side; the replies stand in the order of the list. A hook that is broken is a notice; after an abort it says nothing. */
async function askAll<View extends object, Answer extends HookNotices>(
  kind: string,
  hooks: readonly AnyHook<View, Answer>[],
  causes: readonly string[],
  view: View,
  schema: z.ZodType<Answer | undefined>,
  ask: AskHook,
): Promise<readonly Reply<Answer>[]> {
  const wanted = selectHooks(hooks, causes);
  return Promise.all(
    wanted.map(async (hook) => {
      const { name } = hook;
      const reply = await askHook(hook, (signal) => hook.run({ ...view }, signal), schema, ask);
      if (reply.type === 'broken')
        return { name, answer: undefined, notices: [`The ${kind} hook ${name} ${reply.why}`] };
      if (reply.type === 'aborted') return { name, answer: undefined, notices: [] };
      return { name, answer: reply.answer, notices: noticesOf(kind, name, reply.answer?.notices) };
    }),
  );
}
