/** Finds skills: folders with a SKILL.md, of the user and of the project. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cutHead } from '../core/text.ts';
import { oneLine } from '../tools/text.ts';
import { readSkillText } from './skill-text.ts';
import { frontMatterOf } from '../markdown/front-matter.ts';

/** A skill as its file describes it; the body is read when it is used. */
export interface Skill {
  readonly name: string;
  /** One line, cut at 1,024 characters. */
  readonly description: string;
  /** Real path of the SKILL.md. */
  readonly file: string;
  /** Real path of its folder. */
  readonly folder: string;
  readonly level: 'user' | 'project';
  /** False: only the user may call for it. */
  readonly forModel: boolean;
}

/** A folder that holds skill folders. */
export interface SkillPlace {
  readonly folder: string;
  readonly level: Skill['level'];
  /** Real folders that skills must stand in, wherever links lead; null for no limit. */
  readonly within: readonly string[] | null;
}

export interface FoundSkills {
  /** Sorted by name; of skills that share a name the one of the first place. */
  readonly skills: readonly Skill[];
  /** One sentence for each broken file. */
  readonly notices: readonly string[];
}

/** The names that the format of skills allows, and capitals and underscores, which people use. */
const namePattern = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** The longest description that the format of skills allows, in characters. */
const longestDescription = 1_024;
/** Skill folders that are looked at in one place; more is no set of skills. */
const mostSkills = 500;

/** Looks through places, the most important first. Never rejects. */
export async function findSkills(places: readonly SkillPlace[]): Promise<FoundSkills> {
  const byName = new Map<string, Skill>();
  const notices: string[] = [];
  for (const place of places) {
    for (const file of await skillFiles(place)) {
      const read = await readSkill(file, place);
      if (typeof read === 'string') notices.push(read);
      else if (read !== null && !byName.has(read.name)) byName.set(read.name, read);
    }
  }
  const skills = [...byName.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
  return { skills, notices };
}

async function skillFiles({ folder }: SkillPlace): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
  const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
  return folders
    .toSorted()
    .slice(0, mostSkills)
    .map((name) => join(folder, name, 'SKILL.md'));
}

/** The skill, null where there is none, or a sentence on what is wrong with it. */
async function readSkill(file: string, { level, within }: SkillPlace): Promise<Skill | string | null> {
  const read = await readSkillText(file, within);
  if (read === null) return null;
  if (typeof read === 'string') return `The skill ${file} cannot be used: ${read}`;
  const { members: given, body } = frontMatterOf(read.text);
  const members = given ?? {};
  const name = textOf(members['name']) || basename(dirname(file));
  if (!namePattern.test(name)) {
    return `The skill ${file} cannot be used: its name ${JSON.stringify(cutHead(name, 80))} is none; use a-z, 0-9 and -.`;
  }
  if (body === '') return `The skill ${file} cannot be used: it says nothing below its front matter.`;
  const description = textOf(members['description']) || (body.split(/\r?\n\s*\r?\n/)[0] ?? '').replace(/^#+\s*/, '');
  return {
    name,
    description: oneLine(description, longestDescription),
    file: read.realPath,
    folder: dirname(read.realPath),
    level,
    forModel: !isYes(members['disable-model-invocation']),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}

function isYes(value: unknown): boolean {
  return value === true || value === 'true';
}
