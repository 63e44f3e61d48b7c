/** A command line's world in memory. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';
import { Interrupts } from '../../src/cli/interrupts.ts';
import type { CliIo } from '../../src/cli/io.ts';

export const plain = pc.createColors(false);

export interface FakeIo extends CliIo {
  readonly stdin: PassThrough & { isTTY?: boolean };
  readonly signals: EventEmitter;
  readonly printed: { out: string; err: string; exits: number[] };
  /** What was written to the screen, without orders to the terminal. */
  readonly seen: () => string;
}

export function fakeIo(overrides: Partial<CliIo> = {}): FakeIo {
  const signals = new EventEmitter();
  const screen = new PassThrough();
  const printed = { out: '', err: '', exits: [] as number[] };
  let seen = '';
  screen.on('data', (chunk: Buffer) => (seen += chunk.toString('utf8')));
  return {
    out: (text) => void (printed.out += text),
    err: (text) => void (printed.err += text),
    env: {},
    cwd: process.cwd(),
    isTerminal: false,
    colors: plain,
    interrupts: new Interrupts(signals),
    exit: (status) => void printed.exits.push(status),
    screen,
    ...overrides,
    stdin: new PassThrough(),
    signals,
    printed,
    seen: () => stripVTControlCharacters(seen),
  };
}
