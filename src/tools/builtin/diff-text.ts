/** A change of a text as a diff. */
import { structuredPatch } from 'diff';

/** Lines around a change, and the edit distance in lines up to which a diff is looked for. */
const diffLimits = { distance: 2_000, context: 3 } as const;

/** The changed places with three lines around them; null when the change is too large for a diff. */
export function unifiedDiff(before: string, after: string): string | null {
  const patch = structuredPatch('', '', before, after, '', '', {
    context: diffLimits.context,
    maxEditLength: diffLimits.distance,
    stripTrailingCr: true,
  });
  if (patch === undefined) return null;
  return patch.hunks
    .map((hunk) =>
      [`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`, ...hunk.lines].join('\n'),
    )
    .join('\n');
}
