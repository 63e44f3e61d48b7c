/**
 * What the outside can do in a state: every kind of event, with one value for each answer that the guards tell apart. A
 * move is one event, or the few that make an answer; a new kind of event is one more entry in `movesOf`.
 */
import type { LoopConfig } from '../../src/core/config.ts';
import type { EventOf } from '../../src/core/event.ts';
import { type Failure, type FailureClass, failureOf } from '../../src/core/failure.ts';
import type { Usage } from '../../src/core/message.ts';
import { noUsage } from '../../src/core/message.ts';
import { phaseEffectId, runningTools } from '../../src/core/running.ts';
import type { LoopState } from '../../src/core/state.ts';
import { bystanders, spans } from './bystanders.ts';
import { blocks, contextWindow, loweredOutput, outcomes, sizes } from './canonical.ts';
import { type Move, one } from './move.ts';
import { priced } from './priced.ts';

/** How much of the outside plays. */
export interface Environment {
  /** `all`: each failure class and stop reason; else one for each verdict, which a test shows to be enough. */
  readonly classes: 'all' | 'representatives';
  /** `events`: blocks one by one, early tools, aborts in the middle; `answers`: an answer is one move. */
  readonly grain: 'events' | 'answers';
  /** Sizes of the context that the API may report: indexes of `sizes.levels`. */
  readonly levels: readonly number[];
  /** Aborts, queued messages, late answers, resumes: they end the run or change nothing that counts. */
  readonly bystanders: boolean;
  /** Every size of history at the start, large results, figures in errors, new tools; else the shortest list that reaches all. */
  readonly wide: boolean;
}

const failureClasses: Readonly<Record<Environment['classes'], readonly FailureClass[]>> = {
  representatives: ['overloaded', 'server', 'invalid_request', 'thrown'],
  all: [
    'overloaded',
    'server',
    'rate_limit',
    'timeout',
    'conflict',
    'connection',
    'stall',
    'incomplete',
    'invalid_request',
    'authentication',
    'billing',
    'permission',
    'not_found',
    'too_large',
    'thrown',
  ],
};

/** Stop reasons that give the same verdict whatever the blocks are, by the one that stands for them. */
const doneReasons = { representatives: ['end_turn'], all: ['end_turn', 'stop_sequence'] };
const unfinishedReasons = { representatives: [null], all: [null, 'some_future_reason', 'compaction'] };

/** Everything that may happen in `state`. */
export function movesOf(state: LoopState, config: LoopConfig, environment: Environment): readonly Move[] {
  if (state.phase === 'ended') return [];
  return [...expected(state, config, environment), ...(environment.bystanders ? bystanders(state, config) : [])];
}

function expected(state: LoopState, config: LoopConfig, environment: Environment): readonly Move[] {
  const effectId = phaseEffectId(state) ?? '';
  switch (state.phase) {
    case 'ready':
      return [
        one('start', { type: 'query.started', blocked: null }),
        one('blocked', { type: 'query.started', blocked: 'no' }),
      ];
    case 'compacting':
    case 'compactingReactively':
      return compaction(state, config, effectId, environment);
    case 'streaming':
      return [...streaming(state, config, environment, effectId), ...spans(state)];
    case 'runningTools':
      return tools(state, environment);
    case 'attaching':
      return attachments(effectId, environment);
    case 'runningStopHooks':
      return stopHooks(effectId);
    default:
      return [];
  }
}

/** Longer than what it replaces; and so long that it alone is near the threshold. */
const longerText = 'abc'.repeat(500);
const longText = 'abc'.repeat(9_500);

