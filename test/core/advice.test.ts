import { describe, expect, it } from 'vitest';
import { adviseOnRepeats } from '../../src/core/advice.ts';
import type { LoopState, ToolRun } from '../../src/core/state.ts';
import { syntheticOutcome } from '../../src/core/tools/schedule.ts';
import { Drive } from '../support/drive.ts';

interface Ran {
  readonly name?: string;
  readonly input?: string;
  /** Null: the run has no outcome. */
  readonly result?: string | null;
  readonly isError?: boolean;
}

function ran({ name = 'read', input = 'a', result = 'x', isError = false }: Ran = {}): ToolRun {
  return {
    toolUseId: 't',
    name,
    input: { path: input },
    verdict: { concurrencySafe: true, readOnly: true, replaySafe: true },
    status: 'ended',
    effectId: 'e',
    outcome: result === null ? null : { ...syntheticOutcome(result), isError },
    decisions: [],
  };
}

const failed: Ran = { isError: true };

/** Text of the notes that came of these runs, all of one turn. */
function notes(runs: readonly Ran[], limit = 3): readonly string[] {
  const drive = new Drive({ limits: { repeatsBeforeAdvice: limit } });
  const before = drive.state;
  const state: LoopState = { ...before, scratch: { ...before.scratch, toolRuns: runs.map(ran) } };
  const added = adviseOnRepeats(state, drive.config).scratch.additions;
  expect(added.every((message) => message.role === 'user' && message.origin === 'advice')).toBe(true);
  return added.flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')));
}

const sameCall =
  '<loop-note>read was called 3 times in a row with the same input and gave the same result each time. Calling it again will not change that: try another way, or say what stands in the way.</loop-note>';
const sameError =
  '<loop-note>read failed 3 times with the same error. Read the error, try another way, or say what stands in the way.</loop-note>';

describe('advice on equal calls', () => {
  it('comes at the limit, and only there', () => {
    expect(notes([{}, {}])).toEqual([]);
    expect(notes([{}, {}, {}])).toEqual([sameCall]);
    expect(notes([{}, {}, {}, {}, {}, {}, {}])).toEqual([sameCall]);
  });

  it.each<Ran>([{ input: 'b' }, { result: 'y' }, { name: 'list' }])('starts again after another call: %j', (other) => {
    expect(notes([{}, {}, other, {}, {}])).toEqual([]);
    expect(notes([{}, {}, other, {}, {}, {}])).toEqual([sameCall]);
  });

  it('counts calls that follow an error of the same tool', () => {
    const first: Ran = { ...failed, result: 'no' };
    expect(notes([first, {}, {}])).toEqual([]);
    expect(notes([first, {}, {}, {}])).toEqual([sameCall]);
  });

  it('takes a run without an outcome for one without an error', () => {
    expect(notes([{ result: null }, { result: null }, { result: null }])).toEqual([sameCall]);
  });

  it('never comes at limit 0', () => {
    expect(notes([{}, failed, {}], 0)).toEqual([]);
  });
});

describe('advice on equal errors', () => {
  const errors = [1, 2, 3, 4].map((number): Ran => ({ ...failed, input: String(number) }));

  it('comes at the limit, whatever the input, and once', () => {
    expect(notes(errors.slice(0, 2))).toEqual([]);
    expect(notes(errors.slice(0, 3))).toEqual([sameError]);
    expect(notes(errors)).toEqual([sameError]);
  });

  it('goes on over calls of another tool that work, and comes no second time for them', () => {
    const list: Ran = { name: 'list' };
    expect(notes([errors[0]!, list, errors[1]!, { ...list, input: 'b' }, errors[2]!, list])).toEqual([sameError]);
  });

  it.each<Ran>([{}, { ...failed, result: 'y' }, { ...failed, name: 'list' }])('starts again after %j', (other) => {
    expect(notes([errors[0]!, errors[1]!, other, errors[2]!, errors[3]!])).toEqual([]);
    expect(notes([errors[0]!, errors[1]!, other, errors[0]!, errors[1]!, errors[2]!])).toEqual([sameError]);
  });
});
