import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';

describe('arguments', () => {
  it('without any is a run without a prompt', () => {
    expect(parseArguments([])).toEqual({
      name: 'run',
      prompt: '',
      flags: {
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
      },
    });
  });

  it('reads every flag, before and behind the prompt', () => {
    const argv = [
      '-p',
      '-i',
      '--output-format',
      'json',
      '--model',
      'a',
      '--fallback-model',
      'b',
      'fix',
      '--fallback-model',
      'c',
    ];
    const more = ['--base-url', 'http://x', '--max-turns', '7', '--permission-mode', 'plan', '--allow', 'Bash(git *)'];
    const last = [
      '--allow',
      'Read',
      '--cwd',
      '/tmp',
      '--agents',
      '{}',
      '--settings',
      'mine.json',
      '--trust',
      '--verbose',
      '--no-demo',
      '--profile',
      'plain',
      '--context-window',
      '9',
      'it',
    ];
    expect(parseArguments([...argv, ...more, ...last])).toEqual({
      name: 'run',
      prompt: 'fix it',
      flags: {
        print: true,
        interactive: true,
        outputFormat: 'json',
        model: 'a',
        fallbackModel: ['b', 'c'],
        baseUrl: 'http://x',
        maxTurns: 7,
        permissionMode: 'plan',
        allow: ['Bash(git *)', 'Read'],
        mcpConfig: [],
        agents: '{}',
        settings: 'mine.json',
        trust: true,
        allowedTools: [],
        disallowedTools: [],
        cwd: '/tmp',
        verbose: true,
        demo: false,
        profile: 'plain',
        contextWindow: 9,
      },
    });
  });

  it('reads the options of hooks, which a query has too, before and behind the command', () => {
    const flags = { cwd: '/tmp', settings: '{}', trust: true, json: true };
    expect(parseArguments(['hooks', '--cwd', '/tmp', '--settings', '{}', '--trust', '--json'])).toEqual({
      name: 'hooks',
      flags,
    });
    expect(parseArguments(['--cwd', '/tmp', '--settings', '{}', '--trust', 'hooks', '--json'])).toEqual({
      name: 'hooks',
      flags,
    });
    expect(parseArguments(['hooks'])).toEqual({ name: 'hooks', flags: { trust: false, json: false } });
  });

  it('splits lists of rules at commas and blanks outside of parentheses, and adds up repeated ones', () => {
    const argv = [
      '--allowed-tools',
      'Bash(git log, x) Edit,Read',
      '--disallowed-tools',
      'Write',
      '--disallowed-tools',
      'mcp__a__*',
    ];
    expect(parseArguments(argv)).toMatchObject({
      flags: { allowedTools: ['Bash(git log, x)', 'Edit', 'Read'], disallowedTools: ['Write', 'mcp__a__*'] },
    });
    expect(parseArguments(['tools', ...argv])).toMatchObject({
      name: 'tools',
      flags: { allowedTools: ['Bash(git log, x)', 'Edit', 'Read'] },
    });
    expect(() => parseArguments(['--allowed-tools', 'Bash(git'])).toThrow(/no permission rule/);
    expect(() => parseArguments(['--allowed-tools', ' '])).toThrow(/must not be empty/);
  });

  it('forgets between two calls', () => {
    parseArguments(['--allow', 'Read']);
    expect(parseArguments([])).toMatchObject({ flags: { allow: [] } });
  });

  it('takes what stands behind -- as the prompt', () => {
    expect(parseArguments(['--', '--help', 'is broken'])).toMatchObject({ name: 'run', prompt: '--help is broken' });
  });

  it('knows the other commands', () => {
    // A prompt may well begin like this.
    expect(parseArguments(['help', 'me'])).toMatchObject({ name: 'run', prompt: 'help me' });
    expect(parseArguments(['simulate', 'a', 'b', '--json'])).toEqual({
      name: 'simulate',
      files: ['a', 'b'],
      json: true,
    });
    const flags = { runs: 1_000, seed: 1, config: null, out: null, json: false };
    expect(parseArguments(['simulate', '--explore'])).toEqual({ name: 'explore', flags });
    const given = ['--runs', '5', '--seed', '0', '--config', 'c', '--out', 'o', '--json'];
    expect(parseArguments(['simulate', '--explore', ...given])).toEqual({
      name: 'explore',
      flags: { runs: 5, seed: 0, config: 'c', out: 'o', json: true },
    });
    expect(parseArguments(['bound'])).toEqual({ name: 'bound', config: null });
    expect(parseArguments(['bound', '--config', 'f'])).toEqual({ name: 'bound', config: 'f' });
    for (const argv of [['--help'], ['simulate', '--help'], ['-V']]) {
      expect(parseArguments(argv)).toMatchObject({ name: 'print' });
    }
  });

  it.each([
    [['--max-turns', '1e3'], /--max-turns.*1e3.*whole number above 0/],
    [['--max-turns', '99999999999999999999'], /whole number/],
    [['--max-turns', '-1'], /--max-turns/],
    [['--context-window', 'big'], /--context-window.*whole number/],
    [['--model', ' '], /--model.*must not be empty/],
    [['--fallback-model', ''], /--fallback-model.*must not be empty/],
    [['--allow', 'Bash('], /--allow.*no permission rule.*Bash\(git \*\)/],
    [['--output-format', 'xml'], /xml.*text, json, stream-json/],
    [['--base-url', 'localhost:1'], /--base-url.*http/],
    [['--prnt'], /Unknown option '--prnt'.*--print/],
    [['--model'], /--model.*argument missing/],
    [['bound', 'x'], /Too many arguments/],
  ])('refuses %j in one sentence', (argv, sentence) => {
    expect(() => parseArguments(argv)).toThrow(sentence);
    expect(() => parseArguments(argv)).toThrow(/See escapement --help\.$/);
  });
});
