/** The moves inside an iteration: they start and end effects, and change no carried field but stored messages. */
import { attemptAnswered, attemptFailed, recordTool, reportBlock, send } from './attempts.ts';
import { compactedState } from './compaction.ts';
import { needsCompaction, planCompaction, planCut } from './context/auto-compact.ts';
import { applyLayers } from './context/layers.ts';
import { requestSpan, stageSpan, wantsSpan } from './context/span.ts';
import type { EventType } from './event.ts';
import {
  beginAutoCompact,
  beginManualCompact,
  collect,
  compactionFailed,
  compactionWorked,
  isLate,
  layered,
  mayShrink,
  noRoom,
  queueMessage,
  recordDecision,
  showCleared,
  showSummary,
  shrinkCompaction,
  startQuery,
  summaryRejected,
  takeResults,
  withNotices,
} from './moves.ts';
import { hasNoRoom } from './recovery.ts';
import { isRefusedPlan } from './refused-summaries.ts';
import { resuming } from './resuming.ts';
import { settling } from './settling.ts';
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
  'span.summarized',
  'context.cleared',
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
      started: arrow({ from: ['ready'], on: 'query.started', to: 'preparing', when: yes, set: startQuery }),
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
  span_requested: {
    why: 'The context fills: the small model summarises an old span now, so that its summary is there when it is needed.',
    arrows: {
      filling: arrow({
        from: ['preparing'],
        on: 'always',
        to: null,
        when: (state, _event, config) => wantsSpan(state, config),
        set: requestSpan,
      }),
    },
  },
  compaction_began: {
    why: 'The context is over the threshold, or the user asked: summarise before the request, once an iteration, unless the breaker is open.',
    arrows: {
      byHand: arrow({
        from: ['preparing'],
        on: 'always',
        to: 'compacting',
        when: (state, _event, config) => state.query.manualCompaction !== null && planCut(state, config) !== null,
        set: beginManualCompact,
      }),
      overThreshold: arrow({
        from: ['preparing'],
        on: 'always',
        to: 'compacting',
        when: (state, _event, config) =>
          needsCompaction(state, config) &&
          !state.query.breakerOpen &&
          planCut(state, config) !== null &&
          !isRefusedPlan(state, config, planCompaction(state, config, { kind: 'auto_compact', cures: null })),
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
      answered: arrow({
        from: ['compacting'],
        on: 'compact.answered',
        to: 'preparing',
        when: yes,
        set: summaryRejected,
      }),
      failed: arrow({ from: ['compacting'], on: 'compact.failed', to: 'preparing', when: yes, set: compactionFailed }),
    },
  },
  block_reported: {
    why: 'A block of the answer is whole; a read-only safe tool starts while the model goes on.',
    arrows: {
      reported: arrow({ from: ['streaming'], on: 'model.blockEnded', to: null, when: yes, set: reportBlock }),
    },
  },
  clearing_shown: {
    why: 'The API says what it left out of the request by itself; only its own count is shown.',
    arrows: {
      cleared: arrow({ from: ['streaming'], on: 'context.cleared', to: null, when: yes, set: showCleared }),
    },
  },
  attempt_ended: {
    why: 'The request is over, for better or worse; what it means is settled at once and shown to nobody yet.',
    arrows: {
      answered: arrow({ from: ['streaming'], on: 'model.answered', to: 'settling', when: yes, set: attemptAnswered }),
      failed: arrow({ from: ['streaming'], on: 'model.failed', to: 'settling', when: yes, set: attemptFailed }),
    },
  },
  ...settling,
  stop_hooks_passed: {
    why: 'The stop hooks agree, or crashed, which counts as a pass.',
    arrows: {
      passed: arrow({
        from: ['runningStopHooks'],
        on: 'stopHooks.ended',
        to: 'budgeting',
        when: yes,
        set: withNotices,
      }),
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
      decided: arrow({
        from: ['streaming', 'runningTools'],
        on: 'tool.decided',
        to: null,
        when: yes,
        set: recordDecision,
      }),
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
  span_staged: {
    why: 'The small model summarised a span: the summary waits until the span must go.',
    arrows: {
      written: arrow({ from: waitingPhases, on: 'span.summarized', to: null, when: yes, set: stageSpan }),
    },
  },
  ...resuming,
} as const satisfies { readonly [name: string]: Transition };

/** Names of the moves inside an iteration. */
export type InsideName = keyof typeof inside;
