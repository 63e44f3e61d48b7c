/**
 * Layer 0: no request holds more of one turn's results, or larger images, than is good for it. The rest of it stands where
 * results come in: the pipeline keeps the limit of each tool, `withinMessageBudget` that of each message.
 */
import type { LoopConfig } from '../config.ts';
import type { LoopState } from '../state.ts';
import { conversation } from '../wire/request.ts';
import { withoutBoundThinking } from './thinking.ts';
import { withConversation } from './edit.ts';
import { withinImageLimits } from './media.ts';

/** Replaces images that the API would refuse among those that are sent now; the edit is stored. */
export function toolResultBudget(state: LoopState, _config: LoopConfig): LoopState {
  const before = conversation(state);
  const after = withinImageLimits(before);
  return after === before ? state : withConversation(state, withoutBoundThinking(before, after));
}
