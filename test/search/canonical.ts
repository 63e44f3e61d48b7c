/** The values that stand for all values with the same features: histories, blocks, tool runs, sizes. */
import type { LoopConfig } from '../../src/core/config.ts';
import { failureOf } from '../../src/core/failure.ts';
import type { AssistantBlock, Message, UserBlock } from '../../src/core/message.ts';
import { noUsage } from '../../src/core/message.ts';
import type {
  AttemptEnd,
  Compaction,
  LoopState,
  PendingSpan,
  QueuedMessage,
  StagedCollapse,
  ToolOutcome,
  ToolRun,
  Verdict,
} from '../../src/core/state.ts';
import type { ReportedBlock } from '../../src/core/scratch.ts';
import type { Features } from './features.ts';

export const seed = '00000000-0000-4000-8000-000000000000';

/** Ids of the effects that the state waits for. */
export const ids = { attempt: 'attempt', compaction: 'compaction', phase: 'phase', summary: 'summary', span: 'span' };

/** The window of every search. Small, so that the texts that fill it are short; large enough for an image and a tail. */
export const contextWindow = 20_000;
/** Tokens that compaction leaves alone in every search. Small for the same reason. */
export const protectedTail = 100;
/** What a server may say that a model gives at most: under the default cap, over every reserve. */
export const loweredOutput = 7_000;

/**
 * A context in each range that the guards tell apart: so small that no layer stirs, large enough for spans to be summarised
 * (7,000), over the threshold (10,000), over the hard limit (13,000), and so full that no request is worth sending (19,000).
 */
export const sizes = { levels: [3_000, 8_000, 10_300, 13_300, 19_900], escalated: 9_000 };

/** The levels by name. */
export const level = { low: 0, filling: 1, over: 2, hard: 3, full: 4 };

/** Where spans begin to be summarised, threshold, hard limit, and the largest size that leaves room for an answer; a test holds them to `thresholds.ts`. */
export const marks = { stage: 7_000, compact: 10_000, hard: 13_000, full: 19_000 };

export function levelOf(tokens: number): number {
  if (tokens < marks.stage) return level.low;
  if (tokens < marks.compact) return level.filling;
  return tokens < marks.hard ? level.over : tokens <= marks.full ? level.hard : level.full;
}

function say(role: 'user' | 'assistant', id: string, content: readonly (AssistantBlock | UserBlock)[]): Message {
  return role === 'user'
    ? { role, id, origin: 'user', refused: false, content: content as UserBlock[] }
    : { role, id, model: 'one', refused: false, content: content as AssistantBlock[] };
}

const words = (tokens: number): string => 'abc'.repeat(tokens);
const text = (value: string): { type: 'text'; text: string } => ({ type: 'text', text: value });
const image: UserBlock = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };

/** Tokens of two images, by the estimate of the loop. */
const twoImages = 3_200;
/** What the filler holds so that the whole has the size of its level; the rest of a history takes under 1,500. */
const fillers = [100, 6_800, 10_300, 13_300, 19_300];

function fillerOf(estimate: number, media: boolean, config: LoopConfig): { type: 'text'; text: string } {
  const others = (media ? twoImages : 0) + config.systemTokens;
  return text(words(Math.max(100, (fillers[estimate] ?? 0) - others)));
}

/** Larger than the protected tail, so that everything before it can be summarised. */
const wall = text(words(2 * protectedTail));
/** Large enough to be worth a summary of its own. */
const spanText = text(words(600));

const thinking: AssistantBlock = { type: 'thinking', thinking: 'hm', signature: 's' };
const toolUse: AssistantBlock = { type: 'tool_use', id: 'old', name: 'read', input: {} };
const toolResult: UserBlock = { type: 'tool_result', tool_use_id: 'old', content: [text('x')], is_error: false };

type HistoryFeatures = Pick<Features, 'cuttable' | 'estimate' | 'media' | 'thinking' | 'staged' | 'modelIndex'>;

