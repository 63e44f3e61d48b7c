/** Glob: finds files by their names. */
import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { absolutePath } from '../paths.ts';
import { type Tool, tool, type ToolRunContext } from '../tool.ts';
import { FileProblem, pathOpinion } from './file-access.ts';
import { inSlices } from './in-slices.ts';
import { type DatedFile, limited, listFiles, newestFirst, searchBase, shownPath } from './list-files.ts';

/** Files of one result (the number of other coding agents). */
const mostFiles = 100;

const input = z.strictObject({
  pattern: z.string().min(1).describe('A glob pattern such as "src/**/*.ts"'),
  path: z.string().min(1).optional().describe('The folder to search; the working folder by default'),
});

type GlobInput = z.output<typeof input>;

/** Glob{pattern, path}: read-only and safe beside others. */
export const globTool: Tool = tool({
  name: 'Glob',
  isBuiltIn: true,
  rulesOf: ['Read'],
  description: [
    'Finds files by a glob pattern, the newest first.',
    `Files that git ignores are left out, links are not followed, at most ${mostFiles} are listed. To search in files use Grep.`,
  ].join('\n'),
  input,
  isConcurrencySafe: () => true,
  isReadOnly: () => true,
  backfill: (given, { cwd }) => ({ ...given, path: absolutePath(given.path ?? '.', cwd) }),
  permissionTarget: ({ path }) => ({ type: 'paths', paths: path === undefined ? [] : [path] }),
  checkPermission: ({ path }, context) => pathOpinion(path ?? context.cwd, context, 'read'),
  summary: ({ pattern, path }) => (path === undefined ? pattern : `${pattern} in ${path}`),
  run: findFiles,
});

async function findFiles({ pattern, path }: GlobInput, context: ToolRunContext): Promise<string> {
  const base = await searchBase(path ?? context.cwd, context);
  if (base.isFile) throw new FileProblem(`${path} is a file. Give a folder as path.`);
  const paths = await listFiles(base.path, pattern, context);
  const dated = (await inSlices(paths, context.signal, (slice) => Promise.all(slice.map(dateOf)))).filter(
    (file) => file !== null,
  );
  if (dated.length === 0) return 'No files found.';
  return limited(
    newestFirst(dated).map((file) => shownPath(file.path, context)),
    mostFiles,
    'file',
  );
}

/** Null for a file that vanished since it was listed. */
async function dateOf(path: string): Promise<DatedFile | null> {
  const stats = await lstat(path).catch(() => null);
  return stats === null ? null : { path, mtimeMs: stats.mtimeMs };
}
