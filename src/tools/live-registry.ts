/** A registry whose tools may change between turns: some stay, others come from functions that are asked each time. */
import { createRegistry, type ToolRegistry } from './registry.ts';
import type { Tool } from './tool.ts';

/**
 * The tools of now: `fixed` and what each source gives, as far as `isOffered`. As long as every source gives the same array,
 * the same registry comes back. Calling the result throws a `TypeError` when two tools share a name.
 */
export function liveRegistry(
  fixed: readonly Tool[],
  sources: readonly (() => readonly Tool[])[],
  isOffered: (tool: Tool) => boolean,
): () => ToolRegistry {
  let known: { readonly lists: readonly (readonly Tool[])[]; readonly registry: ToolRegistry } | null = null;
  return () => {
    const lists = sources.map((source) => source());
    if (known === null || lists.some((list, index) => list !== known?.lists[index])) {
      known = { lists, registry: createRegistry([...fixed, ...lists.flat()].filter(isOffered)) };
    }
    return known.registry;
  };
}
