/** An answer that a limit cut: what stays of it, and how the model is asked to go on. */
import { addNote, dropAttempt, keepAnswer } from './answer.ts';
import type { LoopState } from './state.ts';

const resumeOrder = 'The answer above was cut. Resume right where it stops, in mid-thought: no apology, no recap.';

/** Keeps what a full window left of the answer and asks to go on; after an error there is nothing to keep. */
export function keepCut(state: LoopState): LoopState {
  if (state.scratch.end?.type !== 'answered') return dropAttempt(state, 'the request did not fit the window');
  const answered = keepAnswer(state, 'cut');
  const cut = { ...answered, scratch: { ...answered.scratch, toolRuns: [] } };
  return addNote(cut, 'continue_request', resumeOrder);
}
