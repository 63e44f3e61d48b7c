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
  /** What a tool says about an input. Contract: fail-closed, must not throw. */
  readonly verdictOf: (name: string, input: JsonObject) => ToolVerdict;
}

type StreamModel = EffectOf<'streamModel'>;

/** Answers with `model.blockEnded` for each whole block, then `model.answered` or `model.failed`. After a cancel: nothing. */
export function streamModel(deps: StreamModelDeps): EffectRunner<'streamModel'> {
  return async (effect, io) => {
    const accumulator = new Accumulator();
    try {
      if (effect.delayMs > 0) await sleep(io.clock, effect.delayMs, io.signal);
      await read(deps, effect, io, accumulator);
      finish(effect, io, accumulator, incompleteness(accumulator));
    } catch (error) {
      if (io.signal.aborted) return;
      finish(effect, io, accumulator, classify(error, requestFacts(effect.request, io.clock.now())));
    }
  };
}

async function read(deps: StreamModelDeps, effect: StreamModel, io: EffectIo, accumulator: Accumulator): Promise<void> {
  const { signal, clock, ready } = io;
  for await (const event of deps.callModel(effect.request, { purpose: 'model', signal, clock, ready })) {
    if (signal.aborted) return;
    const { delta, whole } = accumulator.take(event);
    if (delta !== null) io.observe({ type: 'delta', messageId: effect.messageId, ...delta });
    if (whole !== null) report(deps, effect, io, whole);
    if (accumulator.isStopped) return;
  }
}

function report(deps: StreamModelDeps, effect: StreamModel, io: EffectIo, { block, rawInput }: WholeBlock): void {
  const isTool = block.type === 'tool_use';
  const verdict = isTool && rawInput === null ? deps.verdictOf(block.name, block.input) : null;
  io.post({ type: 'model.blockEnded', effectId: effect.id, block, verdict, rawInput: isTool ? rawInput : null });
}

/** A stream may end without a word: only `message_stop` after a stop reason makes an answer whole. */
function incompleteness(accumulator: Accumulator): Failure | null {
  if (accumulator.isStopped) return null;
  return failureOf('incomplete', 'The stream ended before the answer was whole.');
}

function finish(effect: StreamModel, io: EffectIo, accumulator: Accumulator, failure: Failure | null): void {
  if (io.signal.aborted) return;
  const { usage, unfinished, stopReason } = accumulator;
  if (failure === null) io.post({ type: 'model.answered', effectId: effect.id, stopReason, usage });
  else io.post({ type: 'model.failed', effectId: effect.id, failure, unfinished, usage });
}
