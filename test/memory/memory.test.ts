import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn } from '../../src/memory/imports.ts';
import { memoryJournal } from '../../src/session/journal.ts';
import { done, runIn, use } from '../support/disk-query.ts';
import { folderWith, put } from '../support/folders.ts';

const memory = { home: null };
const read = (id: string, path: string) => use('Read', id, { file_path: path });

describe('memory at the start', () => {
  it('is read by no query that did not ask for it', async () => {
    const cwd = folderWith({ 'CLAUDE.md': 'Use tabs.' });
    expect((await runIn(cwd, [done])).system).not.toContain('Use tabs.');
  });

  it('stands in the system prompt by source: user, repository, folders down to the working one', async () => {
    const home = folderWith({ '.claude/CLAUDE.md': 'of the user', '.escapement/AGENTS.md': 'of the agent' });
    const top = folderWith({
      '.git/': '',
      'AGENTS.md': 'of the repository',
      'a/CLAUDE.md': 'between',
      'a/b/.claude/CLAUDE.md': 'hidden folder',
      'a/b/CLAUDE.local.md': 'local',
      'a/other/CLAUDE.md': 'beside',
    });
    const { system, notices } = await runIn(join(top, 'a/b'), [done], {
      memory: { home },
      system: 'BASE',
      appendSystem: 'LAST',
    });
    const order = [
      'BASE',
      'of the agent',
      'of the user',
      'of the repository',
      'between',
      'hidden folder',
      'local',
      'LAST',
    ];
    const places = order.map((text) => system.indexOf(text));
    expect(places).toEqual(places.toSorted((left, right) => left - right));
    expect(places[0]).toBeGreaterThan(-1);
    expect(system).not.toContain('beside');
    expect(system).toContain(`## ${top}/AGENTS.md (from the project)`);
    expect(system).toContain(`## ${home}/.claude/CLAUDE.md (from the user)`);
    expect(notices).toEqual([]);
  });

  it('stays inside the folder where there is no repository', async () => {
    const top = folderWith({ 'CLAUDE.md': 'above', 'a/CLAUDE.md': 'here' });
    const { system } = await runIn(join(top, 'a'), [done], { memory });
    expect(system).toContain('here');
    expect(system).not.toContain('above');
  });

  it('shows twins once, by link or by text', async () => {
    const cwd = folderWith({ 'AGENTS.md': 'the same words', '.claude/CLAUDE.md': 'the same words\n' });
    symlinkSync('AGENTS.md', join(cwd, 'CLAUDE.md'));
    const { system, notices } = await runIn(cwd, [done], { memory });
    expect(system.split('the same words')).toHaveLength(2);
    expect(notices).toEqual([]);
  });

  it('follows imports: relative, of the home folder, in a ring, five deep; not those in code', async () => {
    const home = folderWith({ 'mine.md': 'from home', '.claude/CLAUDE.md': 'See @~/mine.md.' });
    const deep = Object.fromEntries(
      [1, 2, 3, 4, 5, 6].map((depth) => [`docs/${depth}.md`, `depth ${depth} @./${depth + 1}.md`]),
    );
    const cwd = folderWith({
      'CLAUDE.md': 'See @docs/1.md, `@docs/code.md` and @types/node.\n\n```\n@docs/block.md\n```\n@docs/ring.md',
      'docs/ring.md': 'ring @../CLAUDE.md',
      'docs/code.md': 'in a span',
      'docs/block.md': 'in a block',
      ...deep,
    });
    const { system, notices } = await runIn(cwd, [done], { memory: { home } });
    for (const text of ['from home', 'depth 1', 'depth 5', 'ring']) expect(system).toContain(text);
    for (const text of ['depth 6', 'in a span', 'in a block']) expect(system).not.toContain(text);
    expect(system).toContain(`docs/1.md (imported by ${cwd}/CLAUDE.md)`);
    expect(notices).toEqual([`${cwd}/docs/5.md imports ./6.md, deeper than 5 imports.`]);
  });

  it('reads nothing outside of the project for a file of the project, by import or by link', async () => {
    const outside = folderWith({ 'secret.md': 'SECRET' });
    const cwd = folderWith({ 'CLAUDE.md': `See @${outside}/secret.md`, 'AGENTS.md': 'fine' });
    symlinkSync(join(outside, 'secret.md'), join(cwd, 'CLAUDE.local.md'));
    const { system, notices } = await runIn(cwd, [done], { memory });
    expect(system).toContain('fine');
    expect(system).not.toContain('SECRET');
    expect(notices).toEqual([
      `${outside}/secret.md leads out of the project and was not read as memory.`,
      `${cwd}/CLAUDE.local.md leads out of the project and was not read as memory.`,
    ]);
  });

  it('cuts what is too long, leaves out what is no text, and says so', async () => {
    const cwd = folderWith({
      'AGENTS.md': 'x'.repeat(50_000),
      'CLAUDE.md': 'ok @docs/b.md @docs/gone.md',
      'docs/b.md': '',
    });
    put(cwd, 'CLAUDE.local.md', '\u0000');
    writeFileSync(join(cwd, 'docs/b.md'), Buffer.from([0xff, 0xfe, 0xff]));
    const { system, notices } = await runIn(cwd, [done], { memory });
    expect(system.length).toBeLessThan(41_000);
    expect(notices).toEqual([
      `${cwd}/AGENTS.md has 50000 characters; the model sees the first 40000: make it shorter.`,
      `${cwd}/docs/b.md is no UTF-8 text and was not read as memory.`,
      `${cwd}/CLAUDE.md imports ${cwd}/docs/gone.md, which is not there.`,
    ]);
  });

  it('obeys a rule that keeps a file from Read', async () => {
    const cwd = folderWith({ 'CLAUDE.md': 'kept back', 'AGENTS.md': 'shown' });
    const { system } = await runIn(cwd, [done], { memory, rules: [{ behavior: 'deny', rule: 'Read(CLAUDE.md)' }] });
    expect(system).toContain('shown');
    expect(system).not.toContain('kept back');
  });

  it('refuses an option that is none', async () => {
    const wrong = { home: 7 } as never;
    await expect(runIn(folderWith({}), [done], { memory: wrong })).rejects.toThrow('The option memory must be');
  });
});

