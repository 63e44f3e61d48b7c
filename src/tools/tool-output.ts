/** What a tool returned, checked: tools are foreign code, and what they say goes into a journal and to the API. */
import { z } from 'zod';
import type { ModelUsage, UserBlock } from '../core/message.ts';
import type { ContextChange } from '../core/tools/context.ts';
import { jsonCopy } from './hash.ts';
import type { ToolContent } from './tool.ts';

/** A tool's output with every default filled in. */
export interface CheckedOutput {
  readonly content: readonly ToolContent[];
  readonly isError: boolean;
  readonly cancelsSiblings: boolean;
  readonly contextChanges: readonly ContextChange[];
  readonly attachments: readonly UserBlock[];
  readonly spent: readonly ModelUsage[];
  readonly cost?: number | null;
}

const jsonObject = z.record(z.string(), z.json());

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image'),
    source: z.discriminatedUnion('type', [
      z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
      z.object({ type: z.literal('url'), url: z.string() }),
    ]),
  }),
  z.object({ type: z.literal('document'), source: jsonObject, title: z.string().optional() }),
]);

const rule = z.object({ behavior: z.enum(['allow', 'deny', 'ask']), rule: z.string() });

const change = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('fileRead'),
    path: z.string(),
    record: z.object({ mtimeMs: z.number(), hash: z.string(), partial: z.boolean() }),
  }),
  z.object({
    type: z.literal('permissionMode'),
    mode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions']),
  }),
  z.object({ type: z.literal('ruleAdded'), rule }),
]);

const tokens = z.number().nonnegative();
const usage = z.object({ input: tokens, output: tokens, cacheRead: tokens, cacheCreation: tokens });

const output = z.object({
  content: z.union([z.string(), z.array(block)]),
  isError: z.boolean().default(false),
  cancelsSiblings: z.boolean().default(false),
  contextChanges: z.array(change).default([]),
  attachments: z.array(block).default([]),
  spent: z.array(z.object({ model: z.string(), usage })).default([]),
  cost: z.number().nonnegative().nullable().optional(),
});

/** Checks what a tool returned; null when it is neither text nor a `ToolOutput`. Nothing (`undefined`) is empty text. */
export function checkOutput(value: unknown): CheckedOutput | null {
  const said = value === undefined || typeof value === 'string' ? { content: value ?? '' } : value;
  const parsed = output.safeParse(said);
  if (!parsed.success) return null;
  const { content, ...rest } = parsed.data;
  // The copy drops members that are there and undefined: an event must be the same after a trip through JSON.
  return jsonCopy({
    ...rest,
    content: typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content,
  }) as CheckedOutput;
}
