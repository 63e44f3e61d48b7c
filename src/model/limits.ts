/** What models can hold and say. */
import type Anthropic from '@anthropic-ai/sdk';
import type { ModelLimits } from '../core/config.ts';

/**
 * Limits of well-known models in tokens, for when the server does not tell: context window and largest output.
 * Source: the model overview of the API's documentation, late 2026.
 */
const known: readonly (readonly [RegExp, ModelLimits])[] = [
  [/^claude-(fable|mythos|opus|sonnet|haiku)-5/, { contextWindow: 1_000_000, maxOutput: 128_000 }],
  // Its own error text names the limit: "max_tokens: 250000 > 128000, which is the maximum allowed".
  [/^claude-opus-4-7/, { contextWindow: 200_000, maxOutput: 128_000 }],
  [/^claude-(opus|sonnet)-4-[678]/, { contextWindow: 200_000, maxOutput: 64_000 }],
  [/^claude-(opus|sonnet|haiku)-4-5/, { contextWindow: 200_000, maxOutput: 64_000 }],
];

/** Longest wait for an answer about a model, in milliseconds: a query must not hang on it. */
const lookUpMs = 5_000;

/** Limits by the table; null for a model that is not in it. */
export function knownLimits(model: string): ModelLimits | null {
  return known.find(([pattern]) => pattern.test(model))?.[1] ?? null;
}

/** Limits of each model: what the server says, else the table. A model that neither knows is left out. */
export async function findLimits(
  client: () => Anthropic,
  models: readonly string[],
  signal?: AbortSignal,
): Promise<Readonly<Record<string, ModelLimits>>> {
  const found = await Promise.all(models.map(async (model) => [model, await limitsOf(client, model, signal)] as const));
  return Object.fromEntries(found.flatMap(([model, limits]) => (limits === null ? [] : [[model, limits]])));
}

async function limitsOf(client: () => Anthropic, model: string, signal?: AbortSignal): Promise<ModelLimits | null> {
  try {
    const options = { timeout: lookUpMs, ...(signal ? { signal } : {}) };
    const info = await client().beta.models.retrieve(model, {}, options);
    const { max_input_tokens: contextWindow, max_tokens: maxOutput, capabilities } = info;
    if (contextWindow !== null && maxOutput !== null && contextWindow > 0 && maxOutput > 0) {
      // Servers that are not the API's own leave out what they do not know.
      const onDemandCompaction = capabilities?.compaction?.summarize?.supported === true;
      const supported = capabilities?.structured_outputs?.supported;
      const said = typeof supported === 'boolean' ? { structuredOutputs: supported } : {};
      return { contextWindow, maxOutput, onDemandCompaction, ...said };
    }
  } catch {
    // Many servers do not know this route; what is wrong with the connection will show at the first request.
  }
  return knownLimits(model);
}

/** What the table knows of these models, by name. */
export function tableLimits(models: readonly string[]): Readonly<Record<string, ModelLimits>> {
  return Object.fromEntries(
    models.flatMap((model) => {
      const limits = knownLimits(model);
      return limits === null ? [] : [[model, limits]];
    }),
  );
}
