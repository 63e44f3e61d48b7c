import { describe, expect, it } from 'vitest';
import { run } from './binary.ts';
import { done, serve, workspace } from './world.ts';

describe('escapement in a repository with memory and skills', () => {
  it('uses both, and ends the system prompt with what it is given', async () => {
    const { url, model } = await serve([done]);
    const home = workspace({ '.claude/CLAUDE.md': 'of the user' });
    const cwd = workspace({
      'CLAUDE.md': 'of the project',
      '.claude/skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Reads PDF files.\n---\nDo it.',
    });
    const argv = ['-p', 'go', '--base-url', url, '--model', 'm', '--cwd', cwd, '--append-system-prompt', 'LAST'];
    const { exitCode, stdout } = await run(argv, { env: { HOME: home } });
    expect(exitCode).toBe(0);
    expect(stdout).toBe('All done.');
    const { system, tools } = model.requests[0]?.body ?? {};
    expect(JSON.stringify(system)).toMatch(/of the user.*of the project.*LAST/);
    expect(tools?.find(({ name }) => name === 'Skill')?.description).toContain('- pdf: Reads PDF files.');
  });

  it('takes a line that names a skill for its instructions, and any other as it stands', async () => {
    const { url, model } = await serve([done, done]);
    const cwd = workspace({
      '.claude/skills/ship/SKILL.md': '---\ndisable-model-invocation: true\n---\nShip $ARGUMENTS.',
    });
    for (const line of ['/ship the moon', '/none of it']) {
      expect((await run(['-p', line, '--base-url', url, '--model', 'm', '--cwd', cwd])).exitCode).toBe(0);
    }
    const said = model.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(said[0]).toContain('Ship the moon.');
    expect(said[1]).toContain('/none of it');
  });
});
