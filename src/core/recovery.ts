/** Predicates of the recovery ladders: what may still be tried. Every one of them is bounded by a counter. */
import { isShrinking, type LoopConfig } from './config.ts';
import { planCut } from './context/auto-compact.ts';
import { canDrain } from './context/collapse.ts';
import { outputFloor } from './context/thresholds.ts';
import { failureOf, type Failure } from './failure.ts';
import { chance } from './ids.ts';
import type { LoopState, Verdict } from './state.ts';
import { conversation, fittingMaxTokens, room, wantedMaxTokens } from './wire/request.ts';

export function isVerdict(state: LoopState, ...verdicts: readonly Verdict[]): boolean {
  return state.scratch.verdict !== null && verdicts.includes(state.scratch.verdict);
}

/** The failure that ended the attempt, or null for an answer. */
export function failureIn(state: LoopState): Failure | null {
  const { end } = state.scratch;
  return end?.type === 'failed' ? end.failure : null;
}

/** A failure to show for a verdict that came from an answer, not from an error. */
export function shownFailure(state: LoopState, config: LoopConfig): Failure {
  const failure = failureIn(state);
  if (failure !== null) return failure;
  switch (state.scratch.verdict) {
    case 'overflow':
      return failureOf('overflow', 'The conversation does not fit the context window of the model.');
    case 'output_limit':
      return failureOf('too_large', outputLimitSentence(state, config));
    case 'malformed':
      return failureOf('incomplete', 'The model asked for tools in a form that cannot be run, again and again.');
    case 'pause_turn':
      return failureOf('incomplete', `The model paused its turn more than ${config.limits.pauseTurns} times.`);
    default:
      return failureOf('incomplete', incompleteSentence(state));
  }
}

function outputLimitSentence(state: LoopState, config: LoopConfig): string {
  const limit = state.scratch.attempt?.maxTokens ?? 0;
  return `The answer was cut at ${limit} output tokens ${config.limits.outputRecoveries + 1} times in one turn.`;
}

function incompleteSentence(state: LoopState): string {
  const { end } = state.scratch;
  const reason = end?.type === 'answered' ? end.stopReason : null;
  return reason === null
    ? 'The answer ended without a stop reason.'
    : `The answer ended with the stop reason "${reason}", which this version does not know.`;
}

export function mayRetry(state: LoopState, config: LoopConfig): boolean {
  return isVerdict(state, 'incomplete') && state.query.retries < config.limits.retries;
}

/** Enough overloads in a row, and another model is named. */
export function mayFallBack(state: LoopState, config: LoopConfig): boolean {
  const enough = state.query.overloadsInARow >= config.limits.overloadsBeforeFallback;
  return isVerdict(state, 'incomplete') && enough && state.query.modelIndex + 1 < config.models.length;
}

/**
 * What to wait before the next retry, in milliseconds: what the server asked, capped; else a doubling wait less a share
 * that seeded chance takes off, so that many clients do not come back together.
 */
export function retryDelay(state: LoopState, config: LoopConfig): number {
  const { baseMs, capMs, retryAfterCapMs, jitter } = config.delays;
  const asked = failureIn(state)?.retryAfterMs ?? null;
  if (asked !== null && asked >= 0) return Math.min(asked, retryAfterCapMs);
  const wait = Math.min(capMs, baseMs * 2 ** state.query.retries);
  return Math.round(wait * (1 - jitter * chance(state.query.seed, state.query.modelCalls)));
}

/** Staged collapses exist, the last transition was no drain, and none was in this turn. */
export function mayDrain(state: LoopState): boolean {
  if (state.carried.transition === 'collapse_drain_retry' || state.query.turn.drains > 0) return false;
  return canDrain(conversation(state), state.query.staged);
}

/** The one reactive compaction of this turn is unused, wanted, and has something to summarise. */
export function mayCompactReactively(state: LoopState, config: LoopConfig): boolean {
  if (!config.reactiveCompact || isShrinking(config) || state.carried.hasAttemptedReactiveCompact) return false;
  return planCut(state, config, true) !== null;
}

/** The `max_tokens` that an escalation would set; null when the rung must be skipped. */
export function escalatedMaxTokens(state: LoopState, config: LoopConfig): number | null {
  if (config.maxOutputTokens !== null || state.carried.maxOutputTokensOverride !== null) return null;
  const target = Math.min(config.escalatedOutputCap, state.query.limits.maxOutput, room(state, config));
  return target > wantedMaxTokens(state, config) ? target : null;
}

export function mayRecoverOutput(state: LoopState, config: LoopConfig): boolean {
  return state.carried.maxOutputTokensRecoveryCount < config.limits.outputRecoveries;
}

/** The API named the room that is left: a lower `max_tokens` that is still worth a request, once a turn. */
export function loweredMaxTokens(state: LoopState, config: LoopConfig): number | null {
  const tokens = failureIn(state)?.tokens;
  if (tokens === undefined || state.query.turn.loweredMaxTokens > 0) return null;
  const { contextWindow } = state.query.limits;
  const left = tokens.input === null ? Number.MAX_SAFE_INTEGER : (tokens.window ?? contextWindow) - tokens.input;
  const lowered = Math.min(left, tokens.maxOutput ?? Number.MAX_SAFE_INTEGER);
  const current = state.scratch.attempt?.maxTokens ?? 0;
  return lowered < current && lowered >= Math.min(current, outputFloor(state, config)) ? lowered : null;
}

/** So little of the window is left that the request would be an overflow. */
export function hasNoRoom(state: LoopState, config: LoopConfig): boolean {
  return fittingMaxTokens(state, config) === null;
}

/** The input does not fit, by the API's word, by a full window, or by our own count. */
export function isOverflow(state: LoopState): boolean {
  // A limit of the model on `max_tokens` is no matter of the input: making it smaller would cure nothing.
  const aboutSum = isVerdict(state, 'max_tokens_too_large') && failureIn(state)?.tokens.maxOutput === null;
  return isVerdict(state, 'overflow') || aboutSum;
}
