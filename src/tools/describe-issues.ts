/** What a zod schema has against a value, in words for the model. */
import type { z } from 'zod';
import { cutHead } from '../core/text.ts';

const mostIssues = 10;
const longestIssue = 300;

/** One line an issue: where, and what was expected there. `whole`: what the value as a whole is called. */
export function describeIssues({ issues }: z.core.$ZodError, whole: string): string {
  return issueLines(issues.flatMap((issue) => describeIssue(issue, [], whole)));
}

/** The first lines, and how many more there are. */
export function issueLines(lines: readonly string[]): string {
  const more = lines.length > mostIssues ? [`- and ${lines.length - mostIssues} more`] : [];
  return [...lines.slice(0, mostIssues), ...more].join('\n');
}

/** The line of one issue. */
export function issueLine(path: readonly PropertyKey[], message: string, whole: string): string {
  return `- ${placeOf(path, whole)}: ${cutHead(message.replace(/^Invalid input: /, ''), longestIssue)}`;
}

function describeIssue(issue: z.core.$ZodIssue, above: readonly PropertyKey[], whole: string): readonly string[] {
  const path = [...above, ...issue.path];
  // The issues of the members of a union say more than "invalid input".
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return issue.errors.flatMap((members) => members.flatMap((member) => describeIssue(member, path, whole)));
  }
  return [issueLine(path, issue.message, whole)];
}

function placeOf(path: readonly PropertyKey[], whole: string): string {
  if (path.length === 0) return whole;
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`))
    .join('');
}
