/** The format of a settings file: that of Claude Code, the parts that are used here. Keys of others are left alone. */
import { z } from 'zod';

const texts = z.array(z.string());

const command = z.looseObject({
  type: z.string(),
  command: z.string().optional(),
  /** Seconds. */
  timeout: z.number().positive().optional(),
});

const matchers = z.array(z.object({ matcher: z.string().optional(), hooks: z.array(command) }));

/** What is read of a file. Strict about what is used, whatever else stands there. */
const settingsSchema = z.object({
  permissions: z
    .object({
      allow: texts.optional(),
      deny: texts.optional(),
      ask: texts.optional(),
      defaultMode: z.string().optional(),
      additionalDirectories: texts.optional(),
      disableBypassPermissionsMode: z.string().optional(),
    })
    .optional(),
  hooks: z.record(z.string(), matchers).optional(),
  env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).optional(),
  model: z.string().min(1).optional(),
  disableAllHooks: z.boolean().optional(),
});

/** What a settings file says. */
export type SettingsFile = z.output<typeof settingsSchema>;

/** Checks the value of a settings file; a text is what is wrong, as the end of a sentence about the file. */
export function checkSettings(value: unknown): SettingsFile | string {
  const result = settingsSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.join('.') ?? '';
  return `at ${place === '' ? 'the top' : place}: ${issue?.message ?? 'unknown shape'}`;
}

/** Reads the text of a settings file; a text is what is wrong, as the end of a sentence about the file. */
export function parseSettings(text: string): SettingsFile | string {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return `it is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  return checkSettings(value);
}
