/** What the scripted model says to the examples of the documentation, by the name in `<!-- model: name -->`. */
import type { ModelEntry } from '../../src/testing/scenario.ts';

const hello: ModelEntry = { stream: [{ text: 'Hello' }, { text: ' there.' }, { stop: 'end_turn' }], repeat: true };

/** One tool use, then "done". */
function uses(tool: string, input: Record<string, string>): readonly ModelEntry[] {
  return [
    { stream: [{ text: 'Let me see.' }, { tool, id: 'toolu_1', input }, { stop: 'tool_use' }] },
    { stream: [{ text: 'Done.' }, { stop: 'end_turn' }], repeat: true },
  ];
}

export const models: Readonly<Record<string, readonly ModelEntry[]>> = {
  hello: [hello],
  read: uses('Read', { file_path: 'notes.txt' }),
  bash: uses('Bash', { command: 'echo hi' }),
  weather: uses('Weather', { city: 'Oslo' }),
  /** Never ends by itself: for examples that stop the query. */
  slow: [{ stream: [{ text: 'One ' }, { wait: 60_000 }, { stop: 'end_turn' }], repeat: true }],
  /** An answer that is data. */
  json: [{ stream: [{ text: '{"bugs":["a null pointer"]}' }, { stop: 'end_turn' }], repeat: true }],
  /** Busy at first, then fine. */
  busy: [{ status: 529 }, hello],
};
