/** The command: parse, call, print, exit status. */
import { parseArguments } from './arguments.ts';
import { boundCommand } from './bound-command.ts';
import { exitStatus } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';
import { runCommand } from './run-command.ts';
import { simulateCommand } from './simulate-command.ts';

/** Runs the command line and gives the exit status. Throws for a bug only. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    return await run(argv, io);
  } catch (error) {
    // Options are checked by `query()`, whose sentences are for users too.
    if (!(error instanceof UsageError) && !(error instanceof TypeError)) throw error;
    io.err(`escapement: ${error.message}\n`);
    return exitStatus.usage;
  }
}

async function run(argv: readonly string[], io: CliIo): Promise<number> {
  const command = parseArguments(argv);
  switch (command.name) {
    case 'print':
      io.out(command.text);
      return exitStatus.done;
    case 'run':
      return await runCommand(command.prompt, command.flags, io);
    case 'simulate':
      return await simulateCommand(command.files, command.json, io);
    case 'bound':
      return boundCommand(command.config, io);
  }
}
