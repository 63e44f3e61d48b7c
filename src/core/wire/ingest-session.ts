/** What a stored history in the API's own form says of its own size. */
import { isUsable } from '../context/tokens.ts';
import { textIn } from '../json.ts';
import { contextTokens, type Usage } from '../message.ts';
import { figureOf, nothingLearnt, type SessionFacts } from '../session-facts.ts';
import { ingestMessages, type LooseMessage } from './ingest.ts';

/**
 * The facts that `usage` on the newest answer of a stored history gives; they say nothing when there is none to believe. A history
 * that was compacted gives none: its answers may stand behind the summary and be older than it. What counts as a
 * compaction: a `compaction` block, a message with `isCompactSummary`, or the summary that this loop writes.
 */
export function ingestSession(messages: readonly LooseMessage[], model: string): SessionFacts {
  const index = messages.findLastIndex(({ role }) => role === 'assistant');
  const newest = messages[index];
  if (newest === undefined || messages.some(isBoundary)) return nothingLearnt;
  const usage = usageOf(newest['usage']);
  if (usage === null || !isUsable(usage)) return nothingLearnt;
  const measured = { tokens: contextTokens(usage), messages: index + 1 };
  return {
    ...nothingLearnt,
    model: textIn(newest['model']) || model,
    measured: figureOf(ingestMessages(messages, model), measured),
  };
}

/** `usage` as the API writes it; null when it is none. */
function usageOf(value: unknown): Usage | null {
  if (typeof value !== 'object' || value === null) return null;
  const members = value as Readonly<Record<string, unknown>>;
  const count = (name: string): number => {
    const tokens = members[name];
    return typeof tokens === 'number' && tokens > 0 ? tokens : 0;
  };
  return {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheCreation: count('cache_creation_input_tokens'),
  };
}

/** How the summary begins that this loop puts in the place of what it summarised. */
const ownSummary = /^<loop-note>(?:Summary of the conversation so far|Earlier): /;

function isBoundary(message: LooseMessage): boolean {
  if (message['isCompactSummary'] === true) return true;
  const { content } = message;
  if (typeof content === 'string') return ownSummary.test(content);
  return content.some((block) => block['type'] === 'compaction' || ownSummary.test(textIn(block['text'])));
}
