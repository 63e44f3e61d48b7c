/** How memory files are shown to the model: each under the name of its source. */
import type { MemoryFile } from './memory-file.ts';

const startWords = [
  '# Memory',
  'Instructions from the user and the project, each under the file that it comes from. Follow them. Where two differ, the later one holds.',
].join('\n');

/** The part of the system prompt; empty without files. */
export function startMemoryText(files: readonly MemoryFile[]): string {
  return files.length === 0 ? '' : [startWords, ...files.map(sectionOf)].join('\n\n');
}

/** What is attached when a folder is touched. */
export function nestedMemoryText(files: readonly MemoryFile[]): string {
  return ['Memory files of folders that were touched now. They hold for what is below their folder.']
    .concat(files.map(sectionOf))
    .join('\n\n');
}

function sectionOf({ path, importedBy, level, text }: MemoryFile): string {
  const source =
    importedBy === null ? `from ${level === 'user' ? 'the user' : 'the project'}` : `imported by ${importedBy}`;
  return `## ${path} (${source})\n\n${text}`;
}
