/** What is wrong with a file, in one sentence: of a union that fits in no way, what its author most likely meant. */

/** An issue as zod reports it. */
interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of a union: the issues of each way in which the value could have been meant. */
  readonly errors?: readonly (readonly Issue[])[];
  /** Of an object: the keys that it does not know. */
  readonly keys?: readonly string[];
}

interface Fault {
  /** `model.0.stream.2`; empty for the top. */
  readonly place: string;
  readonly message: string;
}

/** The fault to tell of first. `value` is the value that was checked. */
export function faultIn(issues: readonly Issue[], value: unknown): Fault {
  return describe(telling(issues), value, []);
}

/** A key that nobody knows says more than the one that is missing for it. */
function telling(issues: readonly Issue[]): Issue | undefined {
  return issues.find(hasStrangeKeys) ?? issues[0];
}

function hasStrangeKeys(issue: Issue): boolean {
  return issue.code === 'unrecognized_keys';
}

function describe(issue: Issue | undefined, value: unknown, before: readonly PropertyKey[]): Fault {
  const path = [...before, ...(issue?.path ?? [])];
  const place = path.map(String).join('.');
  if (issue === undefined) return { place, message: 'it is not what is expected' };
  const inner = valueAt(value, issue.path);
  if (issue.errors === undefined || issue.errors.length === 0) return { place, message: sentence(issue) };
  const misses = issue.errors.map((way) => missesOf(way, inner));
  const least = Math.min(...misses);
  const best = issue.errors.filter((_, index) => misses[index] === least);
  if (best.length === 1) return describe(telling(best[0] ?? []), inner, path);
  return { place, message: undecided(best.map((way) => telling(way))) };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );
}

/** Every key that is strange or missing counts against a way; a value of another kind altogether rules it out. */
function missesOf(way: readonly Issue[], value: unknown): number {
  return way.reduce((sum, issue) => {
    if (hasStrangeKeys(issue) && issue.path.length === 0) return sum + (issue.keys?.length ?? 1);
    if (issue.path.length === 0) return sum + 1_000;
    return issue.path.length === 1 && valueAt(value, issue.path) === undefined ? sum + 1 : sum;
  }, 0);
}

/** No way is nearer than another: say what all of them say. */
function undecided(issues: readonly (Issue | undefined)[]): string {
  const strange = issues.map((issue) => issue?.keys ?? []);
  const shared = strange[0]?.find((key) => strange.every((keys) => keys.includes(key)));
  if (shared !== undefined) return `Unrecognized key: "${shared}"`;
  const wanted = issues.flatMap((issue) => /^Invalid input: expected ([^,]+)/.exec(issue?.message ?? '')?.[1] ?? []);
  const isKind = issues.every((issue) => issue?.path.length === 0) && wanted.length > 0;
  return isKind
    ? `Invalid input: expected ${[...new Set(wanted)].join(' or ')}`
    : 'it has none of the forms that it may have';
}

function sentence({ message }: Issue): string {
  return message.replace(/\.$/, '');
}
