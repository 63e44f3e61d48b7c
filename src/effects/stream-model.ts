/** Performs `streamModel`: one request, its blocks as they end, then how it ended. */
import { sleep } from '../clock.ts';
import type { EffectOf } from '../core/effect.ts';
import { type Failure, failureOf } from '../core/failure.ts';
import type { JsonObject } from '../core/json.ts';
import type { ToolVerdict } from '../core/state.ts';
import { Accumulator, type WholeBlock } from '../model/accumulator.ts';
import { classify } from '../model/errors.ts';
import { requestFacts } from '../model/facts.ts';
import type { CallModel } from '../model/transport.ts';
import type { EffectIo, EffectRunner } from './io.ts';

export interface StreamModelDeps {
  readonly callModel: CallModel;
  /** What a tool says about an input. A throw counts as "neither safe nor read-only". */
  readonly verdictOf: (name: string, input: JsonObject) => ToolVerdict;
}

type StreamModel = EffectOf<'streamModel'>;

/** Answers with `model.blockEnded` for each whole block, then `model.answered` or `model.failed`. After a cancel: nothing. */
export function streamModel(deps: StreamModelDeps): EffectRunner<'streamModel'> {
  return async (effect, io) => {
    const accumulator = new Accumulator();
    const failure = await attempt(deps, effect, io, accumulator);
    if (io.signal.aborted) return;
    if (failure === null) answered(effect, io, accumulator);
    else failed(deps, effect, io, accumulator, failure);
  };
}

/** One request, after the wait that the core orders. What went wrong, or null for a whole answer. */
async function attempt(
  deps: StreamModelDeps,
  effect: StreamModel,
  io: EffectIo,
  accumulator: Accumulator,
): Promise<Failure | null> {
  try {
    if (effect.delayMs > 0) await sleep(io.clock, effect.delayMs, io.signal);
    await read(deps, effect, io, accumulator);
    return incompleteness(accumulator);
  } catch (error) {
    return classify(error, requestFacts(effect.request, io.clock.now()));
  }
}

async function read(deps: StreamModelDeps, effect: StreamModel, io: EffectIo, accumulator: Accumulator): Promise<void> {
  const { signal, clock, ready } = io;
  for await (const event of deps.callModel(effect.request, { purpose: 'model', signal, clock, ready })) {
    if (signal.aborted) return;
    const { delta, whole } = accumulator.take(event);
    if (delta !== null) io.observe({ type: 'delta', messageId: effect.messageId, ...delta });
    for (const block of whole) report(deps, effect, io, block);
    if (accumulator.isStopped) return;
  }
}

function report(deps: StreamModelDeps, effect: StreamModel, io: EffectIo, { block, rawInput }: WholeBlock): void {
  const isTool = block.type === 'tool_use';
  const verdict = isTool && rawInput === null ? verdictOf(deps, block.name, block.input) : null;
  io.post({ type: 'model.blockEnded', effectId: effect.id, block, verdict, rawInput: isTool ? rawInput : null });
}

const unsafe: ToolVerdict = { concurrencySafe: false, readOnly: false, replaySafe: false };

/** Fail-closed: a tool that cannot judge its input waits for the end of the answer and runs alone. */
function verdictOf(deps: StreamModelDeps, name: string, input: JsonObject): ToolVerdict {
  try {
    return deps.verdictOf(name, input);
  } catch {
    return unsafe;
  }
}

/** A stream may end without a word: only `message_stop` after a stop reason makes an answer whole. */
function incompleteness({ isStopped, stopReason }: Accumulator): Failure | null {
  if (!isStopped) return failureOf('incomplete', 'The stream ended before the answer was whole.');
  return stopReason === null ? failureOf('incomplete', 'The answer ended without a stop reason.') : null;
}

function answered({ id }: StreamModel, io: EffectIo, { stopReason, usage, cleared }: Accumulator): void {
  if (cleared !== null) {
    const input = usage.input + usage.cacheRead + usage.cacheCreation;
    io.post({ type: 'context.cleared', effectId: id, cleared, input });
  }
  io.post({ type: 'model.answered', effectId: id, stopReason, usage });
}

function failed(
  deps: StreamModelDeps,
  effect: StreamModel,
  io: EffectIo,
  accumulator: Accumulator,
  failure: Failure,
): void {
  for (const block of accumulator.takeHeld()) report(deps, effect, io, block);
  const { unfinished, usage } = accumulator;
  io.post({ type: 'model.failed', effectId: effect.id, failure, unfinished, usage });
}
