import { describe, expect, it } from 'vitest';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { run } from './binary.ts';
import { done, serve, workspace } from './world.ts';

const asks = (name: string): ModelEntry => ({
  stream: [
    { tool: 'Agent', id: 't1', input: { description: 'look', prompt: 'look around', subagent_type: name } },
    { stop: 'tool_use' },
  ],
});
const report: ModelEntry = { stream: [{ text: 'I looked.' }, { stop: 'end_turn' }] };

describe('sub-agents on the command line', () => {
  it('come from the folders of the project; a broken file is one sentence', async () => {
    const { url, model } = await serve([asks('reviewer'), report, done]);
    const folder = workspace({
      '.claude/agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews.\ntools: Read\n---\nYou review.\n',
      '.claude/agents/broken.md': 'nothing',
    });
    const { exitCode, stderr, stdout } = await run(['go', '--base-url', url, '--model', 'm', '--cwd', folder]);
    expect([exitCode, model.requests.length]).toEqual([0, 3]);
    expect(stderr).toMatch(/broken\.md cannot be used/);
    expect(stdout).toContain('reviewer: look');
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('I looked.');
  });

  it('come from --agents, as JSON or in a file', async () => {
    const agents = JSON.stringify({ helper: { description: 'Helps.', prompt: 'You help.' } });
    const folder = workspace({ 'agents.json': agents });
    for (const given of [agents, `${folder}/agents.json`]) {
      const { url, model } = await serve([asks('helper'), report, done]);
      const flags = ['--base-url', url, '--model', 'm', '--cwd', folder, '--agents', given];
      expect([(await run(['go', ...flags])).exitCode, model.requests.length]).toEqual([0, 3]);
    }
  });

  it.each([
    ['{', /--agents is no JSON/],
    ['{"a":{"description":"x"}}', /--agents: The agent "a" cannot be used: prompt/],
    ['nowhere.json', /nowhere\.json cannot be read/],
  ])('are refused in one sentence: %s', async (given, sentence) => {
    const { url } = await serve([done]);
    const { exitCode, stderr } = await run(['go', '--base-url', url, '--model', 'm', '--agents', given]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(sentence);
  });
});
