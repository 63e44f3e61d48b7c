/** Performs `summarizeSpan`: the small model summarises a span of the history before it must go. */
import { collectAnswer } from '../model/collect.ts';
import type { CallModel } from '../model/transport.ts';
import { type EffectRunner, unseenCall } from './io.ts';

export interface SummarizeSpanDeps {
  readonly callModel: CallModel;
}

/** Answers with `span.summarized`; its text is null after any failure, or when the summary is not whole. */
export function summarizeSpan({ callModel }: SummarizeSpanDeps): EffectRunner<'summarizeSpan'> {
  return async ({ id, request }, io) => {
    const answer = await collectAnswer(callModel, request, unseenCall('small', io)).catch(() => null);
    const text = answer?.stopReason === 'end_turn' ? answer.text : null;
    if (!io.signal.aborted) io.post({ type: 'span.summarized', effectId: id, text });
  };
}
