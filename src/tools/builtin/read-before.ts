/** Nothing is changed blindly: a file is read before it is written, and is still what was read. */
import type { ToolUseContext } from '../../core/tools/context.ts';
import { isWithinAny, realPathOf } from '../paths.ts';
import type { ToolRunContext } from '../tool.ts';
import { FileProblem, type OpenFile, sha256 } from './file-access.ts';

/** Largest file that is changed, in bytes: it is held in memory more than once. */
export const largestEdit = 50 * 1024 * 1024;

/**
 * Throws a `FileProblem` unless the file was read (`whole`: all of it; `some`: any part) and has the same content still.
 * The content decides, not the time: a build that only touches a file is no change.
 */
export function checkUnchanged(
  path: string,
  file: OpenFile,
  content: Buffer,
  { shared }: ToolRunContext,
  read: 'whole' | 'some',
): void {
  const record = shared.filesRead[file.realPath];
  if (record === undefined) throw new FileProblem(`${path} has not been read yet. Read it first.`);
  if (!isKnown(shared, file.realPath, sha256(content))) {
    throw new FileProblem(`${path} has changed on disk since it was read. Read it again first.`);
  }
  if (read === 'whole' && record.partial) {
    throw new FileProblem(`Only a part of ${path} was read: read all of it before overwriting it, or use Edit.`);
  }
}

/** The content was read or written by a tool, or is what the model was told of whole. */
function isKnown({ filesRead, changesTold }: ToolUseContext, path: string, hash: string): boolean {
  const record = filesRead[path];
  const told = changesTold?.[path];
  return record?.hash === hash || (told?.whole === true && told.since === record?.hash && told.hash === hash);
}

/**
 * What a check of a file in the workspace finds, as a sentence, so that nobody is asked to allow what cannot work. A
 * file outside is not looked at before it is allowed: even whether it exists is nobody's business until then.
 */
export async function insideProblem(
  path: string,
  context: ToolRunContext,
  check: (path: string) => Promise<void>,
): Promise<string | null> {
  try {
    const absolute = await realPathOf(path);
    if (!isWithinAny(context.roots, absolute)) return null;
    await check(path);
    return null;
  } catch (error) {
    if (error instanceof FileProblem) return error.message;
    throw error;
  }
}
