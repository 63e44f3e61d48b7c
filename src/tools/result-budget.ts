/** Layer 0 for one tool: a result over its limit goes to the store whole, and the model gets both its ends. */
import { largestPreview, preview, textOfContent, whereabouts } from '../core/context/message-budget.ts';
import { estimateBlock } from '../core/context/tokens.ts';
import type { StoredText } from '../core/state.ts';
import { count } from '../core/text.ts';
import type { ResultStore } from './result-store.ts';
import { describeThrown } from './thrown.ts';
import type { ToolContent } from './tool.ts';

/** A preview under so many characters would lose the path of the whole: a tool with a smaller limit gets as many. */
const leastPreview = 500;
/** Characters that one estimated token stands for, as in the core's estimate of text: media count by it. */
const charactersPerToken = 3;

/** The size of a result in characters; an image or document counts as many as it would cost in tokens. */
export function contentSize(content: readonly ToolContent[]): number {
  return content.reduce((sum, block) => sum + blockSize(block), 0);
}

function blockSize(block: ToolContent): number {
  return block.type === 'text' ? block.text.length : estimateBlock({ ...block }) * charactersPerToken;
}

/** A result within its limit. */
export interface FittingResult {
  readonly content: readonly ToolContent[];
  /** For `ToolOutcome.whole`. */
  readonly whole: StoredText | null;
}

/**
 * Brings a result within `limit` characters (Infinity: as it is). Text goes to the store whole and is replaced by its
 * two ends; media stay as long as they fit behind that. A text that fits here may be too much for its message: one that is
 * larger than a preview is stored too. Never rejects: when the store fails, the result says so.
 */
export async function applyResultBudget(
  content: readonly ToolContent[],
  limit: number,
  store: ResultStore,
  toolUseId: string,
): Promise<FittingResult> {
  if (limit === Number.POSITIVE_INFINITY) return { content, whole: null };
  const text = textOfContent(content);
  const fits = contentSize(content) <= limit;
  if (fits && text.length <= largestPreview) return { content, whole: { path: null, characters: text.length } };
  const { path, why } = await keep(store, toolUseId, text);
  const whole = { path, characters: text.length };
  if (fits) return { content, whole };
  const cut = preview(text, Math.max(limit, leastPreview), whereabouts(whole, why));
  return { content: [{ type: 'text', text: cut }, ...fittingMedia(content, limit - cut.length)], whole };
}

interface Kept {
  readonly path: string | null;
  readonly why: string | null;
}

async function keep(store: ResultStore, toolUseId: string, text: string): Promise<Kept> {
  try {
    return { path: await store.put(toolUseId, text), why: null };
  } catch (error) {
    return { path: null, why: describeThrown(error) };
  }
}

function fittingMedia(content: readonly ToolContent[], room: number): readonly ToolContent[] {
  let left = room;
  const media = content.filter((block) => block.type !== 'text');
  const kept = media.filter((block) => {
    left -= blockSize(block);
    return left >= 0;
  });
  if (kept.length === media.length) return kept;
  const note = `[${count(media.length - kept.length, 'image or document')} left out: the result would be too large.]`;
  return [...kept, { type: 'text', text: note }];
}
