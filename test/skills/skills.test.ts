import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tool } from '../../src/tools/tool.ts';
import { z } from 'zod';
import { builtInTools } from '../../src/tools/builtin/index.ts';
import { skillPrompt } from '../../src/skill-prompt.ts';
import { done, runIn, use } from '../support/disk-query.ts';
import { folderWith, put } from '../support/folders.ts';

const skills = { home: null };

function skill(name: string, description: string, body = `Do ${name}.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
}

/** The tool Skill as the request with this index told the model of it. */
function described({ requests }: Awaited<ReturnType<typeof runIn>>, index = 0): string | null {
  return requests[index]?.body.tools?.find(({ name }) => name === 'Skill')?.description ?? null;
}

describe('skills', () => {
  it('are read by no query that did not ask for them', async () => {
    const cwd = folderWith({ '.claude/skills/pdf/SKILL.md': skill('pdf', 'Reads PDF files.') });
    expect(described(await runIn(cwd, [done]))).toBeNull();
    expect(described(await runIn(folderWith({}), [done], { skills }))).toBeNull();
  });

  it('are listed by name, sorted, from the user and from the folders up to the repository', async () => {
    const home = folderWith({ '.claude/skills/mine/SKILL.md': skill('mine', 'Of the user.') });
    const top = folderWith({
      '.git/': '',
      '.claude/skills/zip/SKILL.md': skill('zip', 'Packs files.'),
      '.escapement/skills/mine/SKILL.md': skill('mine', 'Of the project: hidden.'),
      'a/.claude/skills/pdf/SKILL.md': skill('pdf', 'Reads PDF files: text, tables.'),
    });
    const run = await runIn(join(top, 'a'), [done], { skills: { home } });
    expect(described(run)).toContain(
      '- mine: Of the user.\n- pdf: Reads PDF files: text, tables.\n- zip: Packs files.',
    );
    expect(run.notices).toEqual([]);
    const names = run.requests[0]?.body.tools?.map(({ name }) => name);
    expect(names).toEqual(['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Skill', 'Write']);
  });

  it('give their body, their folder and what they are asked', async () => {
    const cwd = folderWith({
      '.claude/skills/pdf/SKILL.md': skill('pdf', 'Reads.', 'Run `extract.py`.'),
      '.claude/skills/say/SKILL.md': skill('say', 'Says.', 'Say $ARGUMENTS loudly.'),
    });
    const script = [
      use('Skill', 't1', { skill: 'pdf', args: 'a.pdf' }),
      use('Skill', 't2', { skill: 'say', args: '$& hello' }),
      use('Skill', 't3', { skill: 'none' }),
      done,
    ];
    const { results } = await runIn(cwd, script, { skills, permissionMode: 'default' });
    expect(results[0]).toContain(`Base folder of its files: ${cwd}/.claude/skills/pdf`);
    expect(results[0]).toContain('Run `extract.py`.\\n\\nArguments: a.pdf');
    expect(results[0]).not.toContain('description:');
    expect(results[1]).toContain('Say $& hello loudly.');
    expect(results[2]).toContain('There is no skill none. There are: pdf, say.');
  });

  it('of the user may be read with their files, though they are outside of the workspace', async () => {
    const home = folderWith({
      '.claude/skills/mine/SKILL.md': skill('mine', 'Of the user.'),
      '.claude/skills/mine/more.txt': 'more words',
      '.claude/other.txt': 'not yours',
    });
    const paths = [`${home}/.claude/skills/mine/more.txt`, `${home}/.claude/other.txt`];
    const script = [...paths.map((path, index) => use('Read', `t${index}`, { file_path: path })), done];
    const { results } = await runIn(folderWith({}), script, { skills: { home } });
    expect(results[0]).toContain('more words');
    expect(results[1]).not.toContain('not yours');
  });

  it('that are broken are told of once, and the others work', async () => {
    const outside = folderWith({ 'SKILL.md': skill('out', 'SECRET') });
    const cwd = folderWith({
      '.claude/skills/a/SKILL.md': skill('good', 'Works.'),
      '.claude/skills/b/SKILL.md': '---\nname: no name\n---\nBody.',
      '.claude/skills/c/SKILL.md': '---\nname: empty\ndescription: x\n---\n',
      '.claude/skills/d/notes.md': 'No skill at all.',
      '.claude/skills/f/SKILL.md': '# Title of it\n\nNo front matter.',
      '.claude/skills/g/SKILL.md': '---\nname: colon\ndescription: when: to use "it"\n---\nBody.',
      '.claude/skills/h/SKILL.md': '---\nname: silent\ndescription: x\ndisable-model-invocation: true\n---\nBody.',
    });
    symlinkSync(outside, join(cwd, '.claude/skills/e'));
    const run = await runIn(cwd, [use('Glob', 't1', { pattern: '*' }), done], { skills });
    expect(run.notices).toEqual([
      `The skill ${cwd}/.claude/skills/b/SKILL.md cannot be used: its name "no name" is none; use a-z, 0-9 and -.`,
      `The skill ${cwd}/.claude/skills/c/SKILL.md cannot be used: it says nothing below its front matter.`,
      `The skill ${cwd}/.claude/skills/e/SKILL.md cannot be used: it leads out of the project.`,
    ]);
    expect(described(run)?.split('Skills:\n')[1]).toBe('- colon: when: to use "it"\n- f: Title of it\n- good: Works.');
  });

  it('are called for by a line that begins with their name, also those that the model is not told of', async () => {
    const hidden = '---\nname: silent\ndescription: x\ndisable-model-invocation: true\n---\nAsk for $ARGUMENTS.';
    const cwd = folderWith({
      '.claude/skills/silent/SKILL.md': hidden,
      '.claude/skills/pdf/SKILL.md': skill('pdf', 'Reads.'),
    });
    const said = (line: string): Promise<string | null> => skillPrompt(line, { cwd, home: null });
    expect(await said('/silent  the  moon ')).toContain('Ask for the  moon.');
    expect(await said('/pdf')).toContain('Do pdf.');
    expect(await said('/pdf a\nb')).toContain('Arguments: a\nb');
    for (const line of ['/none of this', '/pdf/x is broken', 'use /pdf', '/', '']) expect(await said(line)).toBeNull();
    expect(described(await runIn(cwd, [done], { skills }))).not.toContain('silent');
  });

  it('obey rules that name them', async () => {
    const cwd = folderWith({
      '.claude/skills/deploy-a/SKILL.md': skill('deploy-a', 'Ships.'),
      '.claude/skills/pdf/SKILL.md': skill('pdf', 'Reads.'),
    });
    const script = [use('Skill', 't1', { skill: 'deploy-a' }), use('Skill', 't2', { skill: 'pdf' }), done];
    const { results } = await runIn(cwd, script, { skills, rules: [{ behavior: 'deny', rule: 'Skill(deploy-*)' }] });
    expect(results[0]).toContain('forbids it');
    expect(results[1]).toContain('Do pdf.');
  });

  it('leave no room for another tool of the name Skill', async () => {
    const own = tool({ name: 'Skill', description: 'x', input: z.object({}), run: () => '' });
    await expect(runIn(folderWith({}), [done], { skills, tools: [own] })).rejects.toThrow(/rename it/);
  });

  it('keep the list bounded, whatever there is', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [
        `.claude/skills/s${index}/SKILL.md`,
        skill(`s${index}`, 'word '.repeat(300)),
      ]),
    );
    const text = described(await runIn(folderWith(files), [done], { skills })) ?? '';
    expect(text.length).toBeLessThan(17_000);
    expect(text).toContain('- s299');
  });

  it('appear and vanish between turns', async () => {
    const cwd = folderWith({ '.claude/skills/old/SKILL.md': skill('old', 'Was there.') });
    const change = tool({
      name: 'Change',
      description: 'Changes the skills.',
      input: z.object({}),
      run: () => {
        put(cwd, '.claude/skills/new/SKILL.md', skill('new', 'Came.'));
        rmSync(join(cwd, '.claude/skills/old'), { recursive: true });
        return 'changed';
      },
    });
    const run = await runIn(cwd, [use('Change', 't1', {}), use('Skill', 't2', { skill: 'new' }), done], {
      skills,
      tools: [...builtInTools(), change],
      permissionMode: 'bypassPermissions',
    });
    expect(described(run, 0)).toContain('- old');
    expect(described(run, 1)).toContain('- new: Came.');
    expect(described(run, 1)).not.toContain('- old');
    expect(run.results.at(-1)).toContain('Do new.');
  });
});