describe('memory of folders that are touched', () => {
  const files = {
    'CLAUDE.md': 'of the root',
    'src/CLAUDE.md': 'of src @notes.md',
    'src/notes.md': 'notes of src',
    'src/deep/AGENTS.md': 'of deep',
    'src/deep/a.txt': 'a',
    'src/deep/b.txt': 'b',
    'other/CLAUDE.md': 'of other',
  };

  it('is attached once, behind the results of the turn that touched it', async () => {
    const cwd = folderWith(files);
    const { attached, requests } = await runIn(
      cwd,
      [read('t1', 'src/deep/a.txt'), read('t2', 'src/deep/b.txt'), done],
      {
        memory,
      },
    );
    expect(attached).toHaveLength(1);
    for (const text of ['of src', 'notes of src', 'of deep']) expect(attached[0]).toContain(text);
    for (const text of ['of the root', 'of other']) expect(attached[0]).not.toContain(text);
    expect(JSON.stringify(requests[1]?.messages)).toContain('of deep');
  });

  it('is attached for a folder that is searched, and not when the model has read the file itself', async () => {
    const cwd = folderWith(files);
    const searched = await runIn(cwd, [use('Grep', 't1', { pattern: 'x', path: 'other' }), done], { memory });
    expect(searched.attached[0]).toContain('of other');
    const itself = await runIn(cwd, [read('t1', 'other/CLAUDE.md'), done], { memory });
    expect(itself.attached).toEqual([]);
  });

  it('is attached as it is when the turn ends, though it was read ahead', async () => {
    const cwd = folderWith({ 'src/CLAUDE.md': 'old words', 'src/a.txt': 'a' });
    const change = use('Bash', 't2', { command: 'sleep 0.02; echo new words > src/CLAUDE.md' });
    const both = {
      stream: [
        { tool: 'Read', id: 't1', input: { file_path: 'src/a.txt' } },
        ...('stream' in change ? change.stream : []),
      ],
    };
    const { attached } = await runIn(cwd, [both, done], { memory, permissionMode: 'bypassPermissions' });
    expect(attached[0]).toContain('new words');
  });

  it('leaves out what a rule keeps back and what leads outside', async () => {
    const outside = folderWith({ 'CLAUDE.md': 'SECRET' });
    const cwd = folderWith({ 'src/AGENTS.md': 'kept back', 'src/a.txt': 'a' });
    symlinkSync(join(outside, 'CLAUDE.md'), join(cwd, 'src/CLAUDE.md'));
    const rules = [{ behavior: 'deny', rule: 'Read(src/AGENTS.md)' }] as const;
    const { attached } = await runIn(cwd, [read('t1', 'src/a.txt'), done], { memory, rules });
    expect(attached).toEqual([]);
  });

  it('is attached after a resumption when the process died before it was', async () => {
    const cwd = folderWith(files);
    const journal = memoryJournal();
    await runIn(cwd, [read('t1', 'src/deep/a.txt'), done], { memory, journal });
    const recorded = journal.recorded();
    if (recorded === null) throw new Error('no journal');
    const end = recorded.events.findIndex(({ type }) => type === 'attachments.collected');
    const cut = { ...recorded, events: recorded.events.slice(0, end) };
    const again = await runIn(cwd, [done], { memory, resume: cut });
    expect(again.attached[0]).toContain('of deep');
    expect(again.terminal.outcome).toBe('done');
  });
});

describe('importsIn', () => {
  it('finds paths in prose, lists, tables and emphasis, not in code, addresses and names', () => {
    const text = [
      '- item @a.md',
      '| x |\n| - |\n| @b.md |',
      '**@c.md**, (@d.md) mail@example.com `@no.md`',
      '    @indented.md',
    ].join('\n\n');
    expect(importsIn(text)).toEqual(['a.md', 'b.md', 'c.md', 'd.md']);
  });
});
