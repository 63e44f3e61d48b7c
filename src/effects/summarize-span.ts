/** Performs `summarizeSpan`: the small model summarises a span of the history before it must go. */
import type { CallModel } from '../model/transport.ts';
import { askSmallModel } from './ask-small-model.ts';
import type { EffectRunner } from './io.ts';

export interface SummarizeSpanDeps {
  readonly callModel: CallModel;
}

/** Answers with `span.summarized`; its text is null after any failure, or when the summary is not whole. */
export function summarizeSpan({ callModel }: SummarizeSpanDeps): EffectRunner<'summarizeSpan'> {
  return async ({ id, request }, io) => {
    const { answer, usage } = await askSmallModel(callModel, request, io);
    const text = answer?.stopReason === 'end_turn' ? answer.text : null;
    if (!io.signal.aborted) io.post({ type: 'span.summarized', effectId: id, text, usage });
  };
}
