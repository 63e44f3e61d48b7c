/** Layer 3: spans of the history that are replaced by a summary which the small model wrote beforehand. */
import { note, userMessage } from '../answer.ts';
import type { LoopConfig } from '../config.ts';
import { idAt } from '../ids.ts';
import type { Message } from '../message.ts';
import type { LoopState, StagedCollapse } from '../state.ts';
import { editHistory, isLayerDue, withHistory } from './edit.ts';
import { isCutPoint } from './safe-cut.ts';
import { withoutBoundThinking } from './thinking.ts';

/** Above `layers.commitAbove` of the auto-compact threshold: staged spans are committed, oldest first, until it is not. */
export function collapse(state: LoopState, config: LoopConfig): LoopState {
  if (!config.collapse || state.query.staged.length === 0) return state;
  let next = state;
  while (next.query.staged.length > 0 && isLayerDue(next, config, config.layers.commitAbove)) {
    next = commitFirst(next, config);
  }
  if (next.carried.messages === state.carried.messages) return next;
  return shownEdit(state, next, next.carried.messages, config);
}

/** Replaces everything that is staged, at once; for an overflow. */
export function commitAll(state: LoopState, config: LoopConfig): LoopState {
  let next = state;
  while (next.query.staged.length > 0) next = commitFirst(next, config);
  const messages = withoutBoundThinking(state.carried.messages, next.carried.messages);
  return shownEdit(state, next, messages, config);
}

/** What several commits did, as the one edit that is shown: `after` has the account, `messages` the history. */
function shownEdit(before: LoopState, after: LoopState, messages: readonly Message[], config: LoopConfig): LoopState {
  const edited = editHistory(before, messages, 'collapse', config);
  return { ...edited, query: { ...after.query, measured: edited.query.measured } };
}

/** The oldest staged span is off the list, and replaced where it still stands as it was staged. */
function commitFirst(state: LoopState, config: LoopConfig): LoopState {
  const [span, ...staged] = state.query.staged;
  const { messages } = state.carried;
  const range = span === undefined ? null : spanRange(messages, span);
  const query = { ...state.query, staged };
  if (span === undefined || range === null) return { ...state, query };
  const drawn = query.drawn + 1;
  const text = note(`Earlier: ${span.summary}`);
  const summary = userMessage(idAt(query.seed, drawn), 'summary', [{ type: 'text', text }]);
  const left = [...messages.slice(0, range.first), summary, ...messages.slice(range.last + 1)];
  return withHistory({ ...state, query: { ...query, drawn } }, left, config);
}

/** A part of the history by its ends. */
export type Span = Pick<StagedCollapse, 'firstId' | 'lastId'>;

/** Where a span stands; null when it is gone or would separate a tool use from its result. */
export function spanRange(
  messages: readonly Message[],
  span: Span,
): { readonly first: number; readonly last: number } | null {
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
