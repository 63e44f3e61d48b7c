/** Finds the definition files of a user and of a project. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDefinition, Agents } from './definition.ts';
import { parseAgent } from './parse-agent.ts';

/** Where definitions are read from. */
export type AgentSource = 'user' | 'project';

/** What was found. */
export interface LoadedAgents {
  readonly agents: Agents;
  /** Path of the file that each agent comes from. */
  readonly files: Readonly<Record<string, string>>;
  /** Files that cannot be used, one sentence each. */
  readonly notices: readonly string[];
}

/** Of two definitions of one name the later one holds: a project beats the user, `.escapement` beats `.claude`. */
const folders = ['.claude', '.escapement'];

/** Largest definition file in bytes: what is longer is no prompt that somebody wrote. */
const largestFile = 256 * 1024;

/**
 * Reads the `agents` folders in `.claude` and `.escapement` of the home folder (`user`) and of `cwd` (`project`). A file
 * that cannot be used is a notice; the others work. Never throws.
 */
export function loadAgents({
  cwd,
  home,
  sources = ['user', 'project'],
}: {
  readonly cwd: string;
  readonly home: string;
  readonly sources?: readonly AgentSource[];
}): LoadedAgents {
  const agents: Record<string, AgentDefinition> = {};
  const files: Record<string, string> = {};
  const notices: string[] = [];
  const roots = [...(sources.includes('user') ? [home] : []), ...(sources.includes('project') ? [cwd] : [])];
  for (const path of roots.flatMap((root) => folders.flatMap((folder) => filesIn(join(root, folder, 'agents'))))) {
    const read = readAgent(path);
    if ('problem' in read) notices.push(`The agent in ${path} cannot be used: ${read.problem}.`);
    else {
      agents[read.name] = read.agent;
      files[read.name] = path;
    }
  }
  return { agents, files, notices };
}

function filesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return entries
      .filter((entry) => entry.endsWith('.md'))
      .toSorted()
      .map((entry) => join(folder, entry));
  } catch {
    // Most people have no such folder.
    return [];
  }
}

function readAgent(path: string): ReturnType<typeof parseAgent> {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > largestFile) return { problem: `it is longer than ${largestFile / 1024} KiB` };
    return parseAgent(bytes.toString('utf8'));
  } catch (error) {
    return { problem: `it cannot be read (${error instanceof Error ? error.message : String(error)})` };
  }
}
