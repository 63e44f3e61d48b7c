/** What the flags say about budgets, the cost and the form of the final answer, as options of a query. */
import { isObject } from '../core/json.ts';
import type { QueryOptions } from '../query-options.ts';
import { takeBudget } from '../prompt-budget.ts';
import type { RunFlags } from './arguments.ts';
import { type CliIo, UsageError } from './io.ts';
import { readJson } from './simulate-command.ts';

/** What holds for every query of the command. */
export function limitOptions(flags: RunFlags, io: CliIo): Partial<QueryOptions> {
  const { taskBudget, smallModel, jsonSchema } = flags;
  const profile = flags.profile ?? (flags.baseUrl === undefined ? 'anthropic' : 'plain');
  if (taskBudget !== undefined && profile === 'plain') {
    throw new UsageError(
      '--task-budget does nothing with the profile plain: add --profile anthropic, or leave it out.',
    );
  }
  return {
    ...(taskBudget === undefined ? {} : { taskBudget }),
    ...(smallModel === undefined ? {} : { smallModel }),
    ...(jsonSchema === undefined ? {} : { outputSchema: readSchema(jsonSchema, io) }),
  };
}

/** What holds for one prompt: its budget goes before `--budget`, which is for the first prompt alone; the cap is for all. */
export function promptOptions(
  line: string,
  { budget, maxCost }: RunFlags,
  { isFirst, spent }: { readonly isFirst: boolean; readonly spent: number },
): Partial<QueryOptions> {
  const { prompt, tokens } = takeBudget(line);
  const tokenBudget = tokens ?? (isFirst ? budget : undefined);
  return {
    prompt,
    ...(tokenBudget === undefined ? {} : { tokenBudget }),
    ...capOptions(maxCost, spent),
  };
}

/** What is left of the cap; a cap that is used up lets nothing more start. */
export function capOptions(maxCost: number | undefined, spent: number): Partial<QueryOptions> {
  if (maxCost === undefined) return {};
  if (spent >= maxCost) {
    throw new UsageError(`The cost cap of $${maxCost} is used up: $${spent.toFixed(4)} was spent. Raise --max-cost.`);
  }
  return { maxCost: maxCost - spent };
}

/** JSON as it stands, or the name of a file that holds it. */
function readSchema(given: string, io: CliIo): NonNullable<QueryOptions['outputSchema']> {
  const schema = given.trimStart().startsWith('{') ? parseJson(given) : readJson(given, io);
  if (isObject(schema)) return schema as NonNullable<QueryOptions['outputSchema']>;
  throw new UsageError(`${given} of --json-schema holds no JSON schema: write an object, such as {"type": "object"}.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be read';
    throw new UsageError(`What stands behind --json-schema is no JSON: ${why}.`);
  }
}
