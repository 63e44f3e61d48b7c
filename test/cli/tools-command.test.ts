import { describe, expect, it } from 'vitest';
import { flagRules } from '../../src/cli/rule-flags.ts';
import { showTools } from '../../src/cli/tools-command.ts';
import { builtInTools } from '../../src/tools/builtin/index.ts';
import { fakeIo } from './fake-io.ts';

const none = { allow: [], allowedTools: [], disallowedTools: [] };
const shown = { tools: builtInTools(), sources: {}, mode: 'default' } as const;

describe('escapement tools', () => {
  it('says of each tool what is decided, by what, and from where', () => {
    const io = fakeIo();
    const flags = { ...none, allowedTools: ['Bash(git *)', 'Edit'], disallowedTools: ['Write'] };
    const settings = [{ behavior: 'ask', rule: 'Read(.env)', source: '.claude/settings.json' }] as const;
    showTools({ ...shown, rules: [...flagRules(flags), ...settings] }, false, io);
    expect(io.printed.out).toContain(
      'Bash: built-in, may change something, runs alone\n  ask: It may change something.\n  but allow Bash(git *) (--allowed-tools)\n',
    );
    expect(io.printed.out).toContain('  allow: The rule "allow Edit" lets it pass. (--allowed-tools)\n');
    expect(io.printed.out).toContain(
      '  deny: The rule "deny Write" forbids it. (--disallowed-tools) The model is not told of it.\n',
    );
    expect(io.printed.out).toContain('  allow: It only reads.\n  but ask Read(.env) (.claude/settings.json)\n');
  });

  it('prints JSON', () => {
    const io = fakeIo();
    showTools({ ...shown, rules: [], mode: 'acceptEdits' }, true, io);
    const { tools } = JSON.parse(io.printed.out) as { tools: { name: string; decision: string }[] };
    expect(tools.map(({ name, decision }) => `${name} ${decision}`)).toEqual([
      'Bash ask',
      'Edit allow',
      'Glob allow',
      'Grep allow',
      'Read allow',
      'Write allow',
    ]);
  });
});
