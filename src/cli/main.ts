#!/usr/bin/env node
/** The binary. */
import { main } from './cli.ts';
import { exitStatus } from './exit-status.ts';
import { processIo } from './io.ts';

// A reader that closes early (`| head`) ends the run without a word. What was not finished was not done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? exitStatus.notDone);
});
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Left to themselves these signals end the process without its `exit` event, which kills what the tools have started.
const exitOn = { SIGHUP: 129, SIGTERM: 143 } as const;
process.once('SIGHUP', () => process.exit(exitOn.SIGHUP));
process.once('SIGTERM', () => process.exit(exitOn.SIGTERM));

process.exitCode = await main(process.argv.slice(2), processIo());
