/** The moves inside an iteration: they start and end effects, and change no carried field but stored messages. */
import {
  attemptAnswered,
  attemptFailed,
  fallBack,
  holdsThinking,
  lowerMaxTokens,
  reaskMalformed,
  reaskThinkingOnly,
  recordTool,
  reportBlock,
  resendPaused,
  resendWithoutMedia,
  resendWithoutThinking,
  retry,
  send,
} from './attempts.ts';
import { compactedState } from './compaction.ts';
import { isShrinking } from './config.ts';
import { needsCompaction, planCut } from './context/auto-compact.ts';
import { applyLayers } from './context/layers.ts';
import { replaceMedia } from './context/media.ts';
import type { EventType } from './event.ts';
import {
  askStopHooks,
  beginAutoCompact,
  beginReactiveCompact,
  collect,
  compactionFailed,
  compactionWorked,
  isLate,
  layered,
  mayShrink,
  noRoom,
  queueMessage,
  recordDecision,
  resumeEffect,
  resumeStreaming,
  resumeTools,
  showSummary,
  shrinkCompaction,
  startTools,
  takeResults,
  withNotices,
} from './moves.ts';
import {
  hasNoRoom,
  isOverflow,
  isVerdict,
  loweredMaxTokens,
  mayCompactReactively,
  mayFallBack,
  mayRetry,
} from './recovery.ts';
import { isEnded } from './tools/schedule.ts';
import { arrow, type Transition, waitingPhases, yes } from './transition.ts';

/** Events that answer an effect. */
const answers = [
  'model.blockEnded',
  'model.answered',
  'model.failed',
  'compact.answered',
  'compact.failed',
  'tool.decided',
  'tool.ended',
  'attachments.collected',
  'stopHooks.ended',
  'toolUse.summarized',
] as const satisfies readonly EventType[];

const lateArrows = Object.fromEntries(
  answers.map((on) => [
    on,
    arrow({ from: waitingPhases, on, to: null, when: (state, event) => isLate(state, event), set: (state) => state }),
  ]),
);

