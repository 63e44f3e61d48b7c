/** Layer 3: spans of the history that are replaced by a summary which was written beforehand. */
import { note, userMessage } from '../answer.ts';
import type { Message } from '../message.ts';
import type { StagedCollapse } from '../state.ts';
import { isCutPoint } from './auto-compact.ts';

/** Replaces each staged span that still stands as it was staged; `idOf` names the summary messages. */
export function commitCollapses(
  messages: readonly Message[],
  staged: readonly StagedCollapse[],
  idOf: (index: number) => string,
): readonly Message[] {
  return staged.reduce<readonly Message[]>((history, span, index) => commitOne(history, span, idOf(index)), messages);
}

function commitOne(messages: readonly Message[], span: StagedCollapse, id: string): readonly Message[] {
  const range = spanRange(messages, span);
  if (range === null) return messages;
  const summary = userMessage(id, 'summary', [{ type: 'text', text: note(`Earlier: ${span.summary}`) }]);
  return [...messages.slice(0, range.first), summary, ...messages.slice(range.last + 1)];
}

/** Where a span stands; null when it is gone or would separate a tool use from its result. */
function spanRange(messages: readonly Message[], span: StagedCollapse): { first: number; last: number } | null {
  const first = messages.findIndex((message) => message.id === span.firstId);
  const last = messages.findIndex((message) => message.id === span.lastId);
  if (first < 0 || last < first) return null;
  const startsWhole = first === 0 || isCutPoint(messages, first);
  return startsWhole && isCutPoint(messages, last + 1) ? { first, last } : null;
}

/** True when committing what is staged would change the history. */
export function canDrain(messages: readonly Message[], staged: readonly StagedCollapse[]): boolean {
  return staged.some((span) => spanRange(messages, span) !== null);
}
