/** An answer that a limit cut: what stays of it, and how the model is asked to go on. */
import { addNote, dropAttempt, keepAnswer } from './answer.ts';
import type { LoopState } from './state.ts';

const resumeOrder = 'The answer above was cut. Resume right where it stops, in mid-thought: no apology, no recap.';
const nothingKept = 'Your last answer was cut and nothing of it could be kept. Say or write less at a time.';

/** Keeps what a full window left of the answer and asks to go on; after an error there is nothing to keep. */
export function keepCut(state: LoopState): LoopState {
  if (state.scratch.end?.type !== 'answered') return dropAttempt(state, 'the request did not fit the window');
  const cut = keepCutAnswer(state);
  const isKept = cut.scratch.additions.length > state.scratch.additions.length;
  return addNote(cut, 'continue_request', isKept ? resumeOrder : nothingKept);
}

/** Keeps a cut answer as it is; what ran early of its tools is forgotten with them. */
export function keepCutAnswer(state: LoopState): LoopState {
  const answered = keepAnswer(state, 'cut');
  return { ...answered, scratch: { ...answered.scratch, toolRuns: [] } };
}
