/** What answers may cost. */
import type { LoopConfig } from '../../src/core/config.ts';
import type { Usage } from '../../src/core/message.ts';

/** One token more in the cache: where there is a cap on the cost, it costs all of it. */
function pricey(usage: Usage): Usage {
  return { ...usage, input: Math.max(0, usage.input - 1), cacheCreation: usage.cacheCreation + 1 };
}

/** The usages, and where there is a cap on the cost the same at a price that reaches it. */
export function priced(usages: readonly Usage[], { maxCost }: LoopConfig): readonly Usage[] {
  return maxCost === null ? usages : [...usages, ...usages.map(pricey)];
}
