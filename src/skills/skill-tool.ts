/** Skill: gives the model the body of a skill, on demand. */
import { z } from 'zod';
import { cutHead } from '../core/text.ts';
import { type Tool, tool, type ToolOutput } from '../tools/tool.ts';
import type { Skill } from './find-skills.ts';
import { frontMatterOf } from '../markdown/front-matter.ts';
import { readSkillText } from './skill-text.ts';

export const skillToolName = 'Skill';

/** Longest list of skills in the description of the tool, in characters; about 4,000 tokens. */
const longestList = 16_000;

const input = z.strictObject({
  skill: z.string().min(1).describe('Name of the skill'),
  args: z.string().optional().describe('What the skill should work on'),
});

const words = [
  'Gives the instructions of a skill: how to do one kind of task well. Use it before you begin a task that a skill',
  'below is for, then follow what it says. Its files are in the folder that the result names.',
].join(' ');

/** The tool for a set of skills, which must not be empty; read-only and safe beside others. */
export function createSkillTool(skills: readonly Skill[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return tool({
    name: skillToolName,
    isBuiltIn: true,
    description: `${words}\n\nSkills:\n${listOf(skills)}`,
    input,
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    permissionTarget: ({ skill }) => ({ type: 'name', name: skill }),
    summary: ({ skill }) => skill,
    run: ({ skill, args }) => useSkill(byName, skill, args ?? ''),
  });
}

/** Shorter descriptions rather than fewer skills: a name alone can still be asked for. */
function listOf(skills: readonly Skill[]): string {
  const all = linesOf(skills, Number.POSITIVE_INFINITY);
  if (all.length <= longestList) return all;
  const names = skills.reduce((sum, { name }) => sum + name.length + 5, 0);
  return cutHead(linesOf(skills, Math.floor((longestList - names) / skills.length)), longestList);
}

function linesOf(skills: readonly Skill[], longest: number): string {
  return skills
    .map(({ name, description }) => {
      const shown = description.length <= longest ? description : cutHead(description, Math.max(0, longest - 1));
      return shown === '' ? `- ${name}` : `- ${name}: ${shown}${shown.length < description.length ? '…' : ''}`;
    })
    .join('\n');
}

async function useSkill(skills: ReadonlyMap<string, Skill>, name: string, args: string): Promise<ToolOutput> {
  const skill = skills.get(name);
  if (skill === undefined) {
    return { content: `There is no skill ${name}. There are: ${[...skills.keys()].join(', ')}.`, isError: true };
  }
  const { problem, text } = await instructionsOf(skill, args);
  return { content: problem ?? text, isError: problem !== null };
}

/** What the skill tells the model to do, or one sentence on why it cannot be used. Never rejects. */
export async function instructionsOf(
  skill: Skill,
  args: string,
): Promise<{ readonly problem: string | null; readonly text: string }> {
  const { name, file, folder } = skill;
  // It was checked when it was found; the real path keeps a link that changed since from leading elsewhere.
  const read = await readSkillText(file, [folder]);
  if (read === null) return { problem: `The skill ${name} is gone: ${file} is not there any more.`, text: '' };
  if (typeof read === 'string') return { problem: `The skill ${name} cannot be used: ${read}`, text: '' };
  return { problem: null, text: skillPrompt(skill, frontMatterOf(read.text).body, args) };
}

/** What is asked of the skill stands where the body says `$ARGUMENTS`, else at its end. */
function skillPrompt({ name, folder }: Skill, body: string, args: string): string {
  const asked = body.replaceAll('$ARGUMENTS', () => args);
  const rest = asked === body && args !== '' ? `\n\nArguments: ${args}` : '';
  return `Skill ${name}. Base folder of its files: ${folder}\n\n${asked}${rest}`;
}
