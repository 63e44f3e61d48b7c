/** From the blocks of an attempt to what history keeps of it. */
import type { LoopConfig } from './config.ts';
import { withinMessageBudget } from './context/message-budget.ts';
import { isUsable, learnRatio } from './context/tokens.ts';
import type { FailureClass } from './failure.ts';
import { drawId } from './ids.ts';
import {
  type AssistantBlock,
  type AssistantMessage,
  contextTokens,
  isBlank,
  isThinking,
  isToolUse,
  type Message,
  type Origin,
  type ToolResultBlock,
  type UserBlock,
  type UserMessage,
} from './message.ts';
import type { Output } from './output.ts';
import type { Attempt, LoopState, QueryAccount, Scratch, ToolRun, Unfinished, Verdict } from './state.ts';
import { endAll } from './tools/schedule.ts';
import { withoutTrailingThinking } from './wire/blocks.ts';

/** `whole`: as it came. `cut`: an output limit or a full window ended it. `broken`: an abort or a crash did. */
export type Ending = 'whole' | 'cut' | 'broken';

/** The blocks that history keeps: what a cut or broken answer leaves is decided here. */
function keptBlocks(
  blocks: readonly AssistantBlock[],
  unfinished: Unfinished | null,
  ending: Ending,
): readonly AssistantBlock[] {
  const firstTool = blocks.findIndex(isToolUse);
  const upTo = ending === 'cut' && firstTool >= 0 ? blocks.slice(0, firstTool) : blocks;
  const text = unfinished?.type === 'text' && upTo.length === blocks.length ? unfinished.text : '';
  const all: readonly AssistantBlock[] = isBlank(text) ? upTo : [...upTo, { type: 'text', text }];
  const visible = all.filter((block) => block.type !== 'text' || !isBlank(block.text));
  // An answer that pauses or asks for tools may end in thinking only by an accident of the stream.
  return withoutTrailingThinking(visible);
}

export function reportedBlocks(scratch: Scratch): readonly AssistantBlock[] {
  return scratch.blocks.map((reported) => reported.block);
}

/** True when the consumer has seen something of the attempt. */
function wasShown(state: LoopState, unfinished: Unfinished | null): boolean {
  return state.scratch.blocks.length > 0 || unfinished !== null;
}

/** Adds an output to what this event shows. */
export function show(state: LoopState, output: Output): LoopState {
  return { ...state, outbox: [...state.outbox, output] };
}

/** Moves what is kept of the answer behind the history, and shows it. An answer of which nothing is kept adds nothing. */
export function keepAnswer(state: LoopState, ending: Ending, unfinished: Unfinished | null = null): LoopState {
  const { attempt, additions } = state.scratch;
  if (attempt === null) return state;
  const content = keptBlocks(reportedBlocks(state.scratch), unfinished, ending);
  // The attempt is dealt with; its tools are not yet.
  const settled = { ...state.scratch, attempt: null, blocks: [] };
  if (content.length === 0) {
    const dropped = { ...state, scratch: settled };
    // What a limit cut may have shown a block that never ended.
    return ending === 'cut' || wasShown(state, unfinished)
      ? tombstone(dropped, attempt.messageId, 'nothing of it is kept')
      : dropped;
  }
  const { messageId: id, model } = attempt;
  const message: AssistantMessage = { role: 'assistant', id, model, content, refused: false };
  return {
    ...state,
    scratch: { ...settled, additions: [...additions, message] },
    query: measured(state, attempt),
    outbox: [...state.outbox, { type: 'assistant', message }],
  };
}

/** Puts a message behind the history of this iteration. */
export function addMessage(state: LoopState, message: Message): LoopState {
  return { ...state, scratch: { ...state.scratch, additions: [...state.scratch.additions, message] } };
}

/** Adopts the API's figure for the context: it covers the history up to the answer that is being kept. */
function measured(state: LoopState, attempt: Attempt): QueryAccount {
  const { query, carried, scratch } = state;
  const { end } = scratch;
  if (end?.type !== 'answered') return query;
  const budgetUsed = query.budgetUsed + Math.max(0, end.usage.output);
  if (!isUsable(end.usage)) return { ...query, budgetUsed };
  const tokens = contextTokens(end.usage);
  const messages = carried.messages.length + scratch.additions.length + 1;
  const tokenRatio =
    attempt.estimate === null
      ? query.tokenRatio
      : learnRatio(query.tokenRatio, attempt.estimate, tokens - Math.max(0, end.usage.output));
  return { ...query, measured: { tokens, messages }, tokenRatio, budgetUsed };
}

/** Forgets the attempt: its blocks, its tools, and what the consumer saw of it. */
export function dropAttempt(state: LoopState, why: string): LoopState {
  const { end } = state.scratch;
  // A whole answer, and one whose process died, may have shown a block that never ended: no event tells of it.
  const shown = end?.type !== 'failed' || wasShown(state, end.unfinished);
  const dropped = { ...state, scratch: { ...state.scratch, ...noAttempt } };
  return shown ? tombstone(dropped, state.scratch.attempt?.messageId ?? '', why) : dropped;
}

