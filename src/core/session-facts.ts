/** What one query of a session leaves to the next beside the history. */
import { digest } from './ids.ts';
import type { LoopState, ToolSpec } from './state.ts';

export interface SessionFacts {
  /** Hash of the system prompt and the tools that the newest request stood on: `prefixHashOf`. */
  readonly prefixHash: string;
}

/** Give it to the next query as `session`, in any phase. */
export function sessionFacts({ query }: LoopState): SessionFacts {
  return { prefixHash: query.prefixHash };
}

/** Says whether what stands before all messages is the same: thinking is bound to it on models that bind thinking. */
export function prefixHashOf(system: string, tools: readonly ToolSpec[]): string {
  return digest(JSON.stringify([system, tools]));
}
