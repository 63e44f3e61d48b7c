/** What the scripted model of the demo answers: it reads, edits, runs the test; one request meets an overload. */
import type { ModelEntry } from '../../testing/scenario.ts';
import { buggyFile } from './files.ts';

/** Milliseconds between the pieces of an answer, so that a person can follow. */
const pace = 120;

/** A text in pieces, as models stream it. */
function spoken(text: string): Extract<ModelEntry, { stream: unknown }>['stream'] {
  return (text.match(/\S+\s*/g) ?? []).flatMap((text_) => [{ text: text_ }, { wait: pace / 4 }]);
}

/** The command that runs the tests of the demo repository. */
export const testCommand = 'node --test';

export const oldLine = 'const user = getUser(userId)';
export const newLines = `if (!userId) return { error: 'unauthorized' }\n  ${oldLine}`;

export const demoScript: readonly ModelEntry[] = [
  {
    stream: [
      { wait: pace },
      ...spoken('Let me look at the file. '),
      { tool: 'Read', id: 'toolu_demo_read', input: { file_path: buggyFile } },
      { stop: 'tool_use' },
    ],
  },
  { status: 529, type: 'overloaded_error', message: 'Overloaded', headers: { 'retry-after-ms': '600' } },
  {
    stream: [
      { wait: pace },
      ...spoken('I see the bug on line 42: userId can be null. '),
      {
        tool: 'Edit',
        id: 'toolu_demo_edit',
        input: { file_path: buggyFile, old_string: oldLine, new_string: newLines },
      },
      { stop: 'tool_use' },
    ],
  },
  {
    stream: [
      { wait: pace },
      ...spoken('Now the tests. '),
      { tool: 'Bash', id: 'toolu_demo_test', input: { command: testCommand, description: 'Run the tests' } },
      { stop: 'tool_use' },
    ],
  },
  {
    stream: [
      { wait: pace },
      ...spoken('I fixed the null pointer bug by adding a guard clause; all tests pass.'),
      { stop: 'end_turn' },
    ],
  },
];
