/** Performs `runTool`: one call through the pipeline, its progress for the consumer, its outcome for the loop. */
import type { EffectOf } from '../core/effect.ts';
import type { ToolDecision, ToolOutcome } from '../core/state.ts';
import type { Hooks } from '../hooks/hook.ts';
import { createToolHooks } from '../hooks/run-tool-hooks.ts';
import type { PipelineDeps } from '../tools/call.ts';
import { outcomeText } from '../tools/outcome.ts';
import { runPipeline } from '../tools/pipeline.ts';
import { oneLine } from '../tools/text.ts';
import type { EffectIo, EffectRunner } from './io.ts';

/** Newest output is shown at most so often, in milliseconds: a person reads no faster. */
const progressIntervalMs = 200;
/** Longest line about a call, in characters. */
const longestLine = 200;

/** As the pipeline wants them, with the function hooks as they are written. */
export interface RunToolDeps extends Omit<PipelineDeps, 'hooks'> {
  readonly hooks: Pick<Hooks, 'preToolUse' | 'postToolUse'>;
  /** Told of each call before the pipeline begins. Contract: must not throw. Default: nobody. */
  readonly began?: (effect: EffectOf<'runTool'>) => void;
}

/**
 * Answers with `tool.ended`, after a `tool.decided` for each hook and permission decision. After a cancel it posts and
 * shows nothing more, and resolves when the tool has stopped or was left behind.
 */
export function runTool(given: RunToolDeps): EffectRunner<'runTool'> {
  const deps: PipelineDeps = { ...given, hooks: createToolHooks(given.hooks) };
  return async (effect, io) => {
    given.began?.(effect);
    const { id, toolUseId, name, input, context, decisions } = effect;
    const progress = startProgress(effect, summaryOf(deps, effect), io);
    const decided = (decision: ToolDecision): void =>
      io.post({ type: 'tool.decided', effectId: id, toolUseId, decision });
    const notices: string[] = [];
    const ran = await runPipeline({ toolUseId, name, input, shared: context, decisions }, deps, {
      clock: io.clock,
      signal: io.signal,
      ...(io.actor === undefined ? {} : { actor: io.actor }),
      progress: progress.show,
      notice: (sentence) => {
        progress.note(sentence);
        notices.push(sentence);
      },
      began: progress.restart,
      decided,
    });
    const outcome = { ...ran, notices: [...ran.notices, ...notices] };
    progress.end(outcome);
    if (!io.signal.aborted) io.post({ type: 'tool.ended', effectId: id, toolUseId, outcome });
  };
}

interface Progress {
  /** Shows newest output, at most one line an interval; what comes faster is replaced by what comes after it. */
  readonly show: (text: string) => void;
  /** Shows a sentence at once. */
  readonly note: (sentence: string) => void;
  /** Measures time from now on: what came before was waiting for hooks and permission. */
  readonly restart: () => void;
  readonly end: (outcome: ToolOutcome) => void;
}

function startProgress(effect: EffectOf<'runTool'>, summary: string, io: EffectIo): Progress {
  const { toolUseId, name } = effect;
  let since = io.clock.now();
  let waiting: string | null = null;
  let cancelTimer: (() => void) | null = null;
  const observe = (
    status: 'started' | 'running' | 'ended',
    text: string,
    isError: boolean | null,
    stage?: string,
  ): void => {
    if (io.signal.aborted) return;
    io.observe({
      type: 'progress',
      toolUseId,
      name,
      status,
      ms: io.clock.now() - since,
      text: oneLine(text, longestLine),
      isError,
      ...(stage === undefined ? {} : { stage }),
    });
  };
  const flush = (): void => {
    cancelTimer = null;
    if (waiting === null) return;
    observe('running', waiting, null);
    waiting = null;
    cancelTimer = io.clock.schedule(flush, progressIntervalMs);
  };
  observe('started', summary, null);
  return {
    show(text) {
      waiting = text;
      if (cancelTimer === null) flush();
    },
    note: (sentence) => observe('running', sentence, null),
    restart() {
      since = io.clock.now();
    },
    end(outcome) {
      cancelTimer?.();
      observe('ended', outcomeText(outcome), outcome.isError, outcome.stage);
    },
  };
}

/** A few words on the call; for an input that does not fit, the input itself. */
function summaryOf(deps: PipelineDeps, { name, input }: EffectOf<'runTool'>): string {
  try {
    const tool = deps.registry().find(name);
    const parsed = tool?.input.safeParse(input);
    if (parsed?.success === true && tool) return tool.summary(parsed.data);
  } catch {
    // A summary is for people: none is no reason to fail.
  }
  return JSON.stringify(input);
}
