import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkAgents, narrowerMode } from '../../src/agents/definition.ts';
import { loadAgents } from '../../src/agents/load-agents.ts';
import { parseAgent } from '../../src/agents/parse-agent.ts';
import { modelNamed } from '../../src/model/aliases.ts';

const top = mkdtempSync(join(tmpdir(), 'escapement-agents-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

function folder(name: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name, path)), { recursive: true });
    writeFileSync(join(top, name, path), text);
  }
  return join(top, name);
}

const file = (name: string, body: string): string => `---\nname: ${name}\ndescription: Is ${name}.\n---\n${body}\n`;

describe('a definition file', () => {
  it('holds front matter as other coding agents write it, and the prompt', () => {
    const text = [
      '---',
      'name: code-reviewer',
      'description: Reviews code. Use it after a change.',
      'tools: Read, Grep, Glob, Bash',
      'model: sonnet',
      'color: purple',
      '---',
      '',
      'You are a reviewer.',
      '',
      '---',
      'Be strict.',
    ].join('\r\n');
    expect(parseAgent(text)).toEqual({
      name: 'code-reviewer',
      agent: {
        description: 'Reviews code. Use it after a change.',
        prompt: 'You are a reviewer.\r\n\r\n---\r\nBe strict.',
        tools: ['Read', 'Grep', 'Glob', 'Bash'],
        model: 'sonnet',
      },
    });
  });

  it.each([
    ['[Read, "Grep"]', ['Read', 'Grep']],
    ['\n  - Read\n  - Grep', ['Read', 'Grep']],
    ['Agent(worker, reader), Read', ['Agent', 'Read']],
    ['"*"', undefined],
    ['', undefined],
  ])('takes tools: %s', (tools, names) => {
    const parsed = parseAgent(`---\nname: a\ndescription: b\ntools: ${tools}\n---\nc`);
    expect('agent' in parsed && parsed.agent.tools).toEqual(names);
  });

  it('is read line by line where its description is no YAML', () => {
    const description = 'Use this: when done. Examples: <example>user: "x" assistant: "y"</example>';
    const parsed = parseAgent(`---\nname: a\ndescription: ${description}\ntools: Read\nmaxTurns: 3\n---\nc`);
    expect(parsed).toEqual({ name: 'a', agent: { description, prompt: 'c', tools: ['Read'], maxTurns: 3 } });
  });

  it.each([
    ['no front matter', /front matter/],
    ['---\nname: a\n---\nx', /description/],
    ['---\nname: a\ndescription: b\n---\n', /prompt/],
    ['---\nname: "a b"\ndescription: b\n---\nx', /name/],
    ['---\nname: a\ndescription: b\npermissionMode: all\n---\nx', /permissionMode/],
    ['---\nname: a\ndescription: b\nmaxTurns: many\n---\nx', /maxTurns/],
    ['---\n- a\n---\nx', /front matter|name/],
  ])('is refused with its reason: %j', (text, reason) => {
    const parsed = parseAgent(text);
    expect('problem' in parsed && parsed.problem).toMatch(reason);
  });
});

describe('the folders', () => {
  const home = folder('home', {
    '.claude/agents/a.md': file('a', 'user claude'),
    '.escapement/agents/b.md': file('b', 'user own'),
    '.claude/agents/c.md': file('c', 'user c'),
  });
  const cwd = folder('project', {
    '.claude/agents/a.md': file('a', 'project claude'),
    '.claude/agents/team/b.md': file('b', 'project claude'),
    '.escapement/agents/b.md': file('b', 'project own'),
    '.claude/agents/broken.md': 'nothing',
    '.claude/agents/notes.txt': 'nothing',
  });

  it('of the project go before those of the user, and a broken file is one notice', () => {
    const { agents, files, notices } = loadAgents({ cwd, home });
    const prompts = Object.entries(agents).map(([name, { prompt }]) => [name, prompt]);
    expect(Object.fromEntries(prompts)).toEqual({ a: 'project claude', b: 'project own', c: 'user c' });
    expect(files['b']).toBe(join(cwd, '.escapement/agents/b.md'));
    expect(notices).toEqual([expect.stringMatching(/broken\.md cannot be used: .*front matter.*\.$/)]);
  });

  it('are those of the named sources, and may be missing', () => {
    expect(loadAgents({ cwd, home, sources: ['user'] }).agents['a']?.prompt).toBe('user claude');
    expect(loadAgents({ cwd, home, sources: [] }).agents).toEqual({});
    expect(loadAgents({ cwd: join(top, 'no'), home: join(top, 'no') })).toEqual({ agents: {}, files: {}, notices: [] });
  });
});

describe('a definition in code', () => {
  it('is checked', () => {
    expect(() => checkAgents({ a: { description: 'x', prompt: ' ' } })).toThrow(/"a" cannot be used: prompt/);
    expect(() => checkAgents({ a: { description: 'x', prompt: 'y', tool: [] } as never })).toThrow(/tool/);
    expect(() => checkAgents({ 'a b': { description: 'x', prompt: 'y' } })).toThrow(/name/);
  });

  it('narrows the mode and never widens it', () => {
    expect(narrowerMode('default', 'bypassPermissions')).toBe('default');
    expect(narrowerMode('bypassPermissions', 'dontAsk')).toBe('dontAsk');
    expect(narrowerMode('plan', 'dontAsk')).toBe('plan');
    expect(narrowerMode('acceptEdits', undefined)).toBe('acceptEdits');
    expect(narrowerMode('acceptEdits', 'bubble')).toBe('acceptEdits');
  });

  it('names a model in full, by a short name, or that of its starter', () => {
    expect(modelNamed('opus', {})).toBe('claude-opus-5-5');
    expect(modelNamed('opus', { profile: 'plain' })).toBeNull();
    expect(modelNamed('inherit', {})).toBeNull();
    expect(modelNamed(undefined, {})).toBeNull();
    expect(modelNamed('mine', { baseUrl: 'http://x' })).toBe('mine');
  });
});
