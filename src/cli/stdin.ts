/** What is piped in. */
import type { CliIo } from './io.ts';

/** Reads all of the standard input; empty at a terminal, where nobody would know that something is waited for. */
export async function readPiped({ stdin }: CliIo): Promise<string> {
  if (stdin.isTTY === true) return '';
  const chunks: string[] = [];
  stdin.setEncoding('utf8');
  for await (const chunk of stdin) chunks.push(String(chunk));
  return chunks.join('');
}

/**
 * Whether a text is piped in, as far as that shows within `patienceMs`: a pipe that stays open and says nothing must
 * not hold up somebody who does not need it.
 */
export function isSomethingPiped({ stdin }: CliIo, patienceMs: number): Promise<boolean> {
  if (stdin.isTTY === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const settle = (isSaid: boolean): void => {
      clearTimeout(timer);
      stdin.off('data', listen).off('end', stop).off('error', stop).pause();
      // An open pipe would keep the process alive.
      (stdin as Partial<{ unref: () => void }>).unref?.();
      resolve(isSaid);
    };
    const listen = (chunk: Buffer | string): void => {
      if (String(chunk).trim() !== '') settle(true);
    };
    const stop = (): void => settle(false);
    const timer = setTimeout(stop, patienceMs);
    stdin.on('data', listen).on('end', stop).on('error', stop);
  });
}
