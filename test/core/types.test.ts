import { describe, expectTypeOf, it } from 'vitest';
import { continues } from '../../src/core/continue.ts';
import type { Effect } from '../../src/core/effect.ts';
import type { LoopEvent } from '../../src/core/event.ts';
import type { Carried, ContinueName, LoopState, Terminal, TerminalName } from '../../src/core/state.ts';
import { step } from '../../src/core/step.ts';
import { terminals } from '../../src/core/terminal.ts';
import type { Transition } from '../../src/core/transition.ts';

type Continues = { readonly [Name in ContinueName]: Transition };
type Terminals = { readonly [Name in TerminalName]: Transition };

/** Promises made in types: these lines are checked by the compiler, and `npm run typecheck` fails when one is broken. */
describe('types', () => {
  it('close the lists of continues and terminals', () => {
    const { next_turn: nextTurn, ...six } = continues;
    // @ts-expect-error a continue is missing
    const tooFew: Continues = six;
    // @ts-expect-error an eighth continue
    const tooMany: Continues = { ...continues, spin: nextTurn };
    const { completed, ...nine } = terminals;
    // @ts-expect-error a terminal is missing
    const noEnd: Terminals = nine;
    // @ts-expect-error an eleventh terminal
    const moreEnds: Terminals = { ...terminals, gave_up: completed };
    expectTypeOf([tooFew, tooMany, noEnd, moreEnds]).toBeArray();
  });

  it('refuse a continue that leaves a carried field out', () => {
    const carried = {} as Carried;
    const { stopHookActive: _, ...rest } = carried;
    // @ts-expect-error one of the ten fields is missing
    const incomplete: Carried = rest;
    expectTypeOf(incomplete).toEqualTypeOf<Carried>();
  });

  it('say what goes in and what comes out', () => {
    expectTypeOf(step).parameter(0).toEqualTypeOf<LoopState>();
    expectTypeOf(step).parameter(1).toEqualTypeOf<LoopEvent>();
    expectTypeOf(step).returns.toEqualTypeOf<{ readonly state: LoopState; readonly effects: readonly Effect[] }>();
    expectTypeOf<Extract<Terminal, { reason: 'max_turns' }>['outcome']>().toBeNull();
    // @ts-expect-error an event that nobody sends
    const event: LoopEvent = { type: 'model.dreamt' };
    expectTypeOf(event).toEqualTypeOf<LoopEvent>();
  });
});
