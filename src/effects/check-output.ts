/** Checks a final answer against the schema of the query. The check may be the host's code: its verdict is an event. */
import type { Json } from '../core/json.ts';
import type { OutputVerdict } from '../core/state.ts';
import { cutHead } from '../core/text.ts';
import { settle } from '../tools/settle.ts';
import type { EffectIo } from './io.ts';

/** Says whether a value fits. May throw, reject or hang: that is a mismatch. */
export type CheckValue = (value: Json) => Promise<OutputVerdict>;

/** Longest check in milliseconds: the number of hooks, which are the host's code too. */
const timeoutMs = 60_000;
/** Of what is wrong the model is told so many characters. */
const longestError = 4_000;

/** The verdict on the text of an answer; null after an abort. Never rejects. */
export async function checkOutput(
  text: string,
  check: CheckValue,
  { clock, signal }: EffectIo,
): Promise<OutputVerdict | null> {
  const parsed = parseAnswer(text);
  if ('error' in parsed) return { type: 'mismatch', error: parsed.error };
  const settled = await settle(() => check(parsed.value), { clock, signal, timeoutMs });
  switch (settled.type) {
    case 'value':
      return short(settled.value);
    case 'thrown':
      return { type: 'mismatch', error: `The check failed: ${settled.message}` };
    case 'timeout':
      return { type: 'mismatch', error: `The check did not end within ${timeoutMs / 1_000} seconds.` };
    case 'aborted':
      return null;
  }
}

function short(verdict: OutputVerdict): OutputVerdict {
  return verdict.type === 'fits'
    ? verdict
    : { type: 'mismatch', error: cutHead(verdict.error, longestError).toWellFormed() };
}

/** Models that are only asked for JSON like to put it into a code fence: that is not held against them. */
const fence = /^```(?:json)?[ \t]*\n(?<inside>[\s\S]*?)\n?```$/i;

function parseAnswer(text: string): { readonly value: Json } | { readonly error: string } {
  const trimmed = text.trim();
  if (trimmed === '') return { error: 'It holds no text.' };
  const inside = fence.exec(trimmed)?.groups?.['inside'] ?? trimmed;
  try {
    return { value: JSON.parse(inside) as Json };
  } catch (error) {
    return { error: `It is no JSON: ${error instanceof Error ? error.message : 'it cannot be parsed'}` };
  }
}
