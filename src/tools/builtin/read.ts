/** Read: a file with line numbers, or an image. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { FileRecord } from '../../core/tools/context.ts';
import { absolutePath } from '../paths.ts';
import { count, cutHead } from '../../core/text.ts';
import { largestKept } from '../file-contents.ts';
import { type Tool, tool, type ToolOutput, type ToolRunContext } from '../tool.ts';
import { FileProblem, type OpenFile, openFile, pathOpinion, readWhole, recordOf } from './file-access.ts';
import { imageBlock, imageType, largestImage } from './image.ts';
import { LineWindow, type WindowLine } from './line-window.ts';

/** The numbers that coding agents publish for their Read: 2,000 lines, 2,000 characters a line. */
const readLimits = {
  lines: 2_000,
  lineCharacters: 2_000,
  /** Characters of one result; about 40,000 tokens. The tool limits itself, so no result of it goes to the store. */
  characters: 120_000,
  /** A NUL within so many bytes makes a file binary: the rule of git. */
  sniffBytes: 8_000,
} as const;

const chunkBytes = 256 * 1024;

const input = z.strictObject({
  file_path: z.string().min(1).describe('The file to read; absolute, or relative to the working folder'),
  offset: z.number().int().min(1).optional().describe('The line to start with, counted from 1'),
  limit: z.number().int().min(1).optional().describe(`How many lines to read; ${readLimits.lines} by default`),
});

type ReadInput = z.output<typeof input>;

/** Read{file_path, offset, limit}: read-only and safe beside others; its results are never cut by the result budget. */
export const readTool: Tool = tool({
  name: 'Read',
  isBuiltIn: true,
  description: [
    'Reads a file. Lines come with their numbers, as "   12<tab>text"; the number and the tab are no part of the file.',
    `Without limit at most ${readLimits.lines} lines come, and long lines are cut; use offset and limit for the rest of a large file.`,
    'PNG, JPEG, GIF and WebP images are shown as images. Other binary files are refused. Folders: use Glob.',
  ].join('\n'),
  input,
  isConcurrencySafe: () => true,
  isReadOnly: () => true,
  maxResultSizeChars: Number.POSITIVE_INFINITY,
  backfill: (given, { cwd }) => ({ ...given, file_path: absolutePath(given.file_path, cwd) }),
  permissionTarget: ({ file_path }) => ({ type: 'paths', paths: [file_path] }),
  checkPermission: ({ file_path }, context) => pathOpinion(file_path, context, 'read'),
  summary: ({ file_path }) => file_path,
  run: read,
});

async function read(given: ReadInput, context: ToolRunContext): Promise<ToolOutput> {
  const file = await openFile(given.file_path, context, 'read');
  try {
    const head = Buffer.alloc(readLimits.sniffBytes);
    const { bytesRead } = await file.handle.read(head, 0, head.length, 0);
    const type = imageType(head);
    if (type !== null) return await readImage(file, given.file_path, type);
    if (head.subarray(0, bytesRead).includes(0)) throw binaryProblem(given.file_path);
    return await readText(file, given, context);
  } finally {
    await file.handle.close();
  }
}

function binaryProblem(path: string): FileProblem {
  return new FileProblem(
    `${path} is a binary file and cannot be shown as text. Use Bash with a program that understands it.`,
  );
}

async function readImage(
  file: OpenFile,
  path: string,
  type: NonNullable<ReturnType<typeof imageType>>,
): Promise<ToolOutput> {
  if (file.stats.size > largestImage) {
    throw new FileProblem(
      `${path} is an image of ${file.stats.size} bytes; at most ${largestImage} can be shown. Scale it down first.`,
    );
  }
  const content = await readWhole(file, path, largestImage);
  return {
    content: [imageBlock(content, type, path)],
    contextChanges: [fileRead(file, recordOf(content, file.stats, false))],
  };
}

function fileRead(file: OpenFile, record: FileRecord): { type: 'fileRead'; path: string; record: FileRecord } {
  return { type: 'fileRead', path: file.realPath, record };
}

async function readText(file: OpenFile, given: ReadInput, context: ToolRunContext): Promise<ToolOutput> {
  const first = given.offset ?? 1;
  const window = new LineWindow(first, given.limit ?? readLimits.lines, readLimits.lineCharacters * 4);
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  const stream = file.handle.createReadStream({ start: 0, autoClose: false, highWaterMark: chunkBytes });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    context.signal.throwIfAborted();
    hash.update(chunk);
    window.push(chunk);
    if (file.stats.size <= largestKept) chunks.push(chunk);
  }
  if (file.stats.size <= largestKept) context.remember(Buffer.concat(chunks));
  const total = window.end();
  const page = pageOf(window.lines, first, total);
  const record = { mtimeMs: file.stats.mtimeMs, hash: hash.digest('hex'), partial: page.partial };
  return { content: page.text, contextChanges: [fileRead(file, record)] };
}

interface Page {
  readonly text: string;
  /** Something of the file is not shown. */
  readonly partial: boolean;
}

function pageOf(lines: readonly WindowLine[], first: number, total: number): Page {
  if (total === 0) return { text: '(The file is empty.)', partial: false };
  if (lines.length === 0) return { text: `(The file has only ${count(total, 'line')}.)`, partial: true };
  const shown: string[] = [];
  let size = 0;
  let cut = false;
  for (const [index, line] of lines.entries()) {
    const text = numbered(line, first + index);
    if (shown.length > 0 && size + text.length > readLimits.characters) break;
    shown.push(text);
    size += text.length + 1;
    cut ||= line.omitted > 0 || line.text.length > readLimits.lineCharacters;
  }
  const last = first + shown.length - 1;
  const whole = first === 1 && last === total;
  const next = last < total ? ` Read on with offset ${last + 1}.` : '';
  const notice = whole ? [] : [`(Lines ${first} to ${last} of ${total}.${next})`];
  return { text: [...shown, ...notice].join('\n'), partial: !whole || cut };
}

function numbered(line: WindowLine, number: number): string {
  // The byte order mark is no part of the text.
  const text = number === 1 ? line.text.replace(/^\uFEFF/, '') : line.text;
  const kept = cutHead(text, readLimits.lineCharacters);
  const omitted = text.length - kept.length + line.omitted;
  return `${String(number).padStart(6)}\t${kept}${omitted > 0 ? `… (${omitted} more)` : ''}`;
}
