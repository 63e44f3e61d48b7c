import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PermissionMode } from '../../src/core/config.ts';
import type { PermissionRule } from '../../src/core/tools/context.ts';
import { commandCoverage, firstMatch, parseRule, type RuleSubject } from '../../src/tools/permission-rules.ts';
import { judgePermission, type PermissionQuestion } from '../../src/tools/permissions.ts';
import { command as commandOf, rules } from './judge-command.ts';

const modes: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];

function paths(...touched: (string | readonly string[])[]): RuleSubject {
  const target = {
    type: 'paths' as const,
    paths: touched.map((path) => (typeof path === 'string' ? [path, path] : path)),
  };
  return { names: ['Write', 'Edit'], target, cwd: '/w' };
}

const lines = new Map<string, RuleSubject>();
for (const line of ['npm test', 'npm test; rm x', 'a; rm x', 'git log', 'echo "a"', 'rm x']) {
  lines.set(line, await commandOf(line));
}

function command(line: string): RuleSubject {
  return lines.get(line)!;
}

function skill(name: string): RuleSubject {
  return { names: ['Skill'], target: { type: 'name', name }, cwd: '/w' };
}

const opaque: RuleSubject = { names: ['mcp__git__push'], target: { type: 'none' }, cwd: '/w' };

const plainQuestion: PermissionQuestion = {
  rules: [],
  subject: command('npm test'),
  mode: 'default',
  opinion: { behavior: 'pass' },
  hook: 'pass',
  hookReason: null,
  readOnly: false,
  edit: false,
};

function judge(more: Partial<PermissionQuestion>): string {
  const { behavior, by } = judgePermission({ ...plainQuestion, ...more });
  return `${behavior} by ${by}`;
}

describe('a rule', () => {
  it.each(['Bash', 'Bash(git *)', 'mcp__a__b', '*', 'Edit(src/**)', 'Bash(echo (a))'])('is %j', (rule) => {
    expect(parseRule({ behavior: 'allow', rule })).toMatchObject({ rule });
  });

  it.each(['', 'Ba sh', 'Bash(', 'Bash()', 'Bash(a', '(a)', 'Edit(!a)', 'a.b'])('is not %j', (rule) => {
    expect(() => parseRule({ behavior: 'deny', rule })).toThrow(/no permission rule/);
  });

  it.each([
    ['Skill(pdf)', skill('pdf'), true],
    ['Skill(pdf)', skill('pdf-x'), false],
    ['Skill(pdf *)', skill('pdf'), true],
    ['Skill(pdf:*)', skill('pdf'), true],
    ['Skill(deploy-*)', skill('deploy-a'), true],
    ['Skill(deploy-*)', skill('my-deploy-a'), false],
    ['Skill(a.b)', skill('axb'), false],
    ['Skill(*)', skill('pdf'), true],
    ['Skill', skill('pdf'), true],
    ['Edit(src/**)', paths('/w/src/a.ts'), true],
    ['Edit(src/**)', paths('/w/lib/a.ts'), false],
    ['Edit(src/**)', paths('/w/src/a.ts', '/w/lib/a.ts'), false],
    ['Edit(src/**)', paths(['/w/src/link', '/etc/passwd']), false],
    ['Edit(*.ts)', paths('/w/deep/a.ts'), true],
    ['Edit(**)', paths('/w/a'), true],
    ['Edit(**)', paths('/w'), true],
    ['Edit(src)', paths('/w'), false],
    ['Edit(**)', paths('/etc/passwd'), false],
    ['Edit(./a)', paths('/w/deep/a'), false],
    ['Edit(/etc/**)', paths('/etc/passwd'), true],
    ['Edit(//etc/**)', paths('/etc/passwd'), true],
    ['Edit(#a)', paths('/w/#a'), true],
    ['Edit(SRC/**)', paths('/w/src/a.ts'), false],
    ['Edit', paths('/etc/passwd'), true],
    ['Read', paths('/w/a'), false],
    ['Bash(*)', command('npm test; rm x'), true],
    ['Bash', command('npm test; rm x'), true],
    ['mcp__git', opaque, true],
    ['mcp__gi', opaque, false],
    ['mcp__git__push', opaque, true],
    ['mcp__git__push(main)', opaque, false],
    ['*', opaque, true],
  ])('allow %s: %#', (rule, subject, expected) => {
    expect(firstMatch([{ behavior: 'allow', rule }], 'allow', subject) !== null).toBe(expected);
  });

  it.each([
    ['Edit(src/**)', paths('/w/lib/a.ts', '/w/src/a.ts'), true],
    ['Edit(secret)', paths(['/w/link', '/w/secret']), true],
    ['Edit(secret)', paths(['/w/secret', '/w/other']), true],
    ['Edit(SECRET)', paths('/w/secret'), true],
    ['Edit(.env)', paths('/w/deep/.env'), true],
    ['Bash(rm *)', command('a; rm x'), true],
  ])('deny %s: %#', (rule, subject, expected) => {
    expect(firstMatch([{ behavior: 'deny', rule }], 'deny', subject) !== null).toBe(expected);
  });
});

