/** What the scripted server clears from a request by itself, as the API's context editing does. */
import { estimateBlock } from '../core/context/tokens.ts';
import type { WireBlock, WireRequest } from '../core/wire/request-type.ts';

/** What an edit cleared, in the words of the API. */
export interface AppliedEdit {
  readonly type: 'clear_tool_uses_20250919';
  readonly cleared_tool_uses: number;
  readonly cleared_input_tokens: number;
}

interface ClearToolUses {
  readonly type: string;
  readonly trigger?: { readonly value?: number };
  readonly keep?: { readonly value?: number };
  readonly clear_at_least?: { readonly value?: number } | null;
  readonly exclude_tools?: readonly string[] | null;
}

/** The API's own defaults. */
const defaultTrigger = 100_000;
const defaultKeep = 3;

/** Edits that a request of `tokens` asks for and that take place. */
export function appliedEdits(body: WireRequest, tokens: number): readonly AppliedEdit[] {
  const edits = (body.context_management?.['edits'] ?? []) as unknown as readonly ClearToolUses[];
  return edits.flatMap((edit) => {
    if (edit.type !== 'clear_tool_uses_20250919' || tokens <= (edit.trigger?.value ?? defaultTrigger)) return [];
    const old = new Set(usesOf(body, edit.exclude_tools ?? []).slice(0, -(edit.keep?.value ?? defaultKeep)));
    const cleared = resultsOf(body).filter((block) => old.has(String(block['tool_use_id'])));
    const freed = cleared.reduce(
      (sum, block) => sum + estimateBlock(block) - estimateBlock({ ...block, content: [] }),
      0,
    );
    if (freed === 0 || freed < (edit.clear_at_least?.value ?? 0)) return [];
    const count = cleared.length;
    return [{ type: 'clear_tool_uses_20250919' as const, cleared_tool_uses: count, cleared_input_tokens: freed }];
  });
}

function blocksOf({ messages }: WireRequest): readonly WireBlock[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? (content as readonly WireBlock[]) : []));
}

/** Ids of the calls, oldest first. */
function usesOf(body: WireRequest, spared: readonly string[]): readonly string[] {
  const uses = blocksOf(body).filter((block) => block.type === 'tool_use' && !spared.includes(String(block['name'])));
  return uses.map((block) => String(block['id']));
}

function resultsOf(body: WireRequest): readonly WireBlock[] {
  return blocksOf(body).filter(({ type }) => type === 'tool_result');
}
