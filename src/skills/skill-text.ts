/** Reads a SKILL.md: a regular file of text, within its place. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { decodeText } from '../tools/builtin/text-file.ts';
import { errorCode, isMissing, isWithinAny, realPathOf } from '../tools/paths.ts';

/** Largest SKILL.md in bytes. What is longer belongs into files that it names. */
const largestSkill = 256 * 1024;

export interface SkillText {
  readonly text: string;
  readonly realPath: string;
}

/** The text, null where there is no file, or a sentence on why it cannot be read. Never rejects. */
export async function readSkillText(
  path: string,
  within: readonly string[] | null,
): Promise<SkillText | string | null> {
  try {
    const realPath = await realPathOf(path);
    if (within !== null && !isWithinAny(within, realPath)) return 'it leads out of the project.';
    const handle = await open(realPath, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return 'it is no regular file.';
      if (stats.size > largestSkill) return `it has ${stats.size} bytes; at most ${largestSkill} are read.`;
      const decoded = decodeText(await handle.readFile());
      return decoded === null ? 'it is no UTF-8 text.' : { text: decoded.text, realPath };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return isMissing(error) ? null : `it could not be read (${errorCode(error) ?? 'unknown error'}).`;
  }
}