const histories = new Map<string, readonly Message[]>();

/** A history with these features. Made once: guards measure messages by identity. */
export function historyOf(features: HistoryFeatures, config: LoopConfig): readonly Message[] {
  const model = features.thinking ? (config.models[features.modelIndex] ?? '') : '';
  const { estimate, media } = features;
  const cuttable = features.staged ? 2 : features.cuttable;
  const olds = config.limits.compactionShrinks + 5;
  const key = `${cuttable} ${estimate} ${media} ${model} ${olds} ${config.systemTokens}`;
  const known = histories.get(key);
  if (known !== undefined) return known;
  const filler = fillerOf(estimate, media, config);
  // More than one, so that one may be replaced and media be left.
  const extra = media ? [image, { ...image }] : [];
  const trajectory = model === '' ? [] : thoughtBy(model);
  const history = [...beforeTrajectory(cuttable, olds, filler, extra), ...trajectory];
  histories.set(key, history);
  return history;
}

function thoughtBy(model: string): readonly Message[] {
  return [
    { role: 'assistant', id: 'thought', model, refused: false, content: [thinking, toolUse] },
    { role: 'user', id: 'results', origin: 'tool_results', refused: false, content: [toolResult] },
  ];
}

function beforeTrajectory(
  cuttable: Features['cuttable'],
  olds: number,
  filler: UserBlock,
  extra: readonly UserBlock[],
): readonly Message[] {
  const newest = say('user', 'newest', [text('go')]);
  if (cuttable === 0) return [say('user', 'newest', [filler, ...extra])];
  // All of it fits the tail: only an overflow gives the tail up.
  if (cuttable === 1) return [say('user', 'old0', [text('x'), ...extra]), newest];
  const contents = [
    [spanText, ...extra],
    [text('x')],
    [spanText],
    [filler],
    ...Array.from({ length: olds - 5 }, () => [text('x')]),
    [wall],
  ];
  return [...contents.map((content, index) => say(index % 2 ? 'assistant' : 'user', `old${index}`, content)), newest];
}

/** So small that to commit it frees next to nothing: the level stays, as it may. */
export const stagedSpan: StagedCollapse = { firstId: 'old1', lastId: 'old1', summary: 'x' };
/** The small model summarises it now. */
export const pendingSpan: PendingSpan = { effectId: ids.span, firstId: 'old2', lastId: 'old2' };
export const waitingMessage: QueuedMessage = { id: 'queued', content: [text('also')] };

export function holdsMedia(message: Message): boolean {
  if (message.role === 'assistant') return false;
  return message.content.some(
    (block) => isMedia(block) || (block.type === 'tool_result' && block.content.some(isMedia)),
  );
}

function isMedia({ type }: UserBlock): boolean {
  return type === 'image' || type === 'document';
}

/** The blocks that a model may send, by the letter that names them in a key. */
export const blocks: { readonly [Code: string]: ReportedBlock } = {
  t: { block: text('some words'), rawInput: null },
  b: { block: text(' '), rawInput: null },
  h: { block: thinking, rawInput: null },
  s: { block: { type: 'tool_use', id: 'safe', name: 'read', input: {} }, rawInput: null },
  u: { block: { type: 'tool_use', id: 'unsafe', name: 'bash', input: {} }, rawInput: null },
  r: { block: { type: 'tool_use', id: 'raw', name: 'read', input: {} }, rawInput: '{"cut":' },
};

export function blockCodes({ scratch }: LoopState): string {
  return scratch.blocks.map(({ block, rawInput }) => codeOf(block, rawInput)).join('');
}

function codeOf(block: AssistantBlock, rawInput: string | null): string {
  if (block.type === 'tool_use') return rawInput !== null ? 'r' : block.name === 'read' ? 's' : 'u';
  if (block.type !== 'text') return 'h';
  return block.text.trim() === '' ? 'b' : 't';
}

