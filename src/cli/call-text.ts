/** What a call would do, for the person who is asked. Whatever runs is shown whole; long file contents say what is left out. */
import type { JsonObject } from '../core/json.ts';
import type { CliIo } from './io.ts';
import { visible } from './visible.ts';

type Colors = CliIo['colors'];

const most = { lines: 40, characters: 2_000 } as const;

/** The name of the tool and what it was asked, without a line end. */
export function callText(name: string, input: JsonObject, colors: Colors): string {
  return `${colors.bold(visible(name))} ${detailsOf(name, input, colors)}`;
}

function detailsOf(name: string, input: JsonObject, colors: Colors): string {
  const { command, file_path: path, old_string: old, new_string: changed, content, replace_all: everywhere } = input;
  if (name === 'Bash' && typeof command === 'string') return indented(visible(command));
  if (name === 'Edit' && typeof path === 'string' && typeof old === 'string' && typeof changed === 'string') {
    const where = everywhere === true ? ' (wherever it stands)' : '';
    return [visible(path) + where, ...marked('-', old, colors.red), ...marked('+', changed, colors.green)].join('\n');
  }
  if (name === 'Write' && typeof path === 'string' && typeof content === 'string') {
    return [visible(path), ...marked('+', content, colors.green)].join('\n');
  }
  return indented(shortened(visible(plainOf(input))));
}

/** An input of one text is that text; anything else is its JSON. */
function plainOf(input: JsonObject): string {
  const [only, ...others] = Object.values(input);
  return typeof only === 'string' && others.length === 0 ? only : JSON.stringify(input);
}

/** Further lines stand under the first, so that none of them looks like a line of ours. */
function indented(text: string): string {
  return text.replaceAll('\n', '\n    ');
}

function marked(mark: string, text: string, color: (line: string) => string): readonly string[] {
  if (text === '') return [];
  const lines = visible(text.replace(/\n$/, '')).split('\n');
  const shown = lines.slice(0, most.lines).map((line) => color(`  ${mark} ${shortened(line)}`));
  const rest = lines.length - shown.length;
  return rest === 0 ? shown : [...shown, `  (and ${rest} more ${rest === 1 ? 'line' : 'lines'})`];
}

function shortened(text: string): string {
  if (text.length <= most.characters) return text;
  return `${text.slice(0, most.characters).toWellFormed()} (and ${text.length - most.characters} more characters)`;
}
