/** Performs `summarizeToolUse`: the small model writes one line on the tools of the last turn. */
import type { EffectOf } from '../core/effect.ts';
import type { WireRequest } from '../core/wire/request-type.ts';
import type { CallModel } from '../model/transport.ts';
import { askSmallModel } from './ask-small-model.ts';
import type { EffectRunner } from './io.ts';

export interface SummarizeToolUseDeps {
  readonly callModel: CallModel;
  readonly smallModel: string | null;
}

/** A line needs no more, in tokens. */
const summaryTokens = 100;
/** Of what tools were asked and answered the small model sees so many characters. */
const mostCharacters = 4_000;

/** Answers with `toolUse.summarized`; its text is null after any failure: a missing line hurts nobody. */
export function summarizeToolUse({ callModel, smallModel }: SummarizeToolUseDeps): EffectRunner<'summarizeToolUse'> {
  return async (effect, io) => {
    const effectId = effect.id;
    if (smallModel === null) {
      io.post({ type: 'toolUse.summarized', effectId, text: null });
      return;
    }
    const { answer, usage } = await askSmallModel(callModel, requestFor(smallModel, effect), io);
    const line = answer?.stopReason === 'end_turn' ? (answer.text.trim().split('\n')[0] ?? '') : '';
    if (!io.signal.aborted) io.post({ type: 'toolUse.summarized', effectId, text: line === '' ? null : line, usage });
  };
}

function requestFor(model: string, { messages }: EffectOf<'summarizeToolUse'>): WireRequest {
  const work = JSON.stringify(messages.map(({ role, content }) => ({ role, content }))).slice(0, mostCharacters);
  const order = `In at most eight words, in the past tense, say what these tool calls did:\n${work.toWellFormed()}`;
  return { model, max_tokens: summaryTokens, messages: [{ role: 'user', content: [{ type: 'text', text: order }] }] };
}
