import { describe, expect, it } from 'vitest';
import { commandParts, matchesCommand, plainCommand } from '../../src/tools/shell-command.ts';

describe('a plain command', () => {
  it.each([
    ['git  status', 'git status'],
    [' npm run test:unit ', 'npm run test:unit'],
    ['git log --pretty=%h -n 3', 'git log --pretty=%h -n 3'],
    ['node_modules/.bin/tsc -p .', 'node_modules/.bin/tsc -p .'],
  ])('is %j', (command, plain) => {
    expect(plainCommand(command)).toBe(plain);
  });

  it.each([
    'git status; rm x',
    'git status && rm x',
    'git status | sh',
    'git status & rm x',
    'git status\nrm x',
    'echo $(rm x)',
    'echo `rm x`',
    'echo $HOME',
    'echo "a"',
    "echo 'a'",
    'echo \\a',
    'ls *',
    'ls a?',
    'ls [a]',
    'cat < a',
    'echo a > b',
    'X=1 rm x',
    '(rm x)',
    '{ rm x; }',
    'echo {a,b}',
    'echo ~',
    'echo !!',
    'echo # a',
    'ｒm x',
    'git\u00a0status',
    '',
    ' ',
    'a\rb',
    'a\0b',
  ])('is not %j', (command) => {
    expect(plainCommand(command)).toBeNull();
  });
});

describe('a pattern for commands', () => {
  it.each([
    ['npm test', 'npm test', true],
    ['npm test', 'npm test x', false],
    ['git *', 'git', true],
    ['git *', 'git log', true],
    ['git *', 'gitk', false],
    ['git:*', 'git log', true],
    ['git:*', 'github', false],
    ['git*', 'gitk', true],
    ['npm run *:unit', 'npm run a:unit', true],
    ['*', 'anything at all', true],
    ['a.b', 'axb', false],
    ['a (b', 'a (b', true],
  ])('%j on %j: %j', (pattern, command, expected) => {
    expect(matchesCommand(pattern, command)).toBe(expected);
  });
});

/** Ways to say `rm x` that a deny rule must see through. */
const hidden = [
  'rm x',
  '  rm   x',
  'a; rm x',
  'a;rm x',
  'a && rm x',
  'a || rm x',
  'a | rm x',
  'a & rm x',
  'a\nrm x',
  '(rm x)',
  '{ rm x; }',
  'echo $(rm x)',
  'echo `rm x`',
  'cat <(rm x)',
  'X=1 rm x',
  'X=1 Y=2 rm x',
  '/bin/rm x',
  '"rm" x',
  "'rm' x",
  'r"m" x',
  '\\rm x',
  'r\\\nm x',
  'env rm x',
  'env X=1 rm x',
  'sudo rm x',
  'sudo -u root rm x',
  'command rm x',
  'nohup rm x',
  'timeout 5 rm x',
  'xargs rm x',
  'find . -exec rm x',
  'sh -c "rm x"',
  "bash -lc 'rm x'",
  'eval rm x',
  'if true; then rm x; fi',
  '! rm x',
  'while rm x; do a; done',
  '> log rm x',
  '2>/dev/null rm x',
  '{rm,x}',
  'time rm x',
  'cat <`rm x`',
  'a |& rm x',
  'rm x > y',
];

describe('the parts of a command', () => {
  it.each(hidden)('hold `rm x` in %j', (command) => {
    expect(commandParts(command).some((part) => matchesCommand('rm *', part))).toBe(true);
  });

  it.each(['git rm-old x', 'echo rm', 'ls form x', 'npm run rm', 'cat rm.txt', 'git commit -m "rm old files"'])(
    'hold no `rm` in %j',
    (command) => {
      expect(commandParts(command).some((part) => matchesCommand('rm *', part))).toBe(false);
    },
  );
});
