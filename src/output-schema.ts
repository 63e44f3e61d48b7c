/** The option `outputSchema`: what the final answer must look like, as zod or as a JSON schema, made ready for the loop. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { z } from 'zod';
import type { LoopConfig } from './core/config.ts';
import type { Json, JsonObject } from './core/json.ts';
import type { CheckValue } from './effects/check-output.ts';
import { describeIssues, issueLine, issueLines } from './tools/describe-issues.ts';
import { jsonCopy } from './tools/hash.ts';
import { describeThrown } from './tools/thrown.ts';

/** A zod schema, or a JSON schema as an object. */
export type OutputSchema = z.core.$ZodType | JsonObject;

const whole = 'the answer itself';

function isZod(schema: OutputSchema): schema is z.core.$ZodType {
  return '_zod' in schema;
}

/**
 * The JSON schema of the option.
 *
 * @throws TypeError with one sentence when there is none.
 */
export function outputJsonSchema(schema: OutputSchema): JsonObject {
  if (!isZod(schema)) return schema;
  try {
    // What the model writes is the input side: defaults are optional there, transforms have not happened.
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    return jsonCopy(rest) as JsonObject;
  } catch (error) {
    throw new TypeError(`outputSchema has no JSON schema: ${describeThrown(error)} Use a schema that JSON can say.`, {
      cause: error,
    });
  }
}

/**
 * The check of a parsed answer.
 *
 * @throws TypeError with one sentence for an object that is no JSON schema.
 */
export function outputCheck(schema: OutputSchema): CheckValue {
  return isZod(schema) ? zodCheck(schema) : jsonSchemaCheck(schema);
}

function zodCheck(schema: z.core.$ZodType): CheckValue {
  return async (value) => {
    const parsed = await z.safeParseAsync(schema, value);
    if (!parsed.success) return { type: 'mismatch', error: describeIssues(parsed.error, whole) };
    // What a transform makes may be no JSON; it enters the state, so it becomes some. Undefined is null there.
    return { type: 'fits', value: jsonCopy(parsed.data ?? null) as Json };
  };
}

function jsonSchemaCheck(schema: JsonObject): CheckValue {
  const validate = compile(schema);
  return (value) => {
    if (validate(value)) return Promise.resolve({ type: 'fits', value });
    return Promise.resolve({ type: 'mismatch', error: describeErrors(validate.errors ?? []) });
  };
}

function compile(schema: JsonObject): ValidateFunction {
  // Formats are remarks by the standard, and unknown words are allowed.
  const options = { allErrors: true, strict: false, validateFormats: false, logger: false } as const;
  const { $schema: dialect, ...rest } = schema;
  try {
    const isOld = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
    return (isOld ? new Ajv(options) : new Ajv2020(options)).compile(rest);
  } catch (error) {
    throw new TypeError(`outputSchema is no JSON schema: ${describeThrown(error)}.`, { cause: error });
  }
}

function describeErrors(errors: readonly ErrorObject[]): string {
  const lines = errors.map(({ instancePath, message = 'does not fit', params }) => {
    const path = instancePath
      .split('/')
      .slice(1)
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
    return issueLine(path, `${message}${detailOf(params)}`, whole);
  });
  return issueLines(lines);
}

/** What the sentence of a JSON schema validator leaves out. */
function detailOf(params: ErrorObject['params']): string {
  const { additionalProperty, allowedValues } = params as {
    readonly additionalProperty?: unknown;
    readonly allowedValues?: unknown;
  };
  if (typeof additionalProperty === 'string') return `: "${additionalProperty}"`;
  return allowedValues === undefined ? '' : `: ${JSON.stringify(allowedValues)}`;
}

/** What an option becomes in the configuration. */
type OutputConfig = Pick<LoopConfig, 'outputSchema' | 'outputBy' | 'system'>;

/** What decides how the model learns of the schema. */
type OutputFacts = Pick<LoopConfig, 'profile' | 'models' | 'modelLimits' | 'system'>;

/**
 * The API holds an answer to the schema where it can: profile `anthropic`, every model of the query able to, and a
 * schema that the API can say. Everywhere else the system prompt asks for it. The check is the same.
 */
export function outputConfig(schema: JsonObject | null, facts: OutputFacts): OutputConfig {
  const { system } = facts;
  if (schema === null) return { outputSchema: null, outputBy: 'format', system };
  const format = mayUseFormat(facts) ? formatOf(schema) : null;
  if (format !== null) return { outputSchema: format, outputBy: 'format', system };
  return { outputSchema: schema, outputBy: 'prompt', system: [system, promptFor(schema)].filter(Boolean).join('\n\n') };
}

function mayUseFormat({ profile, models, modelLimits }: OutputFacts): boolean {
  return profile === 'anthropic' && models.every((model) => modelLimits[model]?.structuredOutputs !== false);
}

/** The schema as the API takes it, what it does not know moved into descriptions; null where that would say another thing. */
function formatOf(schema: JsonObject): JsonObject | null {
  if (!canSay(schema)) return null;
  try {
    return jsonCopy(transformJSONSchema(schema));
  } catch {
    return null;
  }
}

/** The API has no objects with keys of their own choice, and no schema that holds itself. */
function canSay(schema: Json): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  if (Array.isArray(schema)) return (schema as readonly Json[]).every(canSay);
  const members = schema as JsonObject;
  const { additionalProperties, patternProperties, $ref } = members;
  if (typeof additionalProperties === 'object' && additionalProperties !== null) return false;
  if (patternProperties !== undefined || typeof $ref === 'string') return false;
  if (members['type'] === 'object' && members['properties'] === undefined) return false;
  return Object.values(members).every((member) => canSay(member ?? null));
}

function promptFor(schema: JsonObject): string {
  return `When you are done, answer with JSON that fits this JSON schema, and with nothing else: no other text, no code fence.\n${JSON.stringify(schema)}`;
}
