/** Grep: searches the content of files. One search of its own, so that it behaves the same on every machine. */
import { z } from 'zod';
import { absolutePath } from '../paths.ts';
import { count, cutHead } from '../../core/text.ts';
import { type Tool, tool, type ToolRunContext } from '../tool.ts';
import { FileProblem, pathOpinion } from './file-access.ts';
import { inSlices } from './in-slices.ts';
import { limited, listFiles, newestFirst, searchBase, shownPath } from './list-files.ts';
import type { FileMatches, SearchOptions } from './matches.ts';
import { Pattern } from './pattern.ts';
import { searchFiles } from './search-files.ts';

const grepLimits = {
  /** Entries of one result when the model says nothing else (the number of other coding agents). */
  entries: 250,
  /** Entries when the model asks for no limit: more would not fit any context. */
  mostEntries: 100_000,
  /** Characters of a shown line; the rest of a minified file says nothing. */
  lineCharacters: 500,
  /** A pattern that was given up on so many files is given up. */
  slowFiles: 5,
} as const;

const lines = z.number().int().min(0).max(1_000).optional();

const input = z.strictObject({
  pattern: z.string().min(1).describe('A JavaScript regular expression'),
  path: z.string().min(1).optional().describe('The file or folder to search; the working folder by default'),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe('Search only files whose path matches, such as "*.ts" or "src/**"; with "!" in front only the others'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .default('files_with_matches')
    .describe('Matching lines, paths of matching files (newest first), or matching lines per file'),
  '-i': z.boolean().default(false).describe('Ignore the case of letters'),
  '-n': z.boolean().default(true).describe('Show line numbers (content)'),
  '-A': lines.describe('Lines to show after each match (content)'),
  '-B': lines.describe('Lines to show before each match (content)'),
  '-C': lines.describe('Lines to show around each match (content)'),
  head_limit: z
    .number()
    .int()
    .min(0)
    .default(grepLimits.entries)
    .describe('Show at most so many lines or files; 0 for no limit'),
  multiline: z.boolean().default(false).describe('Let matches go over lines; "." matches newlines too'),
});

type GrepInput = z.output<typeof input>;

/** Grep{pattern, path, glob, output_mode, -i, -n, -A, -B, -C, head_limit, multiline}: read-only and safe beside others. */
export const grepTool: Tool = tool({
  name: 'Grep',
  isBuiltIn: true,
  rulesOf: ['Read'],
  description: [
    'Searches files for a regular expression (JavaScript syntax).',
    'Binary files and files that git ignores are left out, links are not followed. To find files by name use Glob.',
  ].join('\n'),
  input,
  isConcurrencySafe: () => true,
  isReadOnly: () => true,
  backfill: (given, { cwd }) => ({ ...given, path: absolutePath(given.path ?? '.', cwd) }),
  permissionTarget: ({ path }) => ({ type: 'paths', paths: path === undefined ? [] : [path] }),
  checkPermission: ({ path }, context) => pathOpinion(path ?? context.cwd, context, 'read'),
  summary: ({ pattern, path }) => (path === undefined ? pattern : `${pattern} in ${path}`),
  run: search,
});

async function search(given: GrepInput, context: ToolRunContext): Promise<string> {
  const pattern = new Pattern(given.pattern, { ignoreCase: given['-i'], multiline: given.multiline });
  const limit = given.head_limit === 0 ? grepLimits.mostEntries : Math.min(given.head_limit, grepLimits.mostEntries);
  const base = await searchBase(given.path ?? context.cwd, context);
  const paths = base.isFile ? [base.path] : await listFiles(base.path, globOf(given.glob), context);
  const options = optionsOf(given, limit);
  let shown = 0;
  let slow = 0;
  const searched = await inSlices(
    paths,
    context.signal,
    async (slice) => {
      const found = await searchFiles(slice, pattern, options, context);
      for (const file of found) {
        shown += file?.lines.length ?? 0;
        slow += file?.skipped === 'slow' ? 1 : 0;
      }
      return found;
    },
    () => shown > limit || slow >= grepLimits.slowFiles,
  );
  if (slow >= grepLimits.slowFiles) {
    throw new FileProblem(
      'The pattern takes too long: it can match the same text in too many ways. Write it without nested repetitions.',
    );
  }
  const files = searched.filter((file) => file !== null);
  return [resultOf(files, given, limit, context), ...noticesOf(files, context, base.isFile)].join('\n');
}

/** A glob without a slash is about the name of a file in any folder. */
function globOf(glob: string | undefined): string {
  if (glob === undefined) return '**/*';
  const bare = glob.replace(/^!/, '');
  return bare.includes('/') ? glob : `${glob.slice(0, glob.length - bare.length)}**/${bare}`;
}

function optionsOf(given: GrepInput, limit: number): SearchOptions {
  return {
    multiline: given.multiline,
    before: given['-B'] ?? given['-C'] ?? 0,
    after: given['-A'] ?? given['-C'] ?? 0,
    mostLines: given.output_mode === 'content' ? limit + 1 : 0,
    firstOnly: given.output_mode === 'files_with_matches',
  };
}

function resultOf(files: readonly FileMatches[], given: GrepInput, limit: number, context: ToolRunContext): string {
  const matching = files.filter((file) => file.count > 0);
  if (matching.length === 0) return 'No matches found.';
  switch (given.output_mode) {
    case 'files_with_matches':
      return limited(
        newestFirst(matching).map((file) => shownPath(file.path, context)),
        limit,
        'file',
      );
    case 'count':
      return limited(
        matching.map((file) => `${shownPath(file.path, context)}:${file.count}`),
        limit,
        'file',
      );
    case 'content': {
      const shown = matching.flatMap((file) => linesOf(file, given, context));
      if (shown.length <= limit) return shown.join('\n');
      return `${shown.slice(0, limit).join('\n')}\n(Only the first ${count(limit, 'line')}; there are more.)`;
    }
  }
}

/** `path:12:text` for a match, `path-11-text` for a line around one, `--` where lines are left out. */
function linesOf(file: FileMatches, given: GrepInput, context: ToolRunContext): readonly string[] {
  const path = shownPath(file.path, context);
  const { before, after } = optionsOf(given, 0);
  const hasContext = before + after > 0;
  return file.lines.flatMap(({ number, text, isMatch }, index) => {
    const mark = isMatch ? ':' : '-';
    const place = given['-n'] ? `${path}${mark}${number}${mark}` : `${path}${mark}`;
    const cut = text.length > grepLimits.lineCharacters ? `${cutHead(text, grepLimits.lineCharacters)}…` : text;
    const gap = hasContext && index > 0 && file.lines[index - 1]?.number !== number - 1;
    return gap ? ['--', place + cut] : [place + cut];
  });
}

function noticesOf(files: readonly FileMatches[], context: ToolRunContext, named: boolean): readonly string[] {
  const names = (why: FileMatches['skipped']): string =>
    files
      .filter((file) => file.skipped === why)
      .map((file) => shownPath(file.path, context))
      .join(', ');
  const slow = names('slow');
  const large = names('too large');
  return [
    ...(slow === '' ? [] : [`(Not searched to the end, since the pattern takes too long there: ${slow})`]),
    ...(large === '' ? [] : [`(Not searched, since too large for multiline: ${large})`]),
    // Binary files are left out without a word, but not when one was asked for by name.
    ...(named && names('binary') !== '' ? ['(The file is binary and was not searched.)'] : []),
  ];
}
