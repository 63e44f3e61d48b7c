/** The texts of the results of one message stay within a total: the largest are replaced by their two ends and a path. */
import type { ToolResultBlock } from '../message.ts';
import type { StoredText, ToolRun } from '../state.ts';
import { count, cutHead, cutTail } from '../text.ts';

type Content = ToolResultBlock['content'];

/** Characters of a preview that come from the beginning and from the end. Errors tend to stand at the end. */
const previewEnd = 2_000;
/** Largest preview in characters: its two ends and the note between them. */
export const largestPreview = 2 * previewEnd + 400;

/** The text of a result; an image or document is named by its kind. */
export function textOfContent(content: Content): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}

/** Where a text is, as one sentence. `why`: what kept it from being stored. */
export function whereabouts({ path, characters }: StoredText, why: string | null = null): string {
  const whole = `The whole result, ${count(characters, 'character')},`;
  if (path !== null) return `${whole} is in ${path}.`;
  return why === null ? `${whole} was not kept.` : `${whole} could not be kept (${why}).`;
}

/** Both ends of a text and a note in at most `most` characters; where the note does not fit, the beginning alone. */
export function preview(text: string, most: number, note: string): string {
  const gap = `\n\n[... The middle is left out. ${note} ...]\n\n`;
  const end = Math.min(previewEnd, Math.floor((most - gap.length) / 2));
  if (end < 1) return text.length <= most ? text : `${cutHead(text, Math.max(0, most - 1))}…`;
  if (text.length <= 2 * end) return `${text}\n\n[${note}]`;
  return `${cutHead(text, end)}${gap}${cutTail(text, end)}`;
}

/**
 * Brings the texts of all results that may be cut within `most` characters: the largest become previews, one after the
 * other, of equal ones the earlier call. The results of a tool that limits itself neither count nor change.
 */
export function withinMessageBudget(runs: readonly ToolRun[], most: number): readonly ToolRun[] {
  const sizes = runs.map((run) =>
    run.outcome === null || run.outcome.whole === null ? 0 : textSize(run.outcome.content),
  );
  let total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= most) return runs;
  // A share for each, so that the total holds even when every result is cut.
  const target = Math.min(largestPreview, Math.floor(most / sizes.filter((size) => size > 0).length));
  const fitting = [...runs];
  for (const [index, size] of [...sizes.entries()].toSorted(([, left], [, right]) => right - left)) {
    if (total <= most || size <= target) break;
    const run = withPreview(runs[index]!, target);
    fitting[index] = run;
    total += textSize(run.outcome?.content ?? []) - size;
  }
  return fitting;
}

function textSize(content: Content): number {
  return content.reduce((sum, block) => (block.type === 'text' ? sum + block.text.length : sum), 0);
}

function withPreview(run: ToolRun, most: number): ToolRun {
  const { outcome } = run;
  if (outcome === null || outcome.whole === null) return run;
  const texts = outcome.content.filter((block) => block.type === 'text');
  const media = outcome.content.filter((block) => block.type !== 'text');
  const text = preview(textOfContent(texts), most, whereabouts(outcome.whole));
  return { ...run, outcome: { ...outcome, content: [{ type: 'text', text }, ...media] } };
}
