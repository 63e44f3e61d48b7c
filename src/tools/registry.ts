/** The tools of a query: looked up by name, listed for the model, asked for their verdict on an input. */
import type { Json } from '../core/json.ts';
import type { ToolSpec, ToolVerdict } from '../core/state.ts';
import type { Tool } from './tool.ts';

/** A fixed set of tools; a changed set is a new registry. */
export interface ToolRegistry {
  /** Built-in tools first, those of MCP servers last, each group sorted by name. */
  readonly tools: readonly Tool[];
  /** The tool of that name or alias, or null. */
  readonly find: (name: string) => Tool | null;
  /** What the model is told of the tools; the same object at every call. */
  readonly specs: () => readonly ToolSpec[];
  /** What a tool says about an input; all no for an unknown tool, an input that does not parse, and a tool that throws. */
  readonly verdictOf: (name: string, input: Json) => ToolVerdict;
}

const noVerdict: ToolVerdict = { concurrencySafe: false, readOnly: false, replaySafe: false };

/** Puts tools together. Throws a `TypeError` that names the tool when two share a name or an alias. */
export function createRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = indexByName(tools);
  const sorted = tools.toSorted(inPromptOrder);
  const specs = sorted.map(specOf);
  return {
    tools: sorted,
    find: (name) => byName.get(name) ?? null,
    specs: () => specs,
    verdictOf: (name, input) => verdictOf(byName.get(name), input),
  };
}

function indexByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    for (const name of new Set([tool.name, ...tool.aliases])) {
      const other = byName.get(name);
      if (other !== undefined) {
        throw new TypeError(
          `Two tools go by the name ${name}: ${other.name} and ${tool.name}. Rename or leave out one.`,
        );
      }
      byName.set(name, tool);
    }
  }
  return byName;
}

/** By code unit, not by locale: the order must be the same on every machine, since the prompt is cached by its bytes. */
function inPromptOrder(left: Tool, right: Tool): number {
  const apart = groupOf(left) - groupOf(right);
  if (apart !== 0) return apart;
  return left.name < right.name ? -1 : 1;
}

/** Tools of MCP servers may change while the query runs: what stands before them keeps its place. */
function groupOf({ isBuiltIn, name }: Tool): number {
  if (isBuiltIn) return 0;
  return name.startsWith('mcp__') ? 2 : 1;
}

function specOf(tool: Tool): ToolSpec {
  return { name: tool.name, description: tool.description, input_schema: tool.inputSchema };
}

function verdictOf(tool: Tool | undefined, input: Json): ToolVerdict {
  try {
    const parsed = tool?.input.safeParse(input);
    if (tool === undefined || parsed?.success !== true) return noVerdict;
    return {
      concurrencySafe: says(tool.isConcurrencySafe, parsed.data),
      readOnly: says(tool.isReadOnly, parsed.data),
      replaySafe: says(tool.isReplaySafe, parsed.data),
      ...(says(tool.startsAgent, parsed.data) ? { startsAgent: true } : {}),
    };
  } catch {
    // A schema with asynchronous checks throws here: what cannot be said at once is no.
    return noVerdict;
  }
}

/** Only a plain `true` is a yes; a throw is a no. */
export function says(predicate: (input: unknown) => boolean, input: unknown): boolean {
  try {
    const said: unknown = predicate(input);
    return said === true;
  } catch {
    return false;
  }
}
