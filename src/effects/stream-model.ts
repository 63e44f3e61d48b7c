/** Performs `streamModel`: one request, its blocks as they end, then how it ended. */
import { sleep } from '../clock.ts';
import type { EffectOf } from '../core/effect.ts';
import { type Failure, failureOf } from '../core/failure.ts';
import type { JsonObject } from '../core/json.ts';
import type { AssistantBlock } from '../core/message.ts';
import type { OutputVerdict, ToolVerdict } from '../core/state.ts';
import { answerText } from '../core/structured-output.ts';
import { Accumulator, type WholeBlock } from '../model/accumulator.ts';
import { classify } from '../model/errors.ts';
import { requestFacts } from '../model/facts.ts';
import type { CallModel } from '../model/transport.ts';
import { type CheckValue, checkOutput } from './check-output.ts';
import type { EffectIo, EffectRunner } from './io.ts';

export interface StreamModelDeps {
  readonly callModel: CallModel;
  /** What a tool says about an input. A throw counts as "neither safe nor read-only". */
  readonly verdictOf: (name: string, input: JsonObject) => ToolVerdict;
  /** Says whether a final answer fits the schema of the query. Null, or left out: nothing has to fit. */
  readonly checkValue?: CheckValue | null;
}

type StreamModel = EffectOf<'streamModel'>;

/** One request under way. */
interface Work {
  readonly deps: StreamModelDeps;
  readonly effect: StreamModel;
  readonly io: EffectIo;
  readonly accumulator: Accumulator;
  /** What was reported so far. */
  readonly blocks: AssistantBlock[];
}

/** Answers with `model.blockEnded` for each whole block, then `model.answered` or `model.failed`. After a cancel: nothing. */
export function streamModel(deps: StreamModelDeps): EffectRunner<'streamModel'> {
  return async (effect, io) => {
    const work = { deps, effect, io, accumulator: new Accumulator(), blocks: [] };
    const failure = await attempt(work);
    if (io.signal.aborted) return;
    if (failure === null) await answered(work);
    else failed(work, failure);
  };
}

/** One request, after the wait that the core orders. What went wrong, or null for a whole answer. */
async function attempt(work: Work): Promise<Failure | null> {
  const { effect, io, accumulator } = work;
  try {
    if (effect.delayMs > 0) await sleep(io.clock, effect.delayMs, io.signal);
    await read(work);
    return incompleteness(accumulator);
  } catch (error) {
    return classify(error, requestFacts(effect.request, io.clock.now()));
  }
}

async function read(work: Work): Promise<void> {
  const { deps, effect, io, accumulator } = work;
  const { signal, clock, ready } = io;
  for await (const event of deps.callModel(effect.request, { purpose: 'model', signal, clock, ready })) {
    if (signal.aborted) return;
    const { delta, whole } = accumulator.take(event);
    if (delta !== null) io.observe({ type: 'delta', messageId: effect.messageId, ...delta });
    for (const block of whole) report(work, block);
    if (accumulator.isStopped) return;
  }
}

function report({ deps, effect, io, blocks }: Work, { block, rawInput }: WholeBlock): void {
  blocks.push(block);
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

async function answered(work: Work): Promise<void> {
  const { effect, io, accumulator } = work;
  const { stopReason, usage, cleared } = accumulator;
  if (cleared !== null) {
    const input = usage.input + usage.cacheRead + usage.cacheCreation;
    io.post({ type: 'context.cleared', effectId: effect.id, cleared, input });
  }
  const output = await outputOf(work);
  const checked = output === null ? {} : { output };
  io.post({ type: 'model.answered', effectId: effect.id, stopReason, usage, ...checked });
}

/** The verdict on an answer that says "done"; null for any other, and where nothing has to fit. */
async function outputOf({ deps, effect, io, accumulator, blocks }: Work): Promise<OutputVerdict | null> {
  const saysDone = accumulator.stopReason === 'end_turn' || accumulator.stopReason === 'stop_sequence';
  const isChecked = deps.checkValue !== undefined && deps.checkValue !== null && saysDone;
  return isChecked ? checkOutput(answerText(effect.answerStart, blocks), deps.checkValue, io) : null;
}

function failed(work: Work, failure: Failure): void {
  const { effect, io, accumulator } = work;
  for (const block of accumulator.takeHeld()) report(work, block);
  const { unfinished, usage } = accumulator;
  io.post({ type: 'model.failed', effectId: effect.id, failure, unfinished, usage });
}
