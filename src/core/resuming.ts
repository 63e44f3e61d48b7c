/** The moves of a query whose process died and whose journal was folded. */
import { resumeEffect, resumeStreaming, resumeTools } from './moves.ts';
import { arrow, type Transition, yes } from './transition.ts';

export const resuming = {
  resumed: {
    why: 'The process died: effects without an answer are started again, or given an error where that could do harm.',
    arrows: {
      ready: arrow({ from: ['ready'], on: 'query.resumed', to: 'preparing', when: yes, set: (state) => state }),
      streaming: arrow({ from: ['streaming'], on: 'query.resumed', to: 'preparing', when: yes, set: resumeStreaming }),
      compacting: arrow({
        from: ['compacting'],
        on: 'query.resumed',
        to: 'compacting',
        reenters: true,
        when: yes,
        set: resumeEffect,
      }),
      compactingReactively: arrow({
        from: ['compactingReactively'],
        on: 'query.resumed',
        to: 'compactingReactively',
        reenters: true,
        when: yes,
        set: resumeEffect,
      }),
      runningTools: arrow({ from: ['runningTools'], on: 'query.resumed', to: null, when: yes, set: resumeTools }),
      attaching: arrow({
        from: ['attaching'],
        on: 'query.resumed',
        to: 'attaching',
        reenters: true,
        when: yes,
        set: resumeEffect,
      }),
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
