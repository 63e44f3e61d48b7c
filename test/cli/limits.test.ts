/** Budgets, cost and structured output on the command line: the binary against a scripted server. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunFlags } from '../../src/cli/arguments.ts';
import { capOptions, limitOptions, promptOptions } from '../../src/cli/limit-options.ts';
import type { ModelEntry } from '../../src/testing/scenario.ts';
import { run } from './binary.ts';
import { fakeIo } from './fake-io.ts';
import { done, serve, workspace } from './world.ts';

const schema = '{"type":"object","properties":{"bugs":{"type":"array"}},"required":["bugs"]}';
const says = (text: string): ModelEntry => ({ text, usage: { input: 1_000, output: 3_000 }, repeat: true });

async function ask(script: readonly ModelEntry[], argv: readonly string[], cwd = workspace()) {
  const { url, model } = await serve(script);
  const { exitCode, stdout, stderr } = await run(['--base-url', url, '--model', 'm', '--cwd', cwd, ...argv], { cwd });
  return { exitCode, stdout: String(stdout), stderr: String(stderr), model };
}

interface Printed {
  readonly reason: string;
  readonly outcome: string;
  readonly budget: unknown;
  readonly output: unknown;
  readonly cost: unknown;
}

describe('--json-schema', () => {
  it('prints the value alone with --print; the server is asked for it in words', async () => {
    const { exitCode, stdout, model } = await ask(
      [says('```json\n{ "bugs": ["a"] }\n```')],
      ['-p', '--json-schema', schema, 'find bugs'],
    );
    expect([exitCode, stdout]).toEqual([0, '{"bugs":["a"]}']);
    expect(JSON.stringify(model.requests[0]?.body.system)).toContain('answer with JSON that fits this JSON schema');
    expect(model.violations).toEqual([]);
  });

  it('takes a file, asks again, and puts the value into the JSON', async () => {
    const cwd = workspace({ 'schema.json': schema });
    const argv = ['--output-format', 'json', '--json-schema', 'schema.json', 'find bugs'];
    const { exitCode, stdout, model } = await ask([{ text: 'none' }, says('{"bugs":[]}')], argv, cwd);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'done', output: { bugs: [] }, cost: null });
    expect(model.requests).toHaveLength(2);
  });

  it('prints nothing when no answer fits, and says why beside it', async () => {
    const { exitCode, stdout, stderr } = await ask([says('none')], ['-p', '--json-schema', schema, 'find bugs']);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^completed \(invalid_output\): 4 answers did not fit/);
  });
});

describe('a token budget', () => {
  it('is taken off the prompt, and its share is shown', async () => {
    const { exitCode, stdout, model } = await ask([says('done')], ['fix it +10k']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('completed (budget_spent)');
    expect(stdout).toContain('90 % of 10,000 budget tokens used');
    expect(JSON.stringify(model.requests[0]?.messages)).not.toContain('10k');
    expect(model.requests).toHaveLength(3);
  });

  it('of --budget is in the JSON', async () => {
    const { stdout } = await ask([says('done')], ['--output-format', 'json', '--budget', '3k', 'fix it']);
    const printed = JSON.parse(stdout) as Printed;
    expect(printed).toMatchObject({ outcome: 'budget_spent', budget: { total: 3_000, used: 3_000 } });
  });
});

describe('options of the flags', () => {
  const flags: RunFlags = {
    print: false,
    interactive: false,
    outputFormat: 'text',
    fallbackModel: [],
    allow: [],
    mcpConfig: [],
    trust: false,
    allowedTools: [],
    disallowedTools: [],
    verbose: false,
    demo: true,
  };

  it('have a budget for the first prompt alone, and a cap for all together', () => {
    const given = { ...flags, budget: 500_000, maxCost: 2 };
    const first = promptOptions('go', given, { isFirst: true, spent: 0 });
    expect(first).toEqual({ prompt: 'go', tokenBudget: 500_000, maxCost: 2 });
    const later = promptOptions('and now', given, { isFirst: false, spent: 0.5 });
    expect(later).toEqual({ prompt: 'and now', maxCost: 1.5 });
    expect(promptOptions('+1k go', given, { isFirst: true, spent: 0 })).toMatchObject({
      prompt: 'go',
      tokenBudget: 1_000,
    });
    expect(() => capOptions(2, 2.1)).toThrow('The cost cap of $2 is used up: $2.1000 was spent. Raise --max-cost.');
  });

  it('hold the small model and the task budget', () => {
    const given = { ...flags, smallModel: 'small', taskBudget: 50_000 };
    expect(limitOptions(given, fakeIo())).toEqual({ smallModel: 'small', taskBudget: 50_000 });
    expect(() => limitOptions({ ...given, profile: 'plain' }, fakeIo())).toThrow(
      /--task-budget does nothing with the profile plain/,
    );
  });
});

describe('one sentence says what is wrong with', () => {
  it.each<[readonly string[], RegExp]>([
    [['--max-cost', '1', 'go'], /The price of the model m is not known, so the cost cap/],
    [['--max-cost', '0', 'go'], /--max-cost.*dollars above 0/],
    [['--budget', 'lots', 'go'], /--budget.*500k/],
    [['--task-budget', '50k', 'go'], /--task-budget does nothing with the profile plain/],
    [['--json-schema', join('no', 'file.json'), 'go'], /file\.json cannot be read/],
    [['--json-schema', '{', 'go'], /--json-schema is no JSON/],
    [['--json-schema', '{"type":"wrong"}', 'go'], /outputSchema is no JSON schema/],
  ])('%j', async (argv, sentence) => {
    const { exitCode, stdout, stderr, model } = await ask([done], argv);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(sentence);
    expect(model.requests).toEqual([]);
  });
});
