/** One request of the background: whatever goes wrong, nobody hears of it, and what it cost is known. */
import { noUsage, type Usage } from '../core/message.ts';
import type { WireRequest } from '../core/wire/request-type.ts';
import { collectAnswer, type WholeAnswer } from '../model/collect.ts';
import type { CallModel } from '../model/transport.ts';
import { type EffectIo, unseenCall } from './io.ts';

interface SmallAnswer {
  /** Null after any failure. */
  readonly answer: WholeAnswer | null;
  readonly usage: Usage;
}

/** Asks the small model. Never rejects. */
export async function askSmallModel(callModel: CallModel, request: WireRequest, io: EffectIo): Promise<SmallAnswer> {
  let usage = noUsage;
  const onUsage = (reported: Usage): void => {
    usage = reported;
  };
  const answer = await collectAnswer(callModel, request, unseenCall('small', io), onUsage).catch(() => null);
  return { answer, usage };
}
