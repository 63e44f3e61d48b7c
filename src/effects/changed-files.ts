/** Tells the model, once, of each file that changed on disk after it was read or written by a tool. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { type ChangeTold, type ContextChange, type FileRecord, knownHash } from '../core/tools/context.ts';
import type { ToolUseContext } from '../core/tools/context.ts';
import type { UserBlock } from '../core/message.ts';
import { unifiedDiff } from '../tools/builtin/diff-text.ts';
import { decodeText } from '../tools/builtin/text-file.ts';
import type { FileContents } from '../tools/file-contents.ts';
import { isMissing } from '../tools/paths.ts';
import { hiddenBy } from '../tools/permission-rules.ts';
import type { PermissionRule } from '../core/tools/context.ts';
import type { AttachmentSource } from './collect-attachments.ts';

/** Largest file whose content is compared, in bytes: hashing more would hold up the next request. */
const largestFile = 10 * 1024 * 1024;
/** Characters of all diffs of one turn; what is over becomes a note. */
const diffCharacters = 20_000;
/** Characters of one diff. */
const oneDiffCharacters = 8_000;
/** Changes that are told of in one turn; the rest follows behind the next one. A branch that is changed touches many. */
const mostChanges = 20;
/** Files that are looked at side by side. */
const lookedAtOnce = 50;

export interface ChangedFilesDeps {
  readonly contents: FileContents;
  readonly rules: readonly PermissionRule[];
  readonly cwd: string;
}

interface Change {
  readonly path: string;
  readonly record: FileRecord;
  /** Null: the file is gone. */
  readonly content: Buffer | null;
  /** Null: it is gone. */
  readonly hash: string | null;
}

/** A source of attachments that compares the files of the shared context with the disk. */
export function changedFiles(deps: ChangedFilesDeps): AttachmentSource {
  return async function fileChanges({ context }, signal) {
    const changes: Change[] = [];
    const files = Object.entries(context.filesRead);
    for (let at = 0; at < files.length && changes.length < mostChanges; at += lookedAtOnce) {
      signal.throwIfAborted();
      const looked = files.slice(at, at + lookedAtOnce).map(([path, record]) => look(path, record, context));
      changes.push(...(await Promise.all(looked)).filter((change) => change !== null));
    }
    return tell(changes.slice(0, mostChanges), context, deps);
  };
}

/** The change of a file since the model knew it, or null. What cannot be looked at is taken for unchanged. */
async function look(path: string, record: FileRecord, context: ToolUseContext): Promise<Change | null> {
  const known = knownHash(context, path);
  try {
    const stats = await stat(path);
    if (stats.mtimeMs === record.mtimeMs && known === record.hash) return null;
    // A link took the place of the file: what it leads to was never allowed to be read.
    if (!stats.isFile() || stats.size > largestFile || (await realpath(path)) !== path) return null;
    const content = await readFile(path);
    const hash = createHash('sha256').update(content).digest('hex');
    return hash === known ? null : { path, record, content, hash };
  } catch (error) {
    return isMissing(error) && known !== null ? { path, record, content: null, hash: null } : null;
  }
}

function tell(
  changes: readonly Change[],
  context: ToolUseContext,
  { contents, rules, cwd }: ChangedFilesDeps,
): Awaited<ReturnType<AttachmentSource>> {
  const isHidden = hiddenBy([...rules, ...context.addedRules], ['Read'], cwd);
  let left = diffCharacters;
  const messages: UserBlock[][] = [];
  const contextChanges: ContextChange[] = [];
  for (const change of changes) {
    const { path, record, hash, content } = change;
    const known = knownHash(context, path);
    const diff = isHidden(path) ? null : diffOf(known === null ? null : contents.find(known), content, left);
    left -= diff?.length ?? 0;
    if (content !== null) contents.keep(content);
    messages.push([{ type: 'text', text: sentenceOf(path, content !== null, known === null, diff) }]);
    const whole = diff !== null && knewContent(context, path, record);
    const told: ChangeTold = { since: record.hash, hash, whole };
    contextChanges.push({ type: 'changeTold', path, told });
  }
  return { messages, contextChanges };
}

/** Whether what the change is measured against was itself known to the model. */
function knewContent({ changesTold }: ToolUseContext, path: string, { hash }: FileRecord): boolean {
  const told = changesTold?.[path];
  return told === undefined || told.since !== hash || told.whole;
}

/** The whole diff, or null when it cannot be made or would be too long. */
function diffOf(before: Buffer | null, after: Buffer | null, left: number): string | null {
  if (before === null || after === null) return null;
  const [old, now] = [decodeText(before), decodeText(after)];
  if (old === null || now === null) return null;
  const text = unifiedDiff(old.text, now.text);
  return text === null || text.length > Math.min(left, oneDiffCharacters) ? null : text;
}

function sentenceOf(path: string, isThere: boolean, wasGone: boolean, diff: string | null): string {
  const who = 'by the user or another program, not by Edit or Write. Take it into account; do not undo it unasked.';
  if (!isThere) return `${path} was deleted on disk since you read it, ${who}`;
  if (wasGone) return `${path}, which was deleted, is on disk again, put there ${who} Read it before you rely on it.`;
  const head = `${path} changed on disk since you read it: changed ${who}`;
  return diff === null ? `${head} Read it again before you rely on it.` : `${head}\n${diff}`;
}
