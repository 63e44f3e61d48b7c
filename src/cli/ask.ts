/** Questions to the person at the terminal. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { PermissionRule } from '../core/tools/context.ts';
import type { CanUseTool, PermissionAnswer, PermissionRequest } from '../tools/can-use-tool.ts';
import { callText } from './call-text.ts';
import type { CliIo } from './io.ts';
import type { Renderer } from './render.ts';
import { visible } from './visible.ts';

/** True when a person can be asked: input and output are a terminal. */
export function canAsk(io: CliIo): boolean {
  return io.isTerminal && io.stdin.isTTY === true;
}

/** Asks one line; null when the question was taken away or the input ended. */
export async function askLine(io: CliIo, question: string, signal?: AbortSignal): Promise<string | null> {
  const reader = createInterface({ input: io.stdin, output: io.screen, terminal: true });
  // The reader swallows Ctrl+C: hand it on to whoever handles it.
  reader.on('SIGINT', io.interrupts.press);
  const ended = once(reader, 'close').then(() => null);
  const asked = reader.question(question, signal === undefined ? {} : { signal }).catch(() => null);
  const line = await Promise.race([asked, ended]);
  reader.close();
  // Nobody has pressed Enter.
  if (line === null) io.screen.write('\n');
  return line;
}

/** Keeps the rules of an "always" for later sessions. */
type KeepRules = (rules: readonly PermissionRule[]) => Promise<void>;

/** The permission prompt on a terminal; null where nobody is there to ask, so that what must be asked is denied. */
export function permissionPrompt(
  io: CliIo,
  { pause, resume }: Pick<Renderer, 'pause' | 'resume'>,
  keep: KeepRules,
): CanUseTool | null {
  if (!canAsk(io)) return null;
  let last: Promise<unknown> = Promise.resolve();
  return (name, input, request) => {
    // One question at a time, although tools run side by side.
    const answer = last.then(async () => {
      if (request.signal.aborted) return answerOf(null, []);
      pause();
      // The reader redraws its line and what stands below it, so only the last line is its own.
      io.screen.write(`\n${questionText(callText(name, input, io.colors), request)}\n`);
      const line = await askLine(io, choicesFor(request.suggestions), request.signal);
      const given = answerOf(line, request.suggestions);
      if (given.behavior === 'allow') await kept(io, keep, given.addedRules ?? []);
      resume();
      return given;
    });
    last = answer.catch(() => {});
    return answer;
  };
}

/** A rule that cannot be kept still holds in this session; the person is told. */
async function kept(io: CliIo, keep: KeepRules, rules: readonly PermissionRule[]): Promise<void> {
  try {
    await keep(rules);
  } catch (error) {
    io.screen.write(`${visible(error instanceof Error ? error.message : String(error))}\n`);
  }
}

function choicesFor(suggestions: Suggestions): string {
  return `[y]es, [n]o or why not, ${suggestions.length > 0 ? '[a]lways, ' : ''}[e]nd the turn: `;
}

type Suggestions = Parameters<CanUseTool>[2]['suggestions'];

/** The call, who wants it where it is a sub-agent, why it is asked, and what "always" would mean. */
export function questionText(
  call: string,
  { reason, suggestions, agent }: Pick<PermissionRequest, 'reason' | 'suggestions' | 'agent'>,
): string {
  const always = suggestions.map(({ rule }) => visible(rule)).join(' and ');
  const meaning = always === '' ? '' : ` Always would allow ${always}.`;
  const asker = agent === undefined ? '' : `The agent ${visible(agent)} asks. `;
  return `${call}\n${asker}${visible(reason)}${meaning}`;
}

/** What an answer means; anything unclear is a no. */
export function answerOf(line: string | null, suggestions: Suggestions): PermissionAnswer {
  switch (line?.trim().toLowerCase()) {
    case 'y':
    case 'yes':
      return { behavior: 'allow' };
    case 'a':
    case 'always':
      return { behavior: 'allow', addedRules: suggestions };
    case 'e':
    case 'end':
      return { behavior: 'deny', message: 'The user ended the turn.', interrupt: true };
    case undefined:
    case '':
    case 'n':
    case 'no':
      return { behavior: 'deny', message: 'The user said no.' };
    default:
      return { behavior: 'deny', message: `The user said no: ${line?.trim() ?? ''}` };
  }
}
