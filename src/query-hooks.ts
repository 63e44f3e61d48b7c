/** The hooks around a query: before its first call, beside it, and after its end. Those around tools are effects. */
import type { Background } from './background.ts';
import type { Clock } from './clock.ts';
import type { Emitted } from './core/output.ts';
import type { LoopState } from './core/state.ts';
import type { EffectRunner } from './effects/io.ts';
import type { HookSession, Hooks, SessionStartView } from './hooks/hook.ts';
import { askNoticeHooks, askPromptHooks, type PromptVerdict } from './hooks/run-session-hooks.ts';
import type { QueryOptions } from './query-options.ts';
import type { ToolCallView } from './tools/hook-port.ts';
import { settle } from './tools/settle.ts';

/** After an abort a hook may clean up for so many milliseconds (a command hook kills its process). */
const abortGraceMs = 5_000;

interface QueryHooksDeps {
  readonly hooks: Hooks;
  readonly background: Background;
  readonly clock: Clock;
  /** Absolute path of the folder that the session works in. */
  readonly cwd: string;
}

/** Sources whose queries are no turn of a user. */
function isOwnWork(querySource: string | undefined): boolean {
  return querySource?.startsWith('agent:') === true || querySource === 'compact' || querySource === 'session_memory';
}

export class QueryHooks {
  readonly #deps: QueryHooksDeps;

  constructor(deps: QueryHooksDeps) {
    this.#deps = deps;
  }

  /** Asks the hooks before the first call; null: there are none, or this is no prompt of a user. Never rejects. */
  async beforePrompt(options: QueryOptions, state: LoopState, signal: AbortSignal): Promise<PromptVerdict | null> {
    const { hooks, clock } = this.#deps;
    if (isOwnWork(options.querySource) || options.resume !== undefined || options.compact !== undefined) return null;
    if (hooks.sessionStart.length + hooks.userPromptSubmit.length === 0) return null;
    const session = this.#sessionOf(state);
    const source = sessionSource(options);
    const prompt = promptText(options);
    return askPromptHooks(
      hooks,
      source === null ? null : { ...session, source },
      prompt === null ? null : { ...session, prompt },
      (work, timeoutMs) => settle(work, { clock, signal, timeoutMs, graceMs: abortGraceMs }),
    );
  }

  /** Told of everything that the consumer sees: a compaction that worked is one cause of hooks. */
  shown(item: Emitted, state: LoopState): void {
    const { hooks, background } = this.#deps;
    const isDone = item.type === 'notice' && item.compaction?.stage === 'PostCompact';
    if (!isDone || item.compaction?.tokensAfter == null || hooks.postCompact.length === 0) return;
    const trigger = item.compaction.kind === 'manual_compact' ? 'manual' : 'auto';
    const view = { ...this.#sessionOf(state), trigger, summary: summaryOf(state) } as const;
    background.start((ask) => askNoticeHooks('PostCompact', hooks.postCompact, trigger, view, ask));
  }

  /** The user is about to be asked. */
  readonly asking = ({ toolName, sessionId, cwd, permissionMode }: ToolCallView): void => {
    const { hooks, background } = this.#deps;
    if (hooks.notification.length === 0) return;
    const kind = 'permission_prompt';
    const view = { sessionId, cwd, permissionMode, kind, message: `Permission is needed to use ${toolName}` } as const;
    background.start((ask) => askNoticeHooks('Notification', hooks.notification, kind, view, ask));
  };

  /** The query is over: work that no answer waits for. */
  ended(state: LoopState, querySource: string | undefined): void {
    const { hooks, background } = this.#deps;
    const outcome = state.terminal?.outcome ?? null;
    if (outcome !== 'done' || hooks.afterAnswer.length === 0 || isOwnWork(querySource)) return;
    const view = { ...this.#sessionOf(state), outcome, messages: state.carried.messages };
    background.start((ask) => askNoticeHooks('afterAnswer', hooks.afterAnswer, '', view, ask));
  }

  /** The same runner, with the PreCompact hooks before it. */
  compacting(compact: EffectRunner<'compact'>): EffectRunner<'compact'> {
    const { hooks, cwd } = this.#deps;
    if (hooks.preCompact.length === 0) return compact;
    return async (effect, io) => {
      const { clock, signal } = io;
      const trigger = effect.kind === 'manual_compact' ? 'manual' : 'auto';
      const { queryTracking, permissionMode } = effect.context;
      const session = { sessionId: queryTracking.chainId, cwd, permissionMode };
      const view = { ...session, trigger, instructions: effect.instructions } as const;
      const notices = await askNoticeHooks('PreCompact', hooks.preCompact, trigger, view, (work, timeoutMs) =>
        settle(work, { clock, signal, timeoutMs, graceMs: abortGraceMs }),
      );
      for (const text of notices) io.observe({ type: 'notice', text });
      if (!signal.aborted) await compact(effect, io);
    };
  }

  #sessionOf({ carried }: LoopState): HookSession {
    const { queryTracking, permissionMode } = carried.toolUseContext;
    return { sessionId: queryTracking.chainId, cwd: this.#deps.cwd, permissionMode };
  }
}

/** A query that got the facts of the one before goes on with its session. */
function sessionSource({ messages = [], session }: QueryOptions): SessionStartView['source'] | null {
  if (session !== undefined) return null;
  return messages.length === 0 ? 'startup' : 'resume';
}

/** What the user says now as text; null when the query only goes on. */
function promptText({ prompt }: QueryOptions): string | null {
  if (prompt === undefined || typeof prompt === 'string') return prompt ?? null;
  return prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function summaryOf({ carried }: LoopState): string {
  const message = carried.messages.find((one) => one.role === 'user' && one.origin === 'summary');
  const [block] = message?.content ?? [];
  return block?.type === 'text' ? block.text : '';
}
