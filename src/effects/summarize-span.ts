/** Performs `summarizeSpan`: the small model summarises a span of the history before it must go. */
import { collectAnswer } from '../model/collect.ts';
import type { CallModel } from '../model/transport.ts';
import type { EffectRunner } from './io.ts';

export interface SummarizeSpanDeps {
  readonly callModel: CallModel;
}

/** Answers with `span.summarized`; its text is null after any failure, or when the summary is not whole. */
export function summarizeSpan({ callModel }: SummarizeSpanDeps): EffectRunner<'summarizeSpan'> {
  return async ({ id, request }, { post, signal, clock }) => {
    const ready = (): Promise<void> => Promise.resolve();
    const answer = await collectAnswer(callModel, request, { purpose: 'small', signal, clock, ready }).catch(
      () => null,
    );
    const text = answer !== null && answer.stopReason === 'end_turn' ? answer.text : null;
    if (!signal.aborted) post({ type: 'span.summarized', effectId: id, text });
  };
}
