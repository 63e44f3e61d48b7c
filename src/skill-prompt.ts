/** A skill that the user calls for by hand: `/name arguments`, as typed at the prompt of a terminal or a chat. */
import { homedir } from 'node:os';
import { projectFolders } from './context-sources.ts';
import { findSkills } from './skills/find-skills.ts';
import { instructionsOf } from './skills/skill-tool.ts';
import { skillPlaces } from './skills/skills.ts';

/** Where skills are looked for. */
export interface SkillPromptOptions {
  /** Working folder, absolute. Default: that of the process. */
  readonly cwd?: string;
  /** Home folder of the user-level skills; null: none. Default: the home folder. */
  readonly home?: string | null;
}

const form = /^\/(?<name>[A-Za-z0-9][\w.-]{0,63})(?:\s+(?<args>.*))?$/s;

/**
 * The prompt that stands for a line such as `/commit the last change`: the instructions of the skill, with what it should
 * work on. Null for a line that begins with no name of a skill: it is said as it stands. Skills with
 * `disable-model-invocation` are found too, since it is the user who asks.
 *
 * @throws Error with one sentence when the skill is there and cannot be read.
 */
export async function skillPrompt(line: string, options: SkillPromptOptions = {}): Promise<string | null> {
  const { cwd = process.cwd(), home = homedir() } = options;
  const { name, args = '' } = form.exec(line.trim())?.groups ?? {};
  if (name === undefined) return null;
  const { skills } = await findSkills(skillPlaces(home, await projectFolders(cwd)));
  const skill = skills.find((each) => each.name === name);
  if (skill === undefined) return null;
  const { problem, text } = await instructionsOf(skill, args.trim());
  if (problem !== null) throw new Error(problem);
  return text;
}
