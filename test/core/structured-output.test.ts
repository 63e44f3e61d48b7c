import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/core/message.ts';
import type { AttemptEnd, LoopState, OutputVerdict } from '../../src/core/state.ts';
import {
  answerSoFar,
  answerText,
  fittingOutput,
  mayReaskOutput,
  mismatchNote,
  mismatchOf,
  verdictOn,
} from '../../src/core/structured-output.ts';
import { Drive } from '../support/drive.ts';
import { assistant, user, usage } from '../support/said.ts';

const { state, config } = new Drive({ outputSchema: {}, limits: { outputMismatches: 2 } });
const says = (text: string) => ({ type: 'text', text }) as const;
const thought = { type: 'thinking', thinking: 'hm', signature: 's' } as const;
const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} } as const;

describe('the text of an answer', () => {
  it('is what stands behind the last tool of the API, thinking left out', () => {
    expect(answerText('a', [says('b'), thought, says('c')])).toBe('abc');
    expect(answerText('a', [says('b'), search, says('c')])).toBe('c');
    expect(answerText('a', [])).toBe('a');
  });

  it('goes on from the pieces that were asked to go on, in their order', () => {
    const goOn: Message = { ...user('u', 'go on'), role: 'user', origin: 'continue_request', content: [] };
    const piece = (text: string): Message => assistant('a', says(text), says('.'));
    expect(answerSoFar([])).toBe('');
    expect(answerSoFar([piece('old'), user('u', 'go'), piece('one'), goOn, piece('two'), goOn])).toBe('one.two.');
    expect(answerSoFar([user('u', 'go'), piece('one'), { ...piece('no'), refused: true }])).toBe('one.');
    expect(answerSoFar([piece('one'), user('u', 'go')])).toBe('');
  });
});

function ended(end: AttemptEnd | null): LoopState {
  return { ...state, scratch: { ...state.scratch, end } };
}

function answered(output: OutputVerdict | null): LoopState {
  return ended({ type: 'answered', stopReason: 'end_turn', usage: usage(1), output });
}

describe('the verdict on an answer', () => {
  const fits: OutputVerdict = { type: 'fits', value: { a: 1 } };
  const mismatch: OutputVerdict = { type: 'mismatch', error: 'no a' };

  it('is what was said; an answer that nobody checked does not fit', () => {
    expect(verdictOn(fits, config)).toBe(fits);
    expect(verdictOn(fits, { ...config, outputSchema: null })).toBeNull();
    expect(verdictOn(undefined, config)).toEqual({
      type: 'mismatch',
      error: 'It was not checked against the schema.',
    });
  });

  it('gives the error of one that does not fit, and the value of one that does', () => {
    const failed = ended({ type: 'failed', failure: {} as never, unfinished: null, usage: usage(1) });
    expect([mismatch, fits, null].map((said) => mismatchOf(answered(said)))).toEqual(['no a', '', '']);
    expect([mismatch, fits, null].map((said) => fittingOutput(answered(said)))).toEqual([null, { a: 1 }, null]);
    expect([ended(null), failed].map(mismatchOf)).toEqual(['', '']);
    expect([ended(null), failed].map(fittingOutput)).toEqual([null, null]);
  });

  it('is asked for again so many times, with the reason', () => {
    const after = (outputMismatches: number): LoopState => ({ ...state, query: { ...state.query, outputMismatches } });
    expect([0, 1, 2, 3].map((times) => mayReaskOutput(after(times), config))).toEqual([true, true, false, false]);
    expect(mismatchNote('no a')).toBe(
      'Your last answer does not fit the JSON schema that was asked for:\nno a\nAnswer again, with JSON that fits it and nothing else.',
    );
  });
});