export function blocksOf(codes: string): readonly ReportedBlock[] {
  return Array.from(codes, (code) => blocks[code] ?? { block: text(''), rawInput: null });
}

/** Outcomes that a tool may have, by the letter that names them in a key. */
export const outcomes: { readonly [Code: string]: ToolOutcome } = {
  o: outcome({}),
  e: outcome({ isError: true, cancelsSiblings: true }),
  m: outcome({ content: [image] as ToolOutcome['content'] }),
  l: outcome({ content: [text(words(11_000))] }),
  f: outcome({ content: [text(words(18_500))] }),
  p: outcome({ stop: 'the hook says stop' }),
  i: outcome({ interrupt: true, isError: true }),
};

function outcome(parts: Partial<ToolOutcome>): ToolOutcome {
  return {
    content: [text('result')],
    isError: false,
    whole: null,
    stage: 'run',
    cancelsSiblings: false,
    contextChanges: [],
    attachments: [],
    notices: [],
    stop: null,
    interrupt: false,
    ...parts,
  };
}

function outcomeCode(value: ToolOutcome | null): string {
  if (value === null) return '';
  const found = Object.entries(outcomes).find(([, known]) => known === value);
  return found?.[0] ?? 'o';
}

/** Runs as `tool:status:outcome`; once their results are in the history only their number counts. */
export function runCodes({ phase, scratch }: LoopState): string {
  if (phase !== 'streaming' && phase !== 'runningTools' && phase !== 'attaching') return '';
  const codes = scratch.toolRuns.map((run) =>
    phase === 'attaching' ? 's:ended:o' : `${runCode(run)}:${run.status}:${outcomeCode(run.outcome)}`,
  );
  return codes.join(',');
}

function runCode({ name, verdict }: ToolRun): string {
  return name === 'bash' ? 'u' : verdict.readOnly ? 's' : 'r';
}

export function runsOf(codes: string): readonly ToolRun[] {
  if (codes === '') return [];
  return codes.split(',').map((code, index): ToolRun => {
    const [kind = '', status = '', result = ''] = code.split(':');
    const safe = kind === 's';
    return {
      toolUseId: `${kind}${index}`,
      name: kind === 'u' ? 'bash' : 'read',
      input: {},
      verdict: { concurrencySafe: safe, readOnly: safe, replaySafe: safe },
      status: status as ToolRun['status'],
      effectId: `tool${index}`,
      outcome: outcomes[result] ?? null,
      decisions: [],
    };
  });
}

/** How the attempt ended that left this verdict, where the phase that follows still reads it. */
export function endOf(verdict: Verdict | ''): AttemptEnd | null {
  if (verdict === '') return null;
  const answered = { type: 'answered', usage: noUsage, output: null } as const;
  if (verdict === 'done') return { ...answered, stopReason: 'end_turn' };
  if (verdict === 'tools') return { ...answered, stopReason: 'tool_use' };
  const failure = failureOf(verdict === 'media' ? 'media' : 'overflow', 'too large', 400);
  return { type: 'failed', failure, unfinished: null, usage: noUsage };
}

/** The compaction under way, over the canonical history: each shrink leaves out more of its head. */
export function compactionOf(features: Features, messages: readonly Message[]): Compaction | null {
  const { phase, cures, shrinks, byHand, onDemand } = features;
  if (phase !== 'compacting' && phase !== 'compactingReactively') return null;
  const cut = messages.findIndex(({ id }) => id === 'newest');
  const kind = phase === 'compactingReactively' ? 'reactive_compact' : byHand ? 'manual_compact' : 'auto_compact';
  return {
    effectId: ids.compaction,
    kind,
    cures: cures === 'overflow' || cures === 'media' ? cures : null,
    cut,
    skip: Math.max(0, Math.min(shrinks, cut - 2)),
    shrinks,
    trim: 1,
    onDemand,
  };
}
