/** Layer 0 for one tool: a result over its limit goes to the store whole, and the model gets both its ends. */
import { estimateBlock } from '../core/context/tokens.ts';
import type { ResultStore } from './result-store.ts';
import { count, cutHead, cutTail } from './text.ts';
import { describeThrown } from './thrown.ts';
import type { ToolContent } from './tool.ts';

/** Characters of the preview that come from the beginning and from the end. Errors tend to stand at the end. */
const previewHead = 2_000;
const previewTail = 2_000;
/** Characters that one estimated token stands for, as in the core's estimate of text: media count by it. */
const charactersPerToken = 3;

/** The size of a result in characters; an image or document counts as many as it would cost in tokens. */
export function contentSize(content: readonly ToolContent[]): number {
  return content.reduce((sum, block) => sum + blockSize(block), 0);
}

function blockSize(block: ToolContent): number {
  return block.type === 'text' ? block.text.length : estimateBlock({ ...block }) * charactersPerToken;
}

/**
 * Brings a result within `limit` characters (Infinity: as it is). Text goes to the store whole and is replaced by its
 * two ends; media stay as long as they fit behind that. Never rejects: when the store fails, the result says so.
 */
export async function applyResultBudget(
  content: readonly ToolContent[],
  limit: number,
  store: ResultStore,
  toolUseId: string,
): Promise<readonly ToolContent[]> {
  const size = contentSize(content);
  if (size <= limit) return content;
  const text = content.map(asText).join('\n');
  const preview = previewOf(text, limit, await keep(store, toolUseId, text));
  return [{ type: 'text', text: preview }, ...fittingMedia(content, limit - preview.length)];
}

function asText(block: ToolContent): string {
  return block.type === 'text' ? block.text : `[${block.type}]`;
}

async function keep(store: ResultStore, toolUseId: string, text: string): Promise<string> {
  try {
    return `The whole result is in ${await store.put(toolUseId, text)}`;
  } catch (error) {
    return `The whole result could not be kept (${describeThrown(error)})`;
  }
}

/** A tool with a limit under the preview's size gets a smaller one. */
function previewOf(text: string, limit: number, whereabouts: string): string {
  const head = Math.min(previewHead, Math.floor(limit / 2));
  const tail = Math.min(previewTail, Math.floor(limit / 2));
  const omitted = text.length - head - tail;
  const note = `${whereabouts}; it has ${count(text.length, 'character')}.`;
  if (omitted <= 0) return `${text}\n\n[${note}]`;
  return `${cutHead(text, head)}\n\n[... ${count(omitted, 'character')} left out. ${note} ...]\n\n${cutTail(text, tail)}`;
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
