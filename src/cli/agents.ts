/** The sub-agents of a run: those in the folders of the user and the project, and those of `--agents`. */
import { homedir } from 'node:os';
import { type Agents, checkAgents } from '../agents/definition.ts';
import { loadAgents } from '../agents/load-agents.ts';
import { visible } from './visible.ts';
import { type CliIo, UsageError } from './io.ts';
import { readJson } from './simulate-command.ts';

/** `given` is what stands behind `--agents`; it goes before the folders. Says in one sentence each which files are broken. */
export function agentsFor(cwd: string, given: string | undefined, io: CliIo): Agents {
  const asked = given === undefined ? {} : agentsIn(given, io);
  const { agents, notices } = loadAgents({ cwd, home: io.env['HOME'] ?? homedir() });
  for (const notice of notices) io.err(io.colors.dim(`${visible(notice)}\n`));
  return { ...agents, ...asked };
}

/** JSON, or a file with it: an object of definitions by name. */
function agentsIn(given: string, io: CliIo): Agents {
  const read = given.trimStart().startsWith('{') ? parsed(given) : readJson(given, io);
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw new UsageError(`--agents needs an object: {"name": {"description": "...", "prompt": "..."}}.`);
  }
  try {
    checkAgents(read as Agents);
  } catch (error) {
    throw new UsageError(`--agents: ${error instanceof Error ? error.message : String(error)}`);
  }
  return read as Agents;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--agents is no JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
