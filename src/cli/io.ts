/** What the command line has of the world. Tests bring their own. */
import pc from 'picocolors';
import { Interrupts } from './interrupts.ts';

export interface CliIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Where questions are asked and spinners turn: beside the output, so that this stays what was asked for. */
  readonly screen: NodeJS.WritableStream;
  /** Whether people look at the output: spinner, colours. */
  readonly isTerminal: boolean;
  readonly colors: ReturnType<typeof pc.createColors>;
  readonly interrupts: Interrupts;
  /** Ends the process at once. */
  readonly exit: (status: number) => void;
}

/** The process itself. */
export function processIo(): CliIo {
  const { env, stdin, stdout, stderr } = process;
  // Some terminals have no size; what redraws lines would count them for ever.
  const isTerminal = stdout.isTTY && stderr.isTTY && stdout.columns > 0 && stderr.columns > 0;
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    env,
    cwd: process.cwd(),
    stdin,
    screen: stderr,
    isTerminal,
    colors: pc.createColors(wantsColor(env, isTerminal)),
    interrupts: new Interrupts(process),
    exit: (status) => process.exit(status),
  };
}

/** `NO_COLOR` (any value but the empty one) wins, then `FORCE_COLOR`, then whether a terminal is there. */
export function wantsColor(env: CliIo['env'], isTerminal: boolean): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** Something that the user can put right: one sentence, and the exit status 2. */
export class UsageError extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'UsageError';
  }
}
