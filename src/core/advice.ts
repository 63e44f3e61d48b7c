/** A word to a model that goes round in circles: the same call and the same result, or the same error, again and again. */
import { addNote } from './answer.ts';
import type { LoopConfig } from './config.ts';
import { digest } from './ids.ts';
import type { LoopState, Repeats, ToolRun } from './state.ts';

/** Counts what the tools of this turn did once more; at the limit, and only there, a marked note says so. */
export function adviseOnRepeats(state: LoopState, config: LoopConfig): LoopState {
  const limit = config.limits.repeatsBeforeAdvice;
  return state.scratch.toolRuns.reduce((next, run) => {
    const repeats = countRun(next.query.repeats, run);
    const counted = { ...next, query: { ...next.query, repeats } };
    if (repeats.calls === limit && limit > 0) return addNote(counted, 'advice', callAdvice(run.name, limit));
    const isNewError = repeats.errors === limit && next.query.repeats.errors !== limit;
    return isNewError && limit > 0 ? addNote(counted, 'advice', errorAdvice(run.name, limit)) : counted;
  }, state);
}

/** Equal calls must follow each other; an error of a tool is set back by another error or a success of that tool. */
function countRun(before: Repeats, { name, input, outcome }: ToolRun): Repeats {
  const result = JSON.stringify(outcome?.content ?? []);
  const call = digest(`${name} ${JSON.stringify(input)} ${result}`);
  const calls = call === before.call ? before.calls + 1 : 1;
  if (outcome?.isError === true) {
    const error = digest(result);
    const isSame = before.tool === name && before.error === error;
    return { call, calls, tool: name, error, errors: isSame ? before.errors + 1 : 1 };
  }
  return before.tool === name
    ? { call, calls, tool: '', error: '', errors: 0 }
    : { call, calls, tool: before.tool, error: before.error, errors: before.errors };
}

function callAdvice(name: string, times: number): string {
  return `${name} was called ${times} times in a row with the same input and gave the same result each time. Calling it again will not change that: try another way, or say what stands in the way.`;
}

function errorAdvice(name: string, times: number): string {
  return `${name} failed ${times} times with the same error. Read the error, try another way, or say what stands in the way.`;
}