/** A summary that frees too little is larger than the history that it replaces. */
function compaction(
  { scratch }: LoopState,
  config: LoopConfig,
  effectId: string,
  { wide }: Environment,
): readonly Move[] {
  const summary = { type: 'compact.answered', effectId, block: null, usage: noUsage } as const;
  const answered = (name: string, text: string, stopReason: string | null): Move =>
    one(name, { ...summary, text, stopReason });
  const failed = (kind: FailureClass, status: number | null = null): Move =>
    one(`summary fails: ${kind}`, { type: 'compact.failed', effectId, failure: failureOf(kind, kind, status) });
  const ofTheApi = (name: string, content: string | null): Move => {
    const block = { type: 'compaction', content, encrypted_content: 'opaque' } as const;
    return one(`the API's summary ${name}`, { ...summary, text: '', block, stopReason: 'compaction' });
  };
  return [
    ...priced([noUsage], config).map((usage) =>
      one('summary', { ...summary, text: 'short', stopReason: 'end_turn', usage }),
    ),
    answered('summary frees too little', wide ? longText : longerText, 'end_turn'),
    answered('summary is empty', '', 'end_turn'),
    answered('summary is cut', 'short', 'max_tokens'),
    failed('overflow'),
    failed('server'),
    ...(wide ? [failed('invalid_request', 400)] : []),
    ...(scratch.compaction?.onDemand === true ? [ofTheApi('comes', 'short'), ofTheApi('is empty', null)] : []),
  ];
}

function usageFor(level: number, output: number): Usage {
  const tokens = sizes.levels[level] ?? 0;
  return { input: Math.max(1, tokens - output), output, cacheRead: 0, cacheCreation: 0 };
}

/** Output that is no progress, some, or all that is left; without a budget nobody counts it. */
function outputs(config: LoopConfig): readonly number[] {
  return config.tokenBudget === null ? [0] : [0, 500, 2_000];
}

function streaming(state: LoopState, config: LoopConfig, environment: Environment, effectId: string): readonly Move[] {
  const answers = environment.grain === 'answers' ? wholeAnswers : answersBehindBlocks;
  return [...answers(state, config, environment, effectId), ...failures(state, config, environment, effectId)];
}

type Answers = (state: LoopState, config: LoopConfig, environment: Environment, effectId: string) => readonly Move[];

function answerMoves(
  codes: string,
  reason: string | null,
  usages: readonly Usage[],
  effectId: string,
): readonly Move[] {
  return usages.map((usage) => ({
    name: `${codes === '' ? 'nothing' : codes} ${reason ?? 'no stop reason'}`,
    events: [
      ...Array.from(codes, (code) => blockEvent(code, effectId)),
      { type: 'model.answered', effectId, stopReason: reason, usage },
    ],
  }));
}

function usagesOf(config: LoopConfig, environment: Environment): readonly Usage[] {
  const usages = environment.levels.flatMap((level) => outputs(config).map((output) => usageFor(level, output)));
  return priced(usages, config);
}

/** Answers of which nothing is kept change no figure, so one usage is enough; an answer without any keeps the last figure. */
const wholeAnswers: Answers = (_state, config, environment, effectId) => {
  const usages = usagesOf(config, environment);
  const kept = (codes: string, reason: string | null): readonly Move[] => answerMoves(codes, reason, usages, effectId);
  const dropped = (codes: string, reason: string | null): readonly Move[] =>
    answerMoves(codes, reason, [usageFor(0, 0)], effectId);
  const thought = config.thinking === 'off' ? '' : 'h';
  return [
    ...doneReasons[environment.classes].flatMap((reason) => kept('t', reason)),
    // Where the answer must fit a schema, one of which nothing is said does not.
    ...(config.outputSchema === null ? [] : kept('t', 'end_turn').map(fitting)),
    ...kept(`${thought}u`, 'tool_use'),
    ...kept(`${thought}r`, 'tool_use'),
    ...kept('t', 'max_tokens'),
    ...kept('t', 'model_context_window_exceeded'),
    ...kept(`${thought}t`, 'pause_turn'),
    ...dropped('', 'end_turn'),
    ...dropped('', 'max_tokens'),
    ...dropped('', 'pause_turn'),
    ...dropped('u', 'end_turn'),
    ...dropped('h', 'end_turn'),
    ...dropped('t', 'refusal'),
    ...unfinishedReasons[environment.classes].flatMap((reason) => dropped('t', reason)),
  ];
};

function fitting({ name, events }: Move): Move {
  const output = { type: 'fits', value: 1 } as const;
  return {
    name: `${name}, fits`,
    events: events.map((event) => (event.type === 'model.answered' ? { ...event, output } : event)),
  };
}

