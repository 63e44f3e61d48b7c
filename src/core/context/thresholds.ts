/** Where the context becomes too large, in tokens. */
import type { LoopConfig } from '../config.ts';
import type { LoopState } from '../state.ts';

/** Largest share of a small window that each number may take. */
const shares = { outputReserve: 0.3, compactBuffer: 0.2, blockBuffer: 0.05, outputFloor: 0.05, protectedTail: 0.1 };

/** `tokens`, or the share of `window` when that is less. */
function capped(tokens: number, window: number, share: number): number {
  return Math.min(tokens, Math.floor(window * share));
}

export function effectiveWindow(state: LoopState, config: LoopConfig): number {
  const { contextWindow, maxOutput } = state.query.limits;
  const reserve = capped(config.buffers.outputReserve, contextWindow, shares.outputReserve);
  return contextWindow - Math.min(maxOutput, reserve);
}

/** At or over this size auto-compact begins. */
export function compactThreshold(state: LoopState, config: LoopConfig): number {
  const buffer = capped(config.buffers.compactBuffer, state.query.limits.contextWindow, shares.compactBuffer);
  return effectiveWindow(state, config) - buffer;
}

/** At or over this size a query without auto-compact is refused. */
export function hardLimit(state: LoopState, config: LoopConfig): number {
  const buffer = capped(config.buffers.blockBuffer, state.query.limits.contextWindow, shares.blockBuffer);
  return effectiveWindow(state, config) - buffer;
}

/** The least `max_tokens` worth a request. */
export function outputFloor(state: LoopState, config: LoopConfig): number {
  const floor = capped(config.outputFloor, state.query.limits.contextWindow, shares.outputFloor);
  return Math.max(1, Math.min(floor, state.query.limits.maxOutput, config.maxOutputTokens ?? Number.MAX_SAFE_INTEGER));
}

/** Tokens at the end of the history that compaction leaves alone. */
export function tailSize(state: LoopState, config: LoopConfig): number {
  return capped(config.protectedTail, state.query.limits.contextWindow, shares.protectedTail);
}
