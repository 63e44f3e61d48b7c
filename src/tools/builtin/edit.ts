/** Edit: replaces an exact piece of a file that was read before. */
import { z } from 'zod';
import { absolutePath } from '../paths.ts';
import { count, cutHead } from '../../core/text.ts';
import { type Tool, tool, type ToolOutput, type ToolRunContext } from '../tool.ts';
import { unifiedDiff } from './diff-text.ts';
import { FileProblem, openFile, pathOpinion, readWhole, replaceContent } from './file-access.ts';
import { checkUnchanged, insideProblem, largestEdit } from './read-before.ts';
import { encodeText, replaceText, type TextFile, decodeText } from './text-file.ts';

const input = z.strictObject({
  file_path: z.string().min(1).describe('The file to change; absolute, or relative to the working folder'),
  old_string: z.string().describe('The text to replace, exactly as it stands in the file, without line numbers'),
  new_string: z.string().describe('The text that takes its place'),
  replace_all: z.boolean().default(false).describe('Replace every occurrence instead of the only one'),
});

type EditInput = z.output<typeof input>;

/** Longest diff in a result, in characters. */
const longestDiff = 8_000;

/** Edit{file_path, old_string, new_string, replace_all}: an edit; refuses what was not read or has changed. */
export const editTool: Tool = tool({
  name: 'Edit',
  isBuiltIn: true,
  description: [
    'Replaces old_string by new_string in a file that was read with Read before.',
    'old_string must stand in the file exactly once, white space included; give more of the lines around it to make it unique, or set replace_all.',
    'Line endings and a byte order mark stay as they are. To create a file use Write.',
  ].join('\n'),
  input,
  isEdit: () => true,
  backfill: (given, { cwd }) => ({ ...given, file_path: absolutePath(given.file_path, cwd) }),
  permissionTarget: ({ file_path }) => ({ type: 'paths', paths: [file_path] }),
  checkPermission: ({ file_path }, context) => pathOpinion(file_path, context, 'write'),
  validate: (given, context) =>
    senseless(given) ??
    insideProblem(absolutePath(given.file_path, context.cwd), context, (path) => checkEdit(given, path, context)),
  summary: ({ file_path }) => file_path,
  run: edit,
});

function senseless({ old_string, new_string }: EditInput): string | null {
  if (old_string === '') return 'old_string is empty. To create a file use Write.';
  return old_string === new_string ? 'old_string and new_string are the same: nothing would change.' : null;
}

/** Throws when the edit cannot be made. */
async function checkEdit(given: EditInput, path: string, context: ToolRunContext): Promise<void> {
  const file = await openFile(path, context, 'read');
  try {
    const content = await readWhole(file, path, largestEdit);
    checkUnchanged(path, file, content, context, 'some');
    changed(given, path, decode(path, content));
  } finally {
    await file.handle.close();
  }
}

async function edit(given: EditInput, context: ToolRunContext): Promise<ToolOutput> {
  const path = given.file_path;
  const file = await openFile(path, context, 'write');
  try {
    const content = await readWhole(file, path, largestEdit);
    checkUnchanged(path, file, content, context, 'some');
    const before = decode(path, content);
    const after = changed(given, path, before);
    const partial = context.shared.filesRead[file.realPath]?.partial ?? true;
    const written = encodeText(after);
    const record = { ...(await replaceContent(file, written)), partial };
    context.remember(written);
    return {
      content: `Changed ${path}.\n${diffOf(before, after)}`,
      contextChanges: [{ type: 'fileRead', path: file.realPath, record }],
    };
  } finally {
    await file.handle.close();
  }
}

function decode(path: string, content: Buffer): TextFile {
  const text = decodeText(content);
  if (text === null) throw new FileProblem(`${path} is no UTF-8 text: an edit would damage it.`);
  return text;
}

/** The file after the edit. Throws a `FileProblem` that says how often the text was found when that is wrong. */
function changed({ old_string, new_string, replace_all }: EditInput, path: string, file: TextFile): TextFile {
  const { text, found } = replaceText(file, old_string, new_string, replace_all);
  if (text !== null) return { ...file, text };
  if (found === 0) throw new FileProblem(`old_string does not stand in ${path}.${hintFor(file.text, old_string)}`);
  throw new FileProblem(
    `old_string stands in ${path} ${count(found, 'time')}. Give more of the lines around it, or set replace_all.`,
  );
}

/** The two mistakes that models make most. */
function hintFor(text: string, wanted: string): string {
  const squeeze = (piece: string): string => piece.replace(/\s+/g, '');
  const unnumbered = wanted.replace(/^ *\d+\t/gm, '');
  if (unnumbered !== wanted && text.includes(unnumbered)) return ' It does without the line numbers.';
  if (squeeze(wanted) !== '' && squeeze(text).includes(squeeze(wanted))) {
    return ' It does with other white space: copy it exactly from the result of Read.';
  }
  return ' Read the file again: the text may be different.';
}

/** The changed places with three lines around them. */
function diffOf(before: TextFile, after: TextFile): string {
  const text = unifiedDiff(before.text, after.text);
  if (text === null) return '(The change is too large to be shown.)';
  return text.length <= longestDiff ? text : `${cutHead(text, longestDiff)}\n(The rest of the diff is left out.)`;
}
