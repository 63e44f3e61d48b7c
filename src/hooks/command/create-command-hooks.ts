/** Makes hooks of a query from commands: each runs in a process group of its own, and says what its output says. */
import { existsSync } from 'node:fs';
import type { Clock } from '../../clock.ts';
import { runShell } from '../../process/shell.ts';
import type { HookMatcher, HookSession, Hooks } from '../hook.ts';
import { type CommandHook, type HookEvent, readMatcher } from './events.ts';
import { commandInput } from './input.ts';
import { type CommandSaid, readCommand, warn } from './output.ts';

/** Between SIGTERM and SIGKILL, in milliseconds. */
const killGraceMs = 1_500;
/** The engine waits so much longer than the command may take, in milliseconds: it is killed first, and its end is seen. */
const endingMs = 5_000;
/** Characters that are kept of each output: far more than a hook has to say. */
const kept = { head: 200_000, tail: 50_000 } as const;

/** Where and how commands run. */
export interface CommandHookPlace {
  readonly clock: Clock;
  /** Absolute path of the repository: `CLAUDE_PROJECT_DIR` and `ESCAPEMENT_PROJECT_DIR`. */
  readonly projectFolder: string;
  /** Environment of the commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Brings the file with the conversation up to date and gives its absolute path; it need not exist. */
  readonly transcriptPath: (sessionId: string, cwd: string) => string;
}

type Run<Event extends HookEvent> = (
  view: Parameters<typeof commandInput<Event>>[1],
  signal: AbortSignal,
) => Promise<CommandSaid>;

/**
 * The commands as hooks. They are asked side by side, the same command once; a command that crashes, hangs or prints
 * nonsense is a notice. A matcher that is no expression matches nothing.
 */
export function createCommandHooks(commands: readonly CommandHook[], place: CommandHookPlace): Hooks {
  function hooksOf<Event extends HookEvent, Answer>(event: Event, answer: (said: CommandSaid) => Answer) {
    return commands
      .filter((hook) => hook.event === event)
      .map((hook) => ({
        name: hook.command,
        timeoutMs: hook.timeoutMs + endingMs,
        sideBySide: true,
        ...matcherOf(hook),
        run: async (view: Parameters<Run<Event>>[0], signal: AbortSignal): Promise<Answer> =>
          answer(await runHook(hook, event, view, signal, place)),
      }));
  }
  const notices = (said: CommandSaid) => ({ notices: heard(said) });
  return {
    sessionStart: hooksOf('SessionStart', (said) => ({ ...context(said), notices: heard(said) })),
    userPromptSubmit: hooksOf('UserPromptSubmit', promptAnswer),
    preToolUse: hooksOf('PreToolUse', beforeAnswer),
    postToolUse: hooksOf('PostToolUse', afterAnswer),
    notification: hooksOf('Notification', notices),
    preCompact: hooksOf('PreCompact', notices),
    postCompact: hooksOf('PostCompact', notices),
    stop: hooksOf('Stop', stopAnswer),
    subagentStop: hooksOf('SubagentStop', stopAnswer),
    afterAnswer: [],
  };
}

/** Events whose matchers are about nothing. */
const unmatched: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'Stop']);

function matcherOf({ event, matcher }: CommandHook): { readonly tools?: HookMatcher; readonly causes?: HookMatcher } {
  if (unmatched.has(event)) return {};
  const names = matcherOrNothing(matcher);
  if (names === null) return {};
  return event === 'PreToolUse' || event === 'PostToolUse' ? { tools: names } : { causes: names };
}

function matcherOrNothing(matcher: string | null): HookMatcher | null {
  try {
    return readMatcher(matcher);
  } catch {
    return [];
  }
}

async function runHook<Event extends HookEvent>(
  { command, timeoutMs }: CommandHook,
  event: Event,
  view: Parameters<Run<Event>>[0],
  signal: AbortSignal,
  { clock, projectFolder, env, transcriptPath }: CommandHookPlace,
): Promise<CommandSaid> {
  const { cwd, sessionId }: HookSession = view;
  try {
    const end = await runShell({
      command,
      shell: existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh',
      cwd,
      env: { ...env, CLAUDE_PROJECT_DIR: projectFolder, ESCAPEMENT_PROJECT_DIR: projectFolder },
      timeoutMs,
      killGraceMs,
      clock,
      signal,
      stdin: `${JSON.stringify(commandInput(event, view, transcriptPath(sessionId, cwd)))}\n`,
      errorsApart: true,
      kept,
    });
    return readCommand(event, end, timeoutMs);
  } catch (error) {
    return warn(`did not start: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function context({ context: text }: CommandSaid): { readonly context?: string } {
  return text === null ? {} : { context: text };
}

/** Notices, and an objection to what cannot be objected to. */
function heard({ notices, block, stop }: CommandSaid): readonly string[] {
  return [...notices, ...[block, stop].filter((text) => text !== null)];
}

function promptAnswer(said: CommandSaid) {
  const block = said.block ?? said.stop;
  return { ...(block === null ? {} : { block }), ...context(said), notices: said.notices };
}

function beforeAnswer(said: CommandSaid) {
  const decision = said.block === null ? said.decision : 'deny';
  const reason = said.block ?? said.reason;
  return {
    ...(decision === null ? {} : { decision }),
    ...(reason === null ? {} : { reason }),
    ...(said.input === null ? {} : { input: said.input }),
    ...(said.stop === null ? {} : { stop: said.stop }),
    ...context(said),
    notices: said.notices,
  };
}

/** The tool has run: an objection is something that the model is told. */
function afterAnswer(said: CommandSaid) {
  const texts = [said.block, said.context].filter((text) => text !== null && text.trim() !== '');
  return {
    ...(texts.length === 0 ? {} : { context: texts.join('\n') }),
    ...(said.stop === null ? {} : { stop: said.stop }),
    ...(said.output === null ? {} : { output: said.output }),
    notices: said.notices,
  };
}

function stopAnswer(said: CommandSaid) {
  return {
    ...(said.block === null ? {} : { block: [said.block] }),
    ...(said.stop === null ? {} : { prevent: said.stop }),
    notices: said.notices,
  };
}
