/** Write: a whole file, new or replaced. */
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { absolutePath, isMissing, realPathOf } from '../paths.ts';
import { count } from '../../core/text.ts';
import { type Tool, tool, type ToolOutput, type ToolRunContext } from '../tool.ts';
import { createFile, openFile, pathOpinion, readWhole, replaceContent, type WrittenFile } from './file-access.ts';
import { checkUnchanged, insideProblem, largestEdit } from './read-before.ts';

const input = z.strictObject({
  file_path: z.string().min(1).describe('The file to write; absolute, or relative to the working folder'),
  content: z.string().describe('The whole content of the file'),
});

type WriteInput = z.output<typeof input>;

/** Write{file_path, content}: an edit; refuses to overwrite what was not read whole or has changed. */
export const writeTool: Tool = tool({
  name: 'Write',
  isBuiltIn: true,
  rulesOf: ['Edit'],
  description: [
    'Writes a whole file and makes missing folders.',
    'An existing file must have been read whole with Read before, and must not have changed since. To change a part of a file use Edit.',
  ].join('\n'),
  input,
  isEdit: () => true,
  backfill: (given, { cwd }) => ({ ...given, file_path: absolutePath(given.file_path, cwd) }),
  permissionTarget: ({ file_path }) => ({ type: 'paths', paths: [file_path] }),
  checkPermission: ({ file_path }, context) => pathOpinion(file_path, context, 'write'),
  validate: ({ file_path }, context) =>
    insideProblem(absolutePath(file_path, context.cwd), context, (path) => checkOverwrite(path, context)),
  summary: ({ file_path }) => file_path,
  run: write,
});

async function write(given: WriteInput, context: ToolRunContext): Promise<ToolOutput> {
  const content = Buffer.from(given.content.toWellFormed());
  const replaced = await overwrite(given.file_path, content, context);
  const { realPath, record } = replaced ?? (await createFile(given.file_path, content, context));
  context.remember(content);
  const lines = given.content === '' ? 0 : given.content.replace(/\n$/, '').split('\n').length;
  return {
    content: `${replaced === null ? 'Created' : 'Overwrote'} ${given.file_path} (${count(lines, 'line')}).`,
    contextChanges: [{ type: 'fileRead', path: realPath, record }],
  };
}

/** Null when there is no such file yet. */
async function overwrite(path: string, content: Buffer, context: ToolRunContext): Promise<WrittenFile | null> {
  if (!(await exists(path))) return null;
  const file = await openFile(path, context, 'write');
  try {
    checkUnchanged(path, file, await readWhole(file, path, largestEdit), context, 'whole');
    return { realPath: file.realPath, record: await replaceContent(file, content) };
  } finally {
    await file.handle.close();
  }
}

/** Throws when the file exists and may not be overwritten. */
async function checkOverwrite(path: string, context: ToolRunContext): Promise<void> {
  if (!(await exists(path))) return;
  const file = await openFile(path, context, 'read');
  try {
    checkUnchanged(path, file, await readWhole(file, path, largestEdit), context, 'whole');
  } finally {
    await file.handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(await realPathOf(path));
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