export const inside = {
  late_ignored: {
    why: 'An effect that was dropped still reports: a rule, not luck, keeps it from changing anything.',
    arrows: lateArrows,
  },
  started: {
    why: 'The query begins.',
    arrows: {
      started: arrow({ from: ['ready'], on: 'query.started', to: 'preparing', when: yes, set: (state) => state }),
    },
  },
  context_layered: {
    why: 'The layers that need no model call make the context smaller, once before every request.',
    arrows: {
      layered: arrow({
        from: ['preparing'],
        on: 'always',
        to: null,
        when: (state, _event, config) => !state.scratch.layered && applyLayers(state, config) !== state,
        set: layered,
      }),
    },
  },
  compaction_began: {
    why: 'The context is over the threshold: summarise before the request, once an iteration, unless the breaker is open.',
    arrows: {
      overThreshold: arrow({
        from: ['preparing'],
        on: 'always',
        to: 'compacting',
        when: (state, _event, config) =>
          needsCompaction(state, config) && !state.query.breakerOpen && planCut(state, config) !== null,
        set: beginAutoCompact,
      }),
    },
  },
  request_refused: {
    why: 'So little of the window is left that the request would be refused: it is an overflow without being sent.',
    arrows: {
      noRoom: arrow({
        from: ['preparing'],
        on: 'always',
        to: 'settling',
        when: (state, _event, config) => hasNoRoom(state, config),
        set: noRoom,
      }),
    },
  },
  request_sent: {
    why: 'The next attempt goes to the model.',
    arrows: { sent: arrow({ from: ['preparing'], on: 'always', to: 'streaming', when: yes, set: send }) },
  },
  compaction_worked: {
    why: 'The summary took the place of what it summarises.',
    arrows: {
      answered: arrow({
        from: ['compacting'],
        on: 'compact.answered',
        to: 'preparing',
        when: (state, event, config) => compactedState(state, event, config) !== null,
        set: compactionWorked,
      }),
    },
  },
  compaction_shrunk: {
    why: 'The input of the summariser was itself too long: leave out the oldest turns and ask again, a bounded number of times.',
    arrows: {
      proactive: arrow({
        from: ['compacting'],
        on: 'compact.failed',
        to: 'compacting',
        reenters: true,
        when: mayShrink,
        set: shrinkCompaction,
      }),
      reactive: arrow({
        from: ['compactingReactively'],
        on: 'compact.failed',
        to: 'compactingReactively',
        reenters: true,
        when: mayShrink,
        set: shrinkCompaction,
      }),
    },
  },
  compaction_failed: {
    why: 'No usable summary: the history stays as it is and the request is sent; after three in a row the breaker opens.',
    arrows: {
      answered: arrow({ from: ['compacting'], on: 'compact.answered', to: 'preparing', when: yes, set: compactionFailed }),
      failed: arrow({ from: ['compacting'], on: 'compact.failed', to: 'preparing', when: yes, set: compactionFailed }),
    },
  },
  block_reported: {
    why: 'A block of the answer is whole; a read-only safe tool starts while the model goes on.',
    arrows: {
      reported: arrow({ from: ['streaming'], on: 'model.blockEnded', to: null, when: yes, set: reportBlock }),
    },
  },
  attempt_ended: {
    why: 'The request is over, for better or worse; what it means is settled at once and shown to nobody yet.',
    arrows: {
      answered: arrow({ from: ['streaming'], on: 'model.answered', to: 'settling', when: yes, set: attemptAnswered }),
      failed: arrow({ from: ['streaming'], on: 'model.failed', to: 'settling', when: yes, set: attemptFailed }),
    },
  },
  fell_back: {
    why: 'Three overloads in a row: the next model of the list takes over for the rest of the query.',
    arrows: {
      overloaded: arrow({ from: ['settling'], on: 'always', to: 'preparing', when: (state, _event, config) => mayFallBack(state, config), set: fallBack }),
    },
  },
  retried: {
    why: 'Time may cure it: the same request after a wait.',
    arrows: {
      failed: arrow({ from: ['settling'], on: 'always', to: 'preparing', when: (state, _event, config) => mayRetry(state, config), set: retry }),
    },
  },
  pause_resent: {
    why: 'The API paused the turn of its own tools: the answer goes back unchanged.',
    arrows: {
      paused: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) =>
          isVerdict(state, 'pause_turn') && state.query.turn.pauseTurns < config.limits.pauseTurns,
        set: resendPaused,
      }),
    },
  },
  malformed_reasked: {
    why: 'Tools were asked for in a form that cannot be run: say what was wrong and ask again.',
    arrows: {
      malformed: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) =>
          isVerdict(state, 'malformed') && state.query.turn.malformedAnswers < config.limits.malformedAnswers,
        set: reaskMalformed,
      }),
    },
  },
  thinking_only_reasked: {
    why: 'The answer held thinking and nothing else: ask once more.',
    arrows: {
      empty: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) =>
          isVerdict(state, 'thinking_only') && state.query.turn.thinkingOnly < config.limits.thinkingOnly,
        set: reaskThinkingOnly,
      }),
    },
  },
  max_tokens_lowered: {
    why: 'The input fits, but not together with max_tokens: lower it to the room that the API named, once a turn.',
    arrows: {
      tooLarge: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) =>
          isVerdict(state, 'max_tokens_too_large') && loweredMaxTokens(state, config) !== null,
        set: lowerMaxTokens,
      }),
    },
  },
  thinking_stripped: {
    why: 'The API refused a thinking block: send the request once without any, and forget them.',
    arrows: {
      refused: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state) =>
          isVerdict(state, 'thinking_refused') && state.query.turn.thinkingStripped === 0 && holdsThinking(state),
        set: resendWithoutThinking,
      }),
    },
  },
  media_replaced: {
    why: 'The API refused an image or a document: put a note in its place and ask again, once a turn.',
    arrows: {
      refused: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) =>
          isVerdict(state, 'media') && state.query.turn.mediaReplaced === 0 && replaceMedia(state, config) !== null,
        set: resendWithoutMedia,
      }),
    },
  },
  tools_started: {
    why: 'The answer asks for tools and is whole: those that had to wait for the stop reason may start.',
    arrows: {
      asked: arrow({ from: ['settling'], on: 'always', to: 'runningTools', when: (state) => isVerdict(state, 'tools'), set: startTools }),
    },
  },
  reactive_compaction_began: {
    why: 'The request did not fit, or its media did not: summarise now, once a turn.',
    arrows: {
      forced: arrow({
        from: ['settling'],
        on: 'always',
        to: 'compactingReactively',
        when: (state, _event, config) =>
          (isOverflow(state) || isVerdict(state, 'media')) && mayCompactReactively(state, config),
        set: beginReactiveCompact,
      }),
    },
  },
  stop_hooks_asked: {
    why: 'The model says that it is done: the stop hooks may disagree. Never after an error, a refusal or an abort.',
    arrows: {
      done: arrow({
        from: ['settling'],
        on: 'always',
        to: 'runningStopHooks',
        when: (state, _event, config) => isVerdict(state, 'done') && config.stopHooks && !isShrinking(config),
        set: askStopHooks,
      }),
    },
  },
  stop_hooks_skipped: {
    why: 'The model says that it is done and there is nobody to disagree.',
    arrows: {
      done: arrow({ from: ['settling'], on: 'always', to: 'budgeting', when: (state) => isVerdict(state, 'done'), set: askStopHooks }),
    },
  },
  stop_hooks_passed: {
    why: 'The stop hooks agree, or crashed, which counts as a pass.',
    arrows: {
      passed: arrow({ from: ['runningStopHooks'], on: 'stopHooks.ended', to: 'budgeting', when: yes, set: withNotices }),
    },
  },
  tool_reported: {
    why: 'A tool has its result; the next ones may start.',
    arrows: {
      ended: arrow({ from: ['streaming', 'runningTools'], on: 'tool.ended', to: null, when: yes, set: recordTool }),
    },
  },
  decision_recorded: {
    why: 'A hook or the user decided on a tool use; a resumed run does not ask again.',
    arrows: {
      decided: arrow({ from: ['streaming', 'runningTools'], on: 'tool.decided', to: null, when: yes, set: recordDecision }),
    },
  },
  tools_done: {
    why: 'Every tool use has its result: collect what else the model should see.',
    arrows: {
      all: arrow({
        from: ['runningTools'],
        on: 'always',
        to: 'attaching',
        when: (state) => state.scratch.toolRuns.every(isEnded),
        set: takeResults,
      }),
    },
  },
  attachments_collected: {
    why: 'What was collected, and what the user said meanwhile, goes behind the tool results.',
    arrows: {
      collected: arrow({ from: ['attaching'], on: 'attachments.collected', to: 'advancing', when: yes, set: collect }),
    },
  },
  message_queued: {
    why: 'The user says something while the loop works: it waits for the next turn and starts no iteration.',
    arrows: {
      queued: arrow({ from: waitingPhases, on: 'message.queued', to: null, when: yes, set: queueMessage }),
    },
  },
  summary_shown: {
    why: 'The small model wrote its line on the tools of the last turn.',
    arrows: {
      written: arrow({ from: waitingPhases, on: 'toolUse.summarized', to: null, when: yes, set: showSummary }),
    },
  },
  resumed: {
    why: 'The process died: effects without an answer are started again, or given an error where that could do harm.',
    arrows: {
      ready: arrow({ from: ['ready'], on: 'query.resumed', to: 'preparing', when: yes, set: (state) => state }),
      streaming: arrow({ from: ['streaming'], on: 'query.resumed', to: 'preparing', when: yes, set: resumeStreaming }),
      compacting: arrow({ from: ['compacting'], on: 'query.resumed', to: 'compacting', reenters: true, when: yes, set: resumeEffect }),
      compactingReactively: arrow({
        from: ['compactingReactively'],
        on: 'query.resumed',
        to: 'compactingReactively',
        reenters: true,
        when: yes,
        set: resumeEffect,
      }),
      runningTools: arrow({ from: ['runningTools'], on: 'query.resumed', to: null, when: yes, set: resumeTools }),
      attaching: arrow({ from: ['attaching'], on: 'query.resumed', to: 'attaching', reenters: true, when: yes, set: resumeEffect }),
      runningStopHooks: arrow({
        from: ['runningStopHooks'],
        on: 'query.resumed',
        to: 'runningStopHooks',
        reenters: true,
        when: yes,
        set: resumeEffect,
      }),
    },
  },
} as const satisfies { readonly [name: string]: Transition };

/** Names of the moves inside an iteration. */
export type InsideName = keyof typeof inside;
