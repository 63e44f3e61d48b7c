/** The moves out of `settling` that are neither a continue nor a terminal: new attempts, tools, compaction, stop hooks. */
import {
  fallBack,
  lowerMaxTokens,
  reaskMalformed,
  reaskOutput,
  reaskThinkingOnly,
  resendPaused,
  resendWithoutMedia,
  resendWithoutThinking,
  retry,
  sentThinking,
} from './attempts.ts';
import { isShrinking } from './config.ts';
import { replaceMedia } from './context/media.ts';
import { askStopHooks, beginReactiveCompact, startTools } from './moves.ts';
import { isOverflow, isVerdict, loweredMaxTokens, mayCompactReactively, mayFallBack, mayRetry } from './recovery.ts';
import { mayReaskOutput } from './structured-output.ts';
import { arrow, type Transition } from './transition.ts';

export const settling = {
  fell_back: {
    why: 'Three overloads in a row: the next model of the list takes over for the rest of the query.',
    arrows: {
      overloaded: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) => mayFallBack(state, config),
        set: fallBack,
      }),
    },
  },
  retried: {
    why: 'Time may cure it: the same request after a wait.',
    arrows: {
      failed: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) => mayRetry(state, config),
        set: retry,
      }),
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
  output_reasked: {
    why: 'The final answer does not fit the schema of the query: say what is wrong and ask again, a bounded number of times in the query.',
    arrows: {
      mismatch: arrow({
        from: ['settling'],
        on: 'always',
        to: 'preparing',
        when: (state, _event, config) => isVerdict(state, 'invalid_output') && mayReaskOutput(state, config),
        set: reaskOutput,
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
        when: (state, _event, config) =>
          isVerdict(state, 'thinking_refused') &&
          state.query.turn.thinkingStripped === 0 &&
          sentThinking(state, config),
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
      asked: arrow({
        from: ['settling'],
        on: 'always',
        to: 'runningTools',
        when: (state) => isVerdict(state, 'tools'),
        set: startTools,
      }),
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
      done: arrow({
        from: ['settling'],
        on: 'always',
        to: 'budgeting',
        when: (state) => isVerdict(state, 'done'),
        set: askStopHooks,
      }),
    },
  },
} as const satisfies { readonly [name: string]: Transition };
