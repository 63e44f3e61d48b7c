/** The first stages of a call: does the input fit, does it make sense, what does it look like filled in? */
import type { JsonObject } from '../core/json.ts';
import { abortedOutcome, type CallScope, guard, type Step } from './call.ts';
import { describeIssues } from './describe-issues.ts';
import { jsonCopy } from './hash.ts';
import { errorOutcome, type PipelineStage } from './outcome.ts';
import { describeThrown } from './thrown.ts';

/** An input that passed: as the tool gets it, and as hooks, prompts and hashes see it. */
export interface ReadInput {
  /** What the schema made of it, backfilled. */
  readonly parsed: unknown;
  /** The same as plain JSON. */
  readonly json: JsonObject;
}

/** Who made an input that is not the model's own, and the stage in which that happened. */
export interface InputAuthor {
  readonly name: string;
  readonly stage: PipelineStage;
}

/**
 * Schema, semantic validation, backfill. `author` is null for the model's own input; errors name any other. The input
 * itself is never changed: the transcript keeps what the model wrote.
 */
export async function readInput(
  scope: CallScope,
  input: JsonObject,
  author: InputAuthor | null,
): Promise<Step<ReadInput>> {
  const { tool } = scope;
  const parsed = await guard(scope, () => tool.input.safeParseAsync(jsonCopy(input)));
  if (parsed.type === 'thrown') return failed('schema', scope, author, parsed.message);
  if (parsed.type !== 'value') return { outcome: abortedOutcome() };
  if (!parsed.value.success)
    return failed('schema', scope, author, describeIssues(parsed.value.error, 'the input itself'));
  return finish(scope, parsed.value.data, author);
}

async function finish(scope: CallScope, parsed: unknown, author: InputAuthor | null): Promise<Step<ReadInput>> {
  const { tool, context } = scope;
  const objection = await guard(scope, () => tool.validate(parsed, context));
  if (objection.type === 'thrown') return failed('validation', scope, author, objection.message);
  if (objection.type !== 'value') return { outcome: abortedOutcome() };
  if (objection.value !== null) return failed('validation', scope, author, objection.value);
  try {
    const filled = tool.backfill(parsed, context);
    return { value: { parsed: filled, json: jsonCopy(filled) as JsonObject } };
  } catch (error) {
    return failed('validation', scope, author, describeThrown(error));
  }
}

function failed(
  stage: 'schema' | 'validation',
  scope: CallScope,
  author: InputAuthor | null,
  why: string,
): Step<never> {
  const whose = author === null ? 'The input' : `The input that ${author.name} made`;
  const text = stage === 'schema' ? `${whose} does not fit ${scope.tool.name}:\n${why}` : why;
  return { outcome: errorOutcome(author?.stage ?? stage, text) };
}
