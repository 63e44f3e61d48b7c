/** Runs the stop hooks and makes one verdict of what they say. */
import type { AskHook } from '../tools/hook-port.ts';
import { askHook } from './ask-hook.ts';
import type { StopHook, StopView } from './hook.ts';
import { stopAnswer } from './hook-answers.ts';
import { noticesOf } from './hook-texts.ts';
import { selectHooks } from './select-hooks.ts';

/** What all stop hooks together say. */
export interface StopVerdict {
  /** What is still wrong, in the order of the hooks. */
  readonly errors: readonly string[];
  /** Why the query shall end; null: it need not. */
  readonly prevent: string | null;
  /** What hooks tell the user, and which crashed or hung; those count as a pass. */
  readonly notices: readonly string[];
}

/** Asks the hooks side by side; what they say is put together in the order of the list. Never rejects. */
export async function askStopHooks(all: readonly StopHook[], view: StopView, ask: AskHook): Promise<StopVerdict> {
  const hooks = selectHooks(all, [view.querySource.replace(/^agent:/, '')]);
  const replies = await Promise.all(
    hooks.map((hook) => askHook(hook, (signal) => hook.run({ ...view }, signal), stopAnswer, ask)),
  );
  const errors: string[] = [];
  const notices: string[] = [];
  let prevent: string | null = null;
  for (const [index, reply] of replies.entries()) {
    const { name } = hooks[index]!;
    if (reply.type === 'broken') notices.push(`The stop hook ${name} ${reply.why}`);
    if (reply.type !== 'answer') continue;
    notices.push(...noticesOf('stop', name, reply.answer?.notices));
    errors.push(...(reply.answer?.block ?? []).map((error) => blockReason(name, error)));
    prevent ??= preventReason(name, reply.answer?.prevent);
  }
  return { errors, prevent, notices };
}

/** The API refuses blank text, and a model can do nothing with it. */
function blockReason(name: string, error: string): string {
  return error.trim() === '' ? `The stop hook ${name} blocks and does not say why.` : error.toWellFormed();
}

function preventReason(name: string, reason: string | undefined): string | null {
  if (reason === undefined) return null;
  return reason.trim() === '' ? `The stop hook ${name} ended the query.` : reason.toWellFormed();
}
