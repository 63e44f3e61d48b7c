/** Performs `summarizeToolUse`: the small model writes one line on the tools of the last turn. */
import type { EffectOf } from '../core/effect.ts';
import type { WireRequest } from '../core/wire/request-type.ts';
import { collectAnswer } from '../model/collect.ts';
import type { CallModel } from '../model/transport.ts';
import { type EffectIo, type EffectRunner, unseenCall } from './io.ts';

export interface SummarizeToolUseDeps {
  readonly callModel: CallModel;
  readonly smallModel: string | null;
}

/** A line needs no more, in tokens. */
const summaryTokens = 100;
/** Of what tools were asked and answered the small model sees so many characters. */
const mostCharacters = 4_000;

/** Answers with `toolUse.summarized`; its text is null after any failure: a missing line hurts nobody. */
export function summarizeToolUse(deps: SummarizeToolUseDeps): EffectRunner<'summarizeToolUse'> {
  return async (effect, io) => {
    const text = await summarise(deps, effect, io).catch(() => null);
    if (!io.signal.aborted) io.post({ type: 'toolUse.summarized', effectId: effect.id, text });
  };
}

async function summarise(
  { callModel, smallModel }: SummarizeToolUseDeps,
  effect: EffectOf<'summarizeToolUse'>,
  io: EffectIo,
): Promise<string | null> {
  if (smallModel === null) return null;
  const request = requestFor(smallModel, effect);
  const { text, stopReason } = await collectAnswer(callModel, request, unseenCall('small', io));
  const line = text.trim().split('\n')[0] ?? '';
  return stopReason === 'end_turn' && line !== '' ? line : null;
}

function requestFor(model: string, { messages }: EffectOf<'summarizeToolUse'>): WireRequest {
  const work = JSON.stringify(messages.map(({ role, content }) => ({ role, content }))).slice(0, mostCharacters);
  const order = `In at most eight words, in the past tense, say what these tool calls did:\n${work.toWellFormed()}`;
  return { model, max_tokens: summaryTokens, messages: [{ role: 'user', content: [{ type: 'text', text: order }] }] };
}