const mostBlocks = 1;

const answersBehindBlocks: Answers = (state, config, environment, effectId) => {
  const { length } = state.scratch.blocks;
  const more =
    length < mostBlocks ? Object.keys(blocks).map((code) => one(`block ${code}`, blockEvent(code, effectId))) : [];
  const reasons = [
    ...doneReasons[environment.classes],
    ...unfinishedReasons[environment.classes],
    'tool_use',
    'max_tokens',
    'model_context_window_exceeded',
    'pause_turn',
    'refusal',
  ];
  const usages = usagesOf(config, environment);
  const answers = reasons.flatMap((reason) => answerMoves('', reason, usages, effectId));
  return [...more, ...tools(state, environment), ...answers];
};

function blockEvent(code: string, effectId: string): EventOf<'model.blockEnded'> {
  const { block, rawInput } = blocks[code]!;
  const safe = code === 's';
  const verdict = block.type === 'tool_use' ? { concurrencySafe: safe, readOnly: safe, replaySafe: safe } : null;
  return { type: 'model.blockEnded', effectId, block, verdict, rawInput };
}

function failures(state: LoopState, config: LoopConfig, environment: Environment, effectId: string): readonly Move[] {
  const fails = (name: string, failure: Failure): Move =>
    one(name, { type: 'model.failed', effectId, failure, unfinished: null, usage: noUsage });
  const told = (kind: FailureClass, tokens: Partial<Failure['tokens']>): Failure => {
    const failure = failureOf(kind, kind, 400);
    return { ...failure, tokens: { ...failure.tokens, ...tokens } };
  };
  const tooMany = 'max_tokens_too_large';
  const room = (state.scratch.attempt?.maxTokens ?? 1) - 1;
  return [
    ...failureClasses[environment.classes].map((kind) => fails(kind, failureOf(kind, kind))),
    fails('overflow', failureOf('overflow', 'too long', 400)),
    ...(environment.wide ? environment.levels : []).map((level) =>
      fails('overflow, told', told('overflow', { input: sizes.levels[level] ?? 0 })),
    ),
    fails(tooMany, told(tooMany, { input: contextWindow - room, window: contextWindow })),
    fails(`${tooMany}, not told`, failureOf(tooMany, 'too large', 400)),
    ...(environment.classes === 'all' ? [fails(`${tooMany}, limit`, told(tooMany, { maxOutput: loweredOutput }))] : []),
    fails('media', failureOf('media', 'too large', 400)),
    // One of several images is named: the others stay and may be named next.
    fails('media, named', { ...failureOf('media', 'too large', 400), mediaPaths: [[0, 1]] }),
    ...(config.thinking === 'off' ? [] : [fails('thinking', failureOf('thinking', 'bad signature', 400))]),
  ];
}

function tools(state: LoopState, { wide }: Environment): readonly Move[] {
  const possible = Object.entries(outcomes).filter(([code]) => wide || code === 'o' || code === 'm');
  return runningTools(state).flatMap(({ effectId, toolUseId, name }) =>
    possible.map(([code, outcome]) =>
      one(`${name} ends: ${code}`, { type: 'tool.ended', effectId, toolUseId, outcome }),
    ),
  );
}

function attachments(effectId: string, { wide }: Environment): readonly Move[] {
  const none = { effectId, attachments: [], tools: null, notices: [] };
  const tool = { name: 'read', description: '', input_schema: { type: 'object' } };
  return [
    one('attachments', { type: 'attachments.collected', ...none }),
    ...(wide ? [one('attachments: new tools', { type: 'attachments.collected', ...none, tools: [tool] })] : []),
  ];
}

function stopHooks(effectId: string): readonly Move[] {
  const ended = (name: string, errors: readonly string[], prevent: string | null, notices: readonly string[]): Move =>
    one(`hooks ${name}`, { type: 'stopHooks.ended', effectId, errors, prevent, notices });
  return [
    ended('pass', [], null, []),
    ended('crash', [], null, ['crashed']),
    ended('block', ['lint'], null, []),
    ended('prevent', ['lint'], 'no', []),
  ];
}
