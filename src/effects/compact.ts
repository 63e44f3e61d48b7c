/** Performs `compact`: one request for a summary. */
import { isNothing, noUsage } from '../core/message.ts';
import { classify } from '../model/errors.ts';
import { requestFacts } from '../model/facts.ts';
import { collectAnswer } from '../model/collect.ts';
import type { CallModel } from '../model/transport.ts';
import { type EffectRunner, unseenCall } from './io.ts';

export interface CompactDeps {
  readonly callModel: CallModel;
}

/** Answers with `compact.answered`, whole or not (the rules judge), or with `compact.failed`. After a cancel: nothing. */
export function compact({ callModel }: CompactDeps): EffectRunner<'compact'> {
  return async ({ id, request }, io) => {
    const { signal, clock } = io;
    let usage = noUsage;
    try {
      const answer = await collectAnswer(callModel, request, unseenCall('summary', io), (reported) => {
        usage = reported;
      });
      if (!signal.aborted) io.post({ type: 'compact.answered', effectId: id, ...answer });
    } catch (error) {
      if (signal.aborted) return;
      const failure = classify(error, requestFacts(request, clock.now()));
      io.post({ type: 'compact.failed', effectId: id, failure, ...(isNothing(usage) ? {} : { usage }) });
    }
  };
}
