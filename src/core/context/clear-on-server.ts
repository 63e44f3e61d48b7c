/** Layer 2 in the hands of the API: what a request asks it to leave out by itself. */
import type { LoopConfig } from '../config.ts';
import type { JsonObject } from '../json.ts';
import type { LoopState } from '../state.ts';
import { compactThreshold } from './thresholds.ts';

/** True when the API is asked to clear; a server that does not know how leaves it to us. */
export function clearsOnServer(config: LoopConfig): boolean {
  return config.microcompact === 'server' && config.profile === 'anthropic';
}

/** What a request asks the API to clear by itself, in the same measure; null when it is not asked. */
export function contextManagement(state: LoopState, config: LoopConfig): JsonObject | null {
  const { clearAbove, clearKeep, clearTools, leastFreed } = config.layers;
  if (!clearsOnServer(config)) return null;
  const tools = state.query.tools.map(({ name }) => name);
  const spared = tools.filter((name) => !clearTools.includes(name));
  if (spared.length === tools.length) return null;
  const trigger = Math.floor(compactThreshold(state, config) * clearAbove);
  return {
    edits: [
      {
        type: 'clear_tool_uses_20250919',
        trigger: { type: 'input_tokens', value: trigger },
        keep: { type: 'tool_uses', value: Math.max(1, clearKeep) },
        clear_at_least: { type: 'input_tokens', value: Math.floor(trigger * leastFreed) },
        ...(spared.length === 0 ? {} : { exclude_tools: spared }),
      },
    ],
  };
}
