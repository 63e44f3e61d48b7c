/** The command: parse, call, print, exit status. */
import { parseArguments } from './arguments.ts';
import { exitStatus } from './exit-status.ts';
import { type CliIo, UsageError } from './io.ts';

/** Runs the command line and gives the exit status. Throws for a bug only. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    return await run(argv, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err(`escapement: ${error.message}\n`);
    return exitStatus.usage;
  }
}

/** Each command is loaded when it is called: help and a mistyped flag need neither the engine nor the SDK. */
async function run(argv: readonly string[], io: CliIo): Promise<number> {
  const command = parseArguments(argv);
  switch (command.name) {
    case 'print':
      io.out(command.text);
      return exitStatus.done;
    case 'run': {
      const { runCommand } = await import('./run-command.ts');
      return await runCommand(command.prompt, command.flags, io);
    }
    case 'simulate': {
      const { simulateCommand } = await import('./simulate-command.ts');
      return await simulateCommand(command.files, command.json, io);
    }
    case 'explore': {
      const { exploreCommand } = await import('./explore-command.ts');
      return await exploreCommand(command.flags, io);
    }
    case 'hooks': {
      const { hooksCommand } = await import('./hooks-command.ts');
      return hooksCommand(command.flags, io);
    }
    case 'tools': {
      const { toolsCommand } = await import('./tools-command.ts');
      return toolsCommand(command.flags, io);
    }
    case 'bound': {
      const { boundCommand } = await import('./bound-command.ts');
      return boundCommand(command.config, io);
    }
  }
}