/** The part of the scratch that belongs to one attempt. */
export const noAttempt: Pick<Scratch, 'attempt' | 'blocks' | 'end' | 'verdict' | 'toolRuns'> = {
  attempt: null,
  blocks: [],
  end: null,
  verdict: null,
  toolRuns: [],
};

function tombstone(state: LoopState, messageId: string, why: string): LoopState {
  return show(state, { type: 'tombstone', messageId, why });
}

/** Puts the results of all tool runs behind the answer, in the order of the calls and within their total, and shows them. */
export function keepResults(state: LoopState, config: LoopConfig): LoopState {
  const toolRuns = withinMessageBudget(state.scratch.toolRuns, config.messageResultChars);
  if (toolRuns.length === 0) return state;
  const attachments = toolRuns.flatMap((run) => run.outcome?.attachments ?? []);
  const [query, id] = drawId(state.query);
  const message = userMessage(id, 'tool_results', [...toolRuns.map(resultOf), ...attachments]);
  return show(addMessage({ ...state, query }, message), { type: 'user', message });
}

/** As `keepResults`, with an error result for every run that has none. */
export function keepResultsWith(state: LoopState, config: LoopConfig, why: (run: ToolRun) => string): LoopState {
  const toolRuns = endAll(state.scratch.toolRuns, why);
  return keepResults({ ...state, scratch: { ...state.scratch, toolRuns } }, config);
}

function resultOf(run: ToolRun): ToolResultBlock {
  return {
    type: 'tool_result',
    tool_use_id: run.toolUseId,
    content: run.outcome?.content ?? [],
    is_error: run.outcome?.isError ?? true,
  };
}

export function userMessage(id: string, origin: Origin, content: readonly UserBlock[]): UserMessage {
  return { role: 'user', id, origin, content, refused: false };
}

/** Adds a message that the loop itself writes, marked so that no model takes it for the user's. */
export function addNote(state: LoopState, origin: Origin, text: string): LoopState {
  const [query, id] = drawId(state.query);
  const message = userMessage(id, origin, [{ type: 'text', text: note(text) }]);
  return show(addMessage({ ...state, query }, message), { type: 'user', message });
}

export function note(text: string): string {
  return `<loop-note>${text}</loop-note>`;
}

/** Says what an ended attempt asks of the loop. */
export function judge(scratch: Scratch): Verdict {
  const { end } = scratch;
  if (end === null) return 'incomplete';
  return end.type === 'failed' ? judgeFailure(end.failure.class) : judgeAnswer(scratch, end.stopReason);
}

export function judgeFailure(kind: FailureClass): Verdict {
  switch (kind) {
    case 'overloaded':
    case 'rate_limit':
    case 'server':
    case 'timeout':
    case 'conflict':
    case 'connection':
    case 'stall':
    case 'incomplete':
      return 'incomplete';
    case 'overflow':
    case 'media':
    case 'max_tokens_too_large':
    case 'thrown':
      return kind;
    case 'thinking':
      return 'thinking_refused';
    case 'invalid_request':
    case 'authentication':
    case 'billing':
    case 'permission':
    case 'not_found':
    case 'too_large':
      return 'api_error';
  }
}

function judgeAnswer(scratch: Scratch, stopReason: string | null): Verdict {
  switch (stopReason) {
    case 'refusal':
      return 'refusal';
    case 'pause_turn':
      // Only the API's own tools pause; one of ours would be sent back without its result.
      return reportedBlocks(scratch).some(isToolUse) ? 'malformed' : 'pause_turn';
    case 'max_tokens':
      return 'output_limit';
    case 'model_context_window_exceeded':
      return 'overflow';
    case 'tool_use':
      return hasRunnableTool(scratch) ? 'tools' : 'malformed';
    case 'end_turn':
    case 'stop_sequence':
      return judgeOutput(scratch, judgeDone(scratch));
    default:
      return 'incomplete';
  }
}

function hasRunnableTool(scratch: Scratch): boolean {
  return scratch.blocks.some((reported) => isToolUse(reported.block) && reported.rawInput === null);
}

/** "Done" with a tool use in hand is no end: the tool would never run and nobody would be told. */
function judgeDone(scratch: Scratch): Verdict {
  const blocks = reportedBlocks(scratch);
  if (blocks.some(isToolUse)) return 'malformed';
  const visible = blocks.filter((block) => !isThinking(block) && !(block.type === 'text' && isBlank(block.text)));
  return blocks.some(isThinking) && visible.length === 0 ? 'thinking_only' : 'done';
}

function judgeOutput({ end }: Scratch, verdict: Verdict): Verdict {
  const isMismatch = end?.type === 'answered' && end.output?.type === 'mismatch';
  return verdict === 'done' && isMismatch ? 'invalid_output' : verdict;
}

/** What the account of the query learns from an ended request. */
export function accountFor(query: QueryAccount, verdict: Verdict, overloaded: boolean): QueryAccount {
  if (verdict === 'incomplete') return { ...query, overloadsInARow: overloaded ? query.overloadsInARow + 1 : 0 };
  return { ...query, overloadsInARow: 0 };
}
