/** The final answer as data: where its text begins, what a check said of it, and what the model is told when it does not fit. */
import type { AssistantBlock, Message } from './message.ts';
import { isThinking } from './message.ts';
import type { LoopConfig } from './config.ts';
import type { Json } from './json.ts';
import type { LoopState, OutputVerdict } from './state.ts';

/** The text of an answer: what stands behind the last tool of the API, thinking left out. `start`: what earlier pieces said. */
export function answerText(start: string, blocks: readonly AssistantBlock[]): string {
  let text = start;
  for (const block of blocks) {
    if (block.type === 'text') text += block.text;
    else if (!isThinking(block)) text = '';
  }
  return text;
}

/** What the answer that comes next goes on from: the pieces of one that was cut or paused and asked to go on; else empty. */
export function answerSoFar(messages: readonly Message[]): string {
  const pieces: AssistantBlock[] = [];
  for (const message of messages.toReversed()) {
    if (message.role === 'user') {
      if (message.origin !== 'continue_request') break;
    } else if (!message.refused) pieces.unshift(...message.content);
  }
  return answerText('', pieces);
}

/** What the outside said of an answer; one that nobody checked does not fit. Null when nothing has to fit. */
export function verdictOn(said: OutputVerdict | undefined, { outputSchema }: LoopConfig): OutputVerdict | null {
  if (outputSchema === null) return null;
  return said ?? { type: 'mismatch', error: 'It was not checked against the schema.' };
}

/** Why the newest answer does not fit. */
export function mismatchOf({ scratch: { end } }: LoopState): string {
  return end?.type === 'answered' && end.output?.type === 'mismatch' ? end.output.error : '';
}

/** The value of the newest answer where it fits; null for any other. */
export function fittingOutput({ scratch: { end } }: LoopState): Json {
  return end?.type === 'answered' && end.output?.type === 'fits' ? end.output.value : null;
}

/** The answer does not fit, and may be asked for again. */
export function mayReaskOutput({ query }: LoopState, { limits }: LoopConfig): boolean {
  return query.outputMismatches < limits.outputMismatches;
}

/** What the model is told. */
export function mismatchNote(error: string): string {
  return `Your last answer does not fit the JSON schema that was asked for:\n${error}\nAnswer again, with JSON that fits it and nothing else.`;
}
