/** One request whose answer is wanted as a whole. */
import type { CompactionBlock, Usage } from '../core/message.ts';
import type { WireRequest } from '../core/wire/request-type.ts';
import { Accumulator } from './accumulator.ts';
import type { CallIo, CallModel } from './transport.ts';

export interface WholeAnswer {
  /** All text of the answer. */
  readonly text: string;
  /** The summary that the API itself made of the conversation, as it came; null for an answer without one. */
  readonly block: CompactionBlock | null;
  /** Null when the stream ended before the answer was whole. */
  readonly stopReason: string | null;
  readonly usage: Usage;
}

/**
 * Reads an answer to its end. Throws what the caller of the model throws.
 *
 * @param onUsage told what was reported when the answer ends, whole or not.
 */
export async function collectAnswer(
  callModel: CallModel,
  request: WireRequest,
  io: CallIo,
  onUsage: (usage: Usage) => void = () => {},
): Promise<WholeAnswer> {
  const accumulator = new Accumulator();
  const texts: string[] = [];
  let compaction: CompactionBlock | null = null;
  try {
    for await (const event of callModel(request, io)) {
      const { whole } = accumulator.take(event);
      for (const { block } of whole) {
        if (block.type === 'text') texts.push(block.text);
        if (block.type === 'compaction') compaction = block;
      }
      if (accumulator.isStopped) break;
    }
  } finally {
    onUsage(accumulator.usage);
  }
  const { isStopped, stopReason, usage } = accumulator;
  return { text: texts.join('\n'), block: compaction, stopReason: isStopped ? stopReason : null, usage };
}
