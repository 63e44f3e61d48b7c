/** Names of MCP tools as the model and permission rules know them: `mcp__server__tool`. */
import { createHash } from 'node:crypto';

/** The longest name that the API takes, in characters. */
const longestName = 64;
/** The longest part of the server, in characters: a tool keeps at least 27 of its own. */
const longestServer = 32;
const hashLength = 8;

function hashed(text: string, original: string, length: number): string {
  const hash = createHash('sha256').update(original).digest('hex').slice(0, hashLength);
  return `${text.slice(0, length - hashLength - 1)}_${hash}`;
}

/**
 * The part of each server. It holds no `__` and neither begins nor ends with `_`, so that the rule `mcp__a` can never be
 * about a server `a__b`; two servers never share one.
 */
export function serverParts(names: readonly string[]): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const taken = new Set<string>();
  // Those whose name needs no change first: nobody may take it from them.
  for (const name of [...names].toSorted((left, right) => byFit(left, right))) {
    const plain = plainServer(name);
    const part = plain === '' || plain.length > longestServer || taken.has(plain) ? hashedServer(plain, name) : plain;
    taken.add(part);
    parts.set(name, part);
  }
  return parts;
}

function byFit(left: string, right: string): number {
  const fits = Number(plainServer(right) === right) - Number(plainServer(left) === left);
  return fits === 0 ? Number(left > right) - Number(left < right) : fits;
}

function plainServer(name: string): string {
  return name
    .replaceAll(/[^a-zA-Z0-9_-]/g, '_')
    .replaceAll(/_+/g, '_')
    .replaceAll(/^_|_$/g, '');
}

function hashedServer(plain: string, name: string): string {
  return hashed(plain === '' ? 'server' : plain, name, Math.min(longestServer, plain.length + hashLength + 7));
}

/**
 * The name of each tool of one server, by its own name. A name that had to be changed and is then too long, or that of
 * another, ends with a hash of what it was: so no name depends on the order in which tools are listed.
 */
export function toolNames(
  part: string,
  tools: readonly string[],
  taken: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const plain = new Map(tools.map((tool) => [tool, plainTool(part, tool)]));
  const uses = Map.groupBy(plain.values(), (name) => name);
  const isFree = (tool: string, name: string): boolean =>
    name.length <= longestName &&
    !taken.has(name) &&
    ((uses.get(name)?.length ?? 0) === 1 || name === `mcp__${part}__${tool}`);
  return new Map(
    [...plain].map(([tool, name]) => [tool, isFree(tool, name) ? name : hashed(name, tool, nameLength(name))]),
  );
}

function plainTool(part: string, tool: string): string {
  return `mcp__${part}__${tool.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}`;
}

function nameLength(name: string): number {
  return Math.min(longestName, name.length + hashLength + 1);
}
