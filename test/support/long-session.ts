/** A session of thousands of turns in a small window: two tools a turn, compacted again and again. */
import { parseScenario, type Scenario } from '../../src/testing/scenario.ts';

/** So many turns with tools, then an answer. */
export function longSession(turns: number, config: Scenario['config'] = {}): Scenario {
  return parseScenario({
    name: `a session of ${turns} turns`,
    config: { contextWindow: 40_000, modelMaxOutput: 8_000, maxTurns: turns + 1, ...config },
    prompt: 'Read the files one after the other and mend what is wrong.',
    model: [
      {
        stream: [
          { thinking: 'The next one.', signature: 's' },
          { text: 'I read the next file.' },
          { tool: 'read', id: '', input: { path: 'src/file.ts' } },
          { tool: 'edit', id: '', input: { path: 'src/file.ts', text: 'better' } },
          { stop: 'tool_use' },
        ],
        times: turns,
      },
      { stream: [{ text: 'done' }, { stop: 'end_turn' }] },
    ],
    summary: [{ text: 'Some files were read and mended. '.repeat(20), repeat: true }],
    small: [{ text: 'Read and mended a file.', repeat: true }],
    tools: {
      read: { safe: true, results: [{ text: 'a line of the file, with some words in it\n'.repeat(40) }] },
      edit: { results: [{ text: 'Edited.' }] },
    },
  });
}
