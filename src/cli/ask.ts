/** Questions to the person at the terminal. */
import { createInterface } from 'node:readline/promises';
import type { CanUseTool, PermissionAnswer } from '../tools/can-use-tool.ts';
import type { CliIo } from './io.ts';
import type { Renderer } from './render.ts';

/** Asks one line; null when the question was taken away or the input ended. */
export async function askLine(io: CliIo, question: string, signal?: AbortSignal): Promise<string | null> {
  const reader = createInterface({ input: io.stdin, output: process.stdout, terminal: true });
  // The reader swallows Ctrl+C: hand it on to whoever handles it for the process.
  reader.on('SIGINT', () => process.emit('SIGINT'));
  try {
    return await reader.question(question, signal === undefined ? {} : { signal });
  } catch {
    return null;
  } finally {
    reader.close();
  }
}

/** The permission prompt on a terminal; null where nobody is there to ask, so that what must be asked is denied. */
export function permissionPrompt(io: CliIo, { pause, resume }: Pick<Renderer, 'pause' | 'resume'>): CanUseTool | null {
  if (!io.isTerminal || io.stdin.isTTY !== true) return null;
  let last: Promise<unknown> = Promise.resolve();
  return (name, _input, { reason, summary, suggestions, signal }) => {
    const { colors } = io;
    // One question at a time, although tools run side by side.
    const answer = last.then(async () => {
      pause();
      // The reader redraws its line and what stands below it, so only the last line is its own.
      io.out(`\n${colors.bold(`${name} ${summary}`)}\n${reason}\n`);
      const line = await askLine(io, '[y]es, [n]o, [a]lways, [e]nd the turn: ', signal);
      resume();
      return answerOf(line, suggestions);
    });
    last = answer.catch(() => {});
    return answer;
  };
}

/** What an answer means; anything unclear is a no. */
function answerOf(line: string | null, suggestions: Parameters<CanUseTool>[2]['suggestions']): PermissionAnswer {
  switch (line?.trim().toLowerCase().charAt(0)) {
    case 'y':
      return { behavior: 'allow' };
    case 'a':
      return { behavior: 'allow', addedRules: suggestions.slice(0, 1) };
    case 'e':
      return { behavior: 'deny', message: 'The user ended the turn.', interrupt: true };
    default:
      return { behavior: 'deny', message: 'The user said no.' };
  }
}
