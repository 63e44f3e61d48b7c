/** The front matter of a Markdown file: YAML between two lines of three dashes at its beginning. */
import { parse } from 'yaml';

export interface FrontMatter {
  /** Members at the top; null for a text without front matter. */
  readonly members: Readonly<Record<string, unknown>> | null;
  /** What stands under it, trimmed. */
  readonly body: string;
}

const form = /^\uFEFF?---[ \t]*\r?\n(?<yaml>[\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

/**
 * Takes a text apart. Front matter that is no YAML is read member by member as `name: value`: files written for other
 * agents often hold an unquoted colon in a description. Never throws.
 */
export function frontMatterOf(text: string): FrontMatter {
  const match = form.exec(text);
  if (match?.index !== 0) return { members: null, body: text.trim() };
  return { members: membersOf(match.groups?.['yaml'] ?? ''), body: text.slice(match[0].length).trim() };
}

function membersOf(yaml: string): NonNullable<FrontMatter['members']> {
  try {
    const value: unknown = parse(yaml, { maxAliasCount: 0, logLevel: 'error' });
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isRecord ? (value as NonNullable<FrontMatter['members']>) : {};
  } catch {
    return linesOf(yaml);
  }
}

/** A member is a line that begins with a name and a colon, with the lines under it that do not. */
function linesOf(yaml: string): NonNullable<FrontMatter['members']> {
  const lines = yaml.matchAll(/^(?<name>[A-Za-z][\w-]*):[ \t]*(?<value>.*(?:\r?\n(?![A-Za-z][\w-]*:).*)*)/gm);
  return Object.fromEntries([...lines].map(({ groups }) => [groups?.['name'] ?? '', (groups?.['value'] ?? '').trim()]));
}
