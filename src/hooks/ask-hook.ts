/** Asks one hook and checks what it says. */
import type { z } from 'zod';
import type { AskHook } from '../tools/hook-port.ts';
import { defaultHookTimeoutMs } from './hook.ts';

/** What came of asking a hook. */
export type HookReply<Answer> =
  | { readonly type: 'answer'; readonly answer: Answer }
  /** It threw, hung, or said nonsense; `why` completes the sentence "The hook ...". */
  | { readonly type: 'broken'; readonly why: string }
  | { readonly type: 'aborted' };

/** Asks a hook within its time and checks its answer with `schema`. Never rejects. */
export async function askHook<Answer>(
  hook: { readonly timeoutMs?: number },
  run: (signal: AbortSignal) => unknown,
  schema: z.ZodType<Answer>,
  ask: AskHook,
): Promise<HookReply<Answer>> {
  const timeoutMs = hook.timeoutMs ?? defaultHookTimeoutMs;
  const settled = await ask((signal) => check(run, signal, schema), timeoutMs);
  switch (settled.type) {
    case 'value':
      return settled.value;
    case 'thrown':
      return { type: 'broken', why: `crashed: ${settled.message}` };
    case 'timeout':
      return { type: 'broken', why: `gave no answer within ${timeoutMs / 1_000} seconds.` };
    case 'aborted':
      return { type: 'aborted' };
  }
}

async function check<Answer>(
  run: (signal: AbortSignal) => unknown,
  signal: AbortSignal,
  schema: z.ZodType<Answer>,
): Promise<HookReply<Answer>> {
  // `null` is what hooks that cross a JSON border say for nothing.
  const said = (await run(signal)) ?? undefined;
  const parsed = schema.safeParse(said);
  if (parsed.success) return { type: 'answer', answer: parsed.data };
  const issue = parsed.error.issues[0];
  return { type: 'broken', why: `gave an answer that is none: ${issue?.message ?? 'unknown shape'}.` };
}
