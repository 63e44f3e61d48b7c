/**
 * Checks what hooks answer. Hooks are foreign code, and an unknown key is nonsense: a misspelt `deny` must not pass.
 */
import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import type {
  HookNotices,
  PostToolUseAnswer,
  PreToolUseAnswer,
  PromptAnswer,
  SessionStartAnswer,
  StopAnswer,
} from './hook.ts';

const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;
const text = z.string().optional();
const texts = z.array(z.string()).readonly().optional();

/** Checks what a PreToolUse hook answers. */
export const preToolUseAnswer: z.ZodType<PreToolUseAnswer | undefined> = z
  .strictObject({
    decision: z.enum(['allow', 'deny', 'ask']).optional(),
    reason: text,
    input: jsonObject.optional(),
    context: text,
    stop: text,
    notices: texts,
  })
  .optional();

/** Checks what a PostToolUse hook answers. */
export const postToolUseAnswer: z.ZodType<PostToolUseAnswer | undefined> = z
  .strictObject({ context: text, stop: text, output: text, notices: texts })
  .optional();

/** Checks what a Stop hook answers. */
export const stopAnswer: z.ZodType<StopAnswer | undefined> = z
  .strictObject({ block: texts, prevent: text, notices: texts })
  .optional();

/** Checks what a UserPromptSubmit hook answers. */
export const promptAnswer: z.ZodType<PromptAnswer | undefined> = z
  .strictObject({ block: text, context: text, notices: texts })
  .optional();

/** Checks what a SessionStart hook answers. */
export const sessionStartAnswer: z.ZodType<SessionStartAnswer | undefined> = z
  .strictObject({ context: text, notices: texts })
  .optional();

/** Checks what a hook answers that can say nothing but notices. */
export const noticesAnswer: z.ZodType<HookNotices | undefined> = z.strictObject({ notices: texts }).optional();
