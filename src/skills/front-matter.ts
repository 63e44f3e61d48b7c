/** The front matter of a Markdown file: YAML between two lines of three dashes at its beginning. */
import { parse } from 'yaml';

export interface FrontMatter {
  /** Members at the top; none without front matter. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const fence = /^---[ \t]*\r?\n(?<yaml>[\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

/**
 * Takes a text apart. Front matter that is no YAML is read line by line as `name: value`: files written for other agents
 * often hold an unquoted colon in a description. Never throws.
 */
export function frontMatterOf(text: string): FrontMatter {
  const match = fence.exec(text);
  if (match?.index !== 0) return { members: {}, body: text.trim() };
  const yaml = match.groups?.['yaml'] ?? '';
  return { members: membersOf(yaml), body: text.slice(match[0].length).trim() };
}

function membersOf(yaml: string): FrontMatter['members'] {
  try {
    const value: unknown = parse(yaml, { maxAliasCount: 0, logLevel: 'error' });
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as FrontMatter['members'];
  } catch {
    return linesOf(yaml);
  }
  return {};
}

function linesOf(yaml: string): FrontMatter['members'] {
  const lines = yaml.split(/\r?\n/).map((line) => /^(?<name>[\w-]+):\s*(?<value>.*)$/.exec(line)?.groups);
  return Object.fromEntries(
    lines.flatMap((line) => (line === undefined ? [] : [[line['name'] ?? '', (line['value'] ?? '').trim()]])),
  );
}
