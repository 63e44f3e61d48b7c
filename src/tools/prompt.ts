/** Asks the host for permission and checks what it answers. */
import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import { type CallScope, guard } from './call.ts';
import type { CanUseTool, PermissionAnswer, PermissionRequest } from './can-use-tool.ts';
import { parseRule } from './permission-rules.ts';

const permissionRule = z
  .object({ behavior: z.enum(['allow', 'deny', 'ask']), rule: z.string() })
  .refine((rule) => isRule(rule), 'not a permission rule');

const answer: z.ZodType<PermissionAnswer> = z.discriminatedUnion('behavior', [
  z.object({
    behavior: z.literal('allow'),
    updatedInput: z.record(z.string(), z.json()).optional() as unknown as z.ZodType<JsonObject | undefined>,
    addedRules: z.array(permissionRule).readonly().optional(),
  }),
  z.object({
    behavior: z.literal('deny'),
    message: z.string().optional(),
    interrupt: z.boolean().optional(),
  }),
]);

function isRule(rule: PermissionRule): boolean {
  try {
    return parseRule(rule) !== null;
  } catch {
    return false;
  }
}

/** What came of asking: an answer, or why there is none. Null after an abort. */
export type Asked = { readonly answer: PermissionAnswer } | { readonly failed: string } | null;

/** Asks the host about a call. Never rejects; waits as long as the host does. */
export async function askUser(
  scope: CallScope,
  canUseTool: CanUseTool,
  input: JsonObject,
  request: Omit<PermissionRequest, 'signal' | 'toolUseId'>,
): Promise<Asked> {
  const { tool, call } = scope;
  const settled = await guard(scope, (signal) =>
    canUseTool(tool.name, structuredClone(input), { ...request, signal, toolUseId: call.toolUseId }),
  );
  switch (settled.type) {
    case 'value': {
      const parsed = answer.safeParse(settled.value);
      return parsed.success
        ? { answer: parsed.data }
        : { failed: 'the permission prompt gave an answer that is none.' };
    }
    case 'thrown':
      return { failed: `the permission prompt failed: ${settled.message}` };
    case 'timeout':
    case 'aborted':
      return null;
  }
}
