/** MCP servers of a command line: `--mcp-config`, and the `.mcp.json` of the repository. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type McpServerEntry, readServers } from './config.ts';

/** The file of a repository. */
const fileName = '.mcp.json';

/** Where servers are looked for. */
export interface McpSources {
  /** Folder of the query. */
  readonly cwd: string;
  /** Values of `--mcp-config`: files, or JSON that begins with `{`. A later one beats an earlier one. */
  readonly given: readonly string[];
  /** Folder that files in `given` are named from. */
  readonly from: string;
  /** False: nothing of the repository's own file is started. */
  readonly trusted: boolean;
}

/** Servers to start, and what a person should know. */
export interface FoundServers {
  readonly entries: readonly McpServerEntry[];
  readonly notices: readonly string[];
}

/**
 * Finds the servers. Those of `given` are the user's own word; they beat those of the repository by name.
 *
 * @throws TypeError with one sentence when a value of `given` cannot be read or used.
 */
export function findMcpServers(sources: McpSources): FoundServers {
  const given = sources.given.flatMap((value) => readGiven(value, sources.from));
  const repository = readRepository(sources);
  const byName = new Map([...repository.entries, ...given].map((entry) => [entry.name, entry]));
  const hidden = new Set(given.map(({ name }) => name));
  const waiting = repository.untrusted.filter((name) => !hidden.has(name));
  const notices = waiting.length === 0 ? [] : [untrustedNotice(waiting, repository.path)];
  return { entries: [...byName.values()], notices: [...repository.problems, ...notices] };
}

function readGiven(value: string, from: string): readonly McpServerEntry[] {
  const isJson = value.trimStart().startsWith('{');
  const path = resolve(from, value);
  const source = isJson ? '--mcp-config' : path;
  const { entries, problems } = readServers(serversIn(isJson ? value : readGivenFile(path), source), source);
  if (problems.length > 0) throw new TypeError(problems.join(' '));
  return entries;
}

function readGivenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new TypeError(
      `The MCP configuration ${path} cannot be read (${code ?? 'unknown'}): name a file, or give JSON.`,
      { cause: error },
    );
  }
}

/** The value of `mcpServers`. What stands in the text is not quoted: it may be secret. */
function serversIn(text: string, source: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError(`The MCP configuration of ${source} is no JSON.`);
  }
  if (typeof value === 'object' && value !== null && 'mcpServers' in value) return value.mcpServers;
  throw new TypeError(`The MCP configuration of ${source} has no "mcpServers": write { "mcpServers": { ... } }.`);
}

interface RepositoryServers {
  readonly path: string;
  readonly entries: readonly McpServerEntry[];
  readonly problems: readonly string[];
  /** Names of servers that would run if the repository were trusted. */
  readonly untrusted: readonly string[];
}

function readRepository({ cwd, trusted }: McpSources): RepositoryServers {
  const path = repositoryFile(cwd);
  const nothing = { path: path ?? '', entries: [], problems: [], untrusted: [] };
  if (path === null) return nothing;
  try {
    const { entries, problems } = readServers(serversIn(readFileSync(path, 'utf8'), path), path);
    if (!trusted) return { ...nothing, untrusted: entries.map(({ name }) => name) };
    return { ...nothing, entries, problems };
  } catch (error) {
    const why = error instanceof TypeError ? error.message : `${path} cannot be read.`;
    return { ...nothing, problems: [`${why} The query goes on without its servers.`] };
  }
}

/** The nearest file from the folder up to the top of its repository; outside of a repository that of the folder alone. */
function repositoryFile(cwd: string): string | null {
  let nearest: string | null = null;
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = join(folder, fileName);
    if (nearest === null && isFile(file)) nearest = file;
    if (isThere(join(folder, '.git'))) return nearest;
    if (dirname(folder) === folder) break;
  }
  const own = join(cwd, fileName);
  return isFile(own) ? own : null;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function untrustedNotice(names: readonly string[], path: string): string {
  const servers = names.length === 1 ? `The MCP server ${names[0]}` : `The MCP servers ${names.join(', ')}`;
  const were = names.length === 1 ? 'was' : 'were';
  return `${servers} of ${path} ${were} not started, since this repository is not trusted: start with --mcp-config ${path} if you trust what it runs.`;
}