describe('the judgement of a call', () => {
  it.each<[string, Partial<PermissionQuestion>, string]>([
    ['default asks for what may change something', {}, 'ask by mode'],
    ['default lets reading pass', { readOnly: true }, 'allow by mode'],
    ['default asks for edits', { edit: true }, 'ask by mode'],
    ['acceptEdits lets edits pass', { mode: 'acceptEdits', edit: true }, 'allow by mode'],
    [
      'acceptEdits asks for edits outside',
      { mode: 'acceptEdits', edit: true, opinion: { behavior: 'ask', reason: '' } },
      'ask by tool',
    ],
    ['acceptEdits asks for commands', { mode: 'acceptEdits' }, 'ask by mode'],
    ['plan lets reading pass', { mode: 'plan', readOnly: true }, 'allow by mode'],
    ['plan denies the rest', { mode: 'plan' }, 'deny by mode'],
    ['plan denies what a rule allows', { mode: 'plan', rules: rules('allow Bash') }, 'deny by mode'],
    ['plan denies what a hook allows', { mode: 'plan', hook: 'allow' }, 'deny by mode'],
    ['bypass lets everything pass', { mode: 'bypassPermissions' }, 'allow by mode'],
    [
      'bypass lets a path outside pass',
      { mode: 'bypassPermissions', opinion: { behavior: 'ask', reason: '' } },
      'allow by mode',
    ],
    ['bypass heeds a deny rule', { mode: 'bypassPermissions', rules: rules('deny Bash') }, 'deny by rule'],
    ['bypass heeds an ask rule', { mode: 'bypassPermissions', rules: rules('ask Bash') }, 'ask by rule'],
    [
      'bypass heeds a denial of the tool',
      { mode: 'bypassPermissions', opinion: { behavior: 'deny', reason: '' } },
      'deny by tool',
    ],
    ['bypass heeds a hook that asks', { mode: 'bypassPermissions', hook: 'ask' }, 'ask by hook'],
    ['bypass goes on after a crashed hook', { mode: 'bypassPermissions', hook: 'unsure' }, 'allow by mode'],
    [
      'a path outside is asked although it is only read',
      { readOnly: true, opinion: { behavior: 'ask', reason: '' } },
      'ask by tool',
    ],
    [
      'a rule allows a path outside',
      { rules: rules('allow Bash'), opinion: { behavior: 'ask', reason: '' } },
      'allow by rule',
    ],
    [
      'a rule allows nothing that the tool denies',
      { rules: rules('allow Bash'), opinion: { behavior: 'deny', reason: '' } },
      'deny by tool',
    ],
    ['a hook that allows skips the prompt', { hook: 'allow' }, 'allow by hook'],
    [
      'a hook that allows skips the word of the tool',
      { hook: 'allow', opinion: { behavior: 'ask', reason: '' } },
      'allow by hook',
    ],
    ['a hook that allows does not skip an ask rule', { hook: 'allow', rules: rules('ask Bash') }, 'ask by rule'],
    ['a hook that allows does not skip a deny rule', { hook: 'allow', rules: rules('deny Bash') }, 'deny by rule'],
    ['a hook that asks beats an allow rule', { hook: 'ask', rules: rules('allow Bash') }, 'ask by hook'],
    ['a crashed hook asks', { hook: 'unsure', readOnly: true }, 'ask by hook'],
    ['a crashed hook beats an allow rule', { hook: 'unsure', rules: rules('allow Bash') }, 'ask by hook'],
    ['the tool may let itself pass', { opinion: { behavior: 'allow' } }, 'allow by tool'],
    [
      'a deny rule that cannot be judged asks',
      { subject: opaque, mode: 'bypassPermissions', rules: rules('deny mcp__git__push(main)') },
      'ask by rule',
    ],
    ['a broken deny rule asks', { mode: 'bypassPermissions', rules: rules('deny Ba sh(') }, 'ask by rule'],
    ['a broken allow rule allows nothing', { rules: rules('allow Ba sh(') }, 'ask by mode'],
    ['rules for other tools change nothing', { rules: rules('deny Read', 'allow Write') }, 'ask by mode'],
  ])('%s', (_, more, expected) => {
    expect(judge(more)).toBe(expected);
  });

  const pattern = fc.constantFrom(
    'Bash',
    'Bash(npm *)',
    'Bash(npm test)',
    'Bash(git *)',
    'Bash(rm *)',
    '*',
    'Read',
    'Bash(*)',
  );
  const anyRules = fc.array(
    fc.record({ behavior: fc.constantFrom('allow' as const, 'deny' as const, 'ask' as const), rule: pattern }),
    { maxLength: 8 },
  );
  const anyCommand = fc.constantFrom('npm test', 'npm test; rm x', 'git log', 'echo "a"', 'rm x');

  it('law: deny beats ask beats allow, in every mode, whatever the order of the rules', () => {
    fc.assert(
      fc.property(
        anyRules,
        anyCommand,
        fc.constantFrom(...modes),
        fc.constantFrom('pass' as const, 'allow' as const),
        fc.boolean(),
        (list, line, mode, hook, readOnly) => {
          const subject = command(line);
          const has = (behavior: PermissionRule['behavior']): boolean => firstMatch(list, behavior, subject) !== null;
          const verdict = judgePermission({ ...plainQuestion, rules: list, subject, mode, hook, readOnly });
          const isHeldByPlan = mode === 'plan' && !readOnly;
          if (has('deny')) expect(verdict).toMatchObject({ behavior: 'deny', by: 'rule' });
          else if (isHeldByPlan) expect(verdict).toMatchObject({ behavior: 'deny', by: 'mode' });
          else if (has('ask')) expect(verdict).toMatchObject({ behavior: 'ask', by: 'rule' });
          else if (has('allow') || commandCoverage(list, subject, mode)?.by === 'rule')
            expect(verdict).toMatchObject({ behavior: 'allow', by: 'rule' });
          else expect(verdict.by).not.toBe('rule');
          const shuffled = judgePermission({
            ...plainQuestion,
            rules: list.toReversed(),
            subject,
            mode,
            hook,
            readOnly,
          });
          expect(shuffled.behavior).toBe(verdict.behavior);
        },
      ),
    );
  });

  it('law: one more allow rule never makes a call worse, one more deny or ask rule never better', () => {
    const rank = { deny: 0, ask: 1, allow: 2 };
    fc.assert(
      fc.property(
        anyRules,
        pattern,
        anyCommand,
        fc.constantFrom(...modes),
        fc.boolean(),
        (list, rule, line, mode, readOnly) => {
          const common = { ...plainQuestion, subject: command(line), mode, readOnly };
          const before = rank[judgePermission({ ...common, rules: list }).behavior];
          const withRule = (behavior: PermissionRule['behavior']): number =>
            rank[judgePermission({ ...common, rules: [...list, { behavior, rule }] }).behavior];
          expect(withRule('allow')).toBeGreaterThanOrEqual(before);
          expect(withRule('deny')).toBeLessThanOrEqual(before);
          expect(withRule('ask')).toBeLessThanOrEqual(before);
        },
      ),
    );
  });
});
