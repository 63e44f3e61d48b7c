#!/usr/bin/env node
/** The binary. */
import { main } from './cli.ts';
import { processIo } from './io.ts';

// A reader that closes early (`| head`) is no fault of the run.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await main(process.argv.slice(2), processIo());
