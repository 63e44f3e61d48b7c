import { z } from 'zod';
import type { Emitted } from '../../src/core/output.ts';
import type { Terminal } from '../../src/core/state.ts';
import { type Query, query } from '../../src/query.ts';
import type { QueryOptions } from '../../src/query-options.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts';
import { ScriptedModel } from '../../src/testing/scripted-model.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import { createMemoryStore } from '../../src/tools/result-store.ts';
import { tool } from '../../src/tools/tool.ts';

const limits = { contextWindow: 200_000, maxOutput: 64_000 };

/** A tool that answers at once. */
export const echo = tool({
  name: 'echo',
  description: 'Says what it is told.',
  input: z.looseObject({}),
  isConcurrencySafe: () => true,
  isReadOnly: () => true,
  run: (input) => JSON.stringify(input),
});

/** A query against a script, in process, with everything but the model real. */
export function scriptedQuery(
  script: readonly ModelEntry[],
  options: Partial<QueryOptions> = {},
): { readonly query: Query; readonly model: ScriptedModel; readonly clock: VirtualClock } {
  const clock = new VirtualClock();
  const model = new ScriptedModel({ model: script, limits, clock });
  const started = query({
    prompt: 'go',
    model: 'scripted',
    contextWindow: limits.contextWindow,
    modelMaxOutput: limits.maxOutput,
    apiKey: 'scripted',
    baseUrl: 'http://scripted.invalid',
    fetch: scriptedFetch(model),
    tools: [echo],
    permissionMode: 'bypassPermissions',
    resultStore: createMemoryStore(),
    ...options,
    deps: { clock, uuid: () => '00000000-0000-4000-8000-000000000000', ...options.deps },
  });
  return { query: started, model, clock };
}

/** Everything that a query shows, and how it ends. */
export async function drain(
  started: Query,
): Promise<{ readonly emitted: readonly Emitted[]; readonly terminal: Terminal }> {
  const emitted: Emitted[] = [];
  for (;;) {
    const result = await started.next();
    if (result.done === true) return { emitted, terminal: result.value };
    emitted.push(result.value);
  }
}
