/** The skills of a query: found at its start, looked for again between turns. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AttachmentSource } from '../effects/collect-attachments.ts';
import type { Tool } from '../tools/tool.ts';
import { findSkills, type Skill, type SkillPlace } from './find-skills.ts';
import { createSkillTool } from './skill-tool.ts';

/** Where a query looks for skills. */
export interface SkillOptions {
  /** Home folder of the user-level skills in `.claude/skills` and `.escapement/skills`; null: none. Default: the home folder. */
  readonly home?: string | null;
}

export class Skills {
  readonly #home: string | null;
  /** Real folders from the working folder up to that of the repository. */
  readonly #folders: () => Promise<readonly string[]>;
  readonly #told = new Set<string>();
  #tools: readonly Tool[] = [];
  #shown = '';
  #readRoots: readonly string[] = [];

  constructor({ home = homedir() }: SkillOptions, folders: () => Promise<readonly string[]>) {
    this.#home = home;
    this.#folders = folders;
  }

  /** The Skill tool, or nothing without skills; the same array until the skills change. */
  readonly tools = (): readonly Tool[] => this.#tools;

  /** Folders of user-level skills: their files may be read like those of the workspace. */
  readonly readRoots = (): readonly string[] => this.#readRoots;

  /** Looks for skills; gives what is wrong with files, once a file and fault. Never rejects. */
  async refresh(): Promise<readonly string[]> {
    const { skills, notices } = await findSkills(skillPlaces(this.#home, await this.#folders()));
    const offered = skills.filter(({ forModel }) => forModel);
    const shown = JSON.stringify(offered);
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#tools = offered.length === 0 ? [] : [createSkillTool(offered)];
    }
    // Those that only the user calls for are here too.
    this.#readRoots = skills.filter(isOfUser).map(({ folder }) => folder);
    const fresh = notices.filter((notice) => !this.#told.has(notice));
    for (const notice of fresh) this.#told.add(notice);
    return fresh;
  }

  /** Attaches nothing: the tool list that is refreshed behind the attachments then knows the skills of now. */
  readonly skills: AttachmentSource = async () => ({ messages: [], notices: await this.refresh() });
}

/** The user's own skills go first, then those of the nearest folder. `folders`: from the working one up to the repository's. */
export function skillPlaces(home: string | null, folders: readonly string[]): readonly SkillPlace[] {
  const ofUser = home === null ? [] : placesIn(home, 'user', null);
  return [...ofUser, ...folders.flatMap((folder) => placesIn(folder, 'project', folders.slice(-1)))];
}

function isOfUser({ level }: Skill): boolean {
  return level === 'user';
}

function placesIn(folder: string, level: Skill['level'], within: SkillPlace['within']): readonly SkillPlace[] {
  return ['.escapement', '.claude'].map((name) => ({ folder: join(folder, name, 'skills'), level, within }));
}
