import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PermissionMode } from '../../src/core/config.ts';
import { matchesCommand } from '../../src/tools/shell/match-command.ts';
import { judged } from './judge-command.ts';

/** Rules that somebody has who trusts these programs and nothing else. */
const allowed = [
  'Bash(git *)',
  'Bash(npm run *)',
  'Bash(npm test)',
  'Bash(npm ci)',
  'Bash(npx tsc *)',
  'Bash(ls *)',
  'Bash(cat *)',
  'Bash(echo *)',
  'Bash(printf *)',
  'Bash(grep *)',
  'Bash(find *)',
  'Bash(head *)',
  'Bash(sort *)',
  'Bash(wc *)',
  'Bash(sed *)',
  'Bash(xargs *)',
  'Bash(mkdir *)',
  'Bash(env *)',
  'Edit(out/**)',
].map((rule) => `allow ${rule}`);

/** Ways to run `rm x`, or something else that no rule allows, beside what is allowed. */
const around = [
  'rm x',
  'ls; rm x',
  'ls;rm x',
  'ls && rm x',
  'ls || rm x',
  'ls | rm x',
  'ls |& rm x',
  'ls & rm x',
  'ls\nrm x',
  '(rm x)',
  '{ rm x; }',
  'echo $(rm x)',
  'echo `rm x`',
  'echo "a $(rm x) b"',
  'echo "a `rm x` b"',
  'echo "$(echo `rm x`)"',
  'cat <(rm x)',
  'ls > >(rm x)',
  'cat <`rm x`',
  'cat <<EOF\n$(rm x)\nEOF',
  'cat <<< "$(rm x)"',
  'echo ${a:-$(rm x)}',
  'echo ${ rm x; }',
  'echo $((1 + $(rm x)))',
  'echo $((a[$(rm x)]))',
  "a='x[$(rm x)]'; echo $((a))",
  "x='$(rm x)'; echo ${x@P}",
  "[[ 'a[$(rm x)]' -eq 0 ]]",
  "printf -v 'a[$(rm x)]' y",
  'X=1 rm x',
  'PATH=. git status',
  'PATH=.; git status',
  'export PATH=.; git status',
  'LD_PRELOAD=./a.so ls',
  'GIT_SSH_COMMAND=./a git fetch',
  'for PATH in .; do git status; done',
  'env rm x',
  'env X=1 rm x',
  'env -i rm x',
  'env -S "rm x"',
  'sh -c "rm x"',
  "bash -lc 'rm x'",
  "bash -c $'rm x'",
  'bash <<< "rm x"',
  'bash <<EOF\nrm x\nEOF',
  'echo "rm x" | sh',
  'eval rm x',
  'eval "r""m x"',
  'git status \\\n; rm x',
  'r\\\nm x',
  'ｒm x',
  'gіt status',
  'ls\u00a0-la',
  'ls \u202e x',
  'l\u200bs',
  'ls \u200b; rm x',
  'git status\rrm x',
  '\\rm x',
  '"rm" x',
  "'r'm x",
  "$'\\x72m' x",
  '$"rm" x',
  'R=rm; $R x',
  '$SHELL x',
  '${0} x',
  '{rm,x}',
  'rm$IFS-rf$IFS/',
  'cat${IFS}/etc/passwd',
  '/bin/r? x',
  '/bin/rm x',
  './git status',
  'command rm x',
  'builtin eval rm x',
  'exec rm x',
  'nohup rm x',
  'time rm x',
  'timeout 5 rm x',
  'timeout -s KILL 5 rm x',
  'nice -n 5 rm x',
  'stdbuf -o0 rm x',
  'sudo git status',
  'setsid rm x',
  'busybox rm x',
  'echo x | xargs rm',
  'echo x | xargs -I{} rm {}',
  'echo x | xargs -0I git rm git',
  'echo x | xargs sh -c "rm x"',
  'xargs $X',
  'find . -exec rm {} \\;',
  'find . -execdir rm {} +',
  'find . -delete',
  'find . -fprint x',
  'find $X',
  'find . -exec sh -c "rm {}" \\;',
  "git -c alias.x='!rm x' x",
  'git -c core.pager=./a log',
  'git --exec-path=. status',
  'git -C /tmp/a status',
  "git config alias.x '!rm x'",
  'git rebase -x "rm x" main',
  'git grep -O./a x',
  'git fetch --upload-pack=./a .',
  'git fetch --upload-p=./a .',
  'git clone ext::sh x',
  'git bisect run rm x',
  'git submodule foreach rm x',
  'git $X',
  'cd /etc && cat passwd',
  'cd a && git status',
  'cd - && ls',
  'cd $X && ls',
  'alias ls="rm x"; ls',
  'ls() { rm x; }; ls',
  'f() { "$@"; }; f rm x',
  'function ls { rm x; }',
  'if true; then rm x; fi',
  'if rm x; then ls; fi',
  'while rm x; do ls; done',
  'for i in 1; do rm x; done',
  'case a in a) rm x;; esac',
  'select i in a; do rm x; done',
  'coproc rm x',
  '! rm x',
  "trap 'rm x' EXIT",
  '. ./a',
  'source a',
  'echo x > /etc/passwd',
  'echo x > ../outside',
  'echo x >> ~/.bashrc',
  'echo x > .git/hooks/pre-commit',
  'echo x > .claude/settings.json',
  'echo x > package.json',
  'echo x > $F',
  'echo x > "$(rm x)"',
  'echo x >| /etc/passwd',
  'echo x &> /etc/passwd',
  'echo x >& /etc/passwd',
  'echo x 2> /etc/passwd',
  'cd out && echo x > ../../outside',
  'cat < /etc/shadow',
  'cat < /dev/tcp/example.com/80',
  '> /etc/passwd ls',
  '{ ls; } > /etc/passwd',
  'sed -i s/a/b/ x',
  "sed 's/a/rm x/e' x",
  "sed '1e rm x' x",
  'sort -o x y',
  'if then',
  'echo "abc',
  'ls )',
  'ls (',
  'ls << EOF',
  '',
  ' ',
  '# ls',
  'ls\0x',
] as const;

/** Lines that these rules are meant for. */
const harmless = [
  'git status',
  'git  status',
  'git log --oneline -n 5',
  'git log --pretty=%h | head -3',
  'git commit -m "fix: a (b)"',
  "git commit -m 'a; b && c'",
  'git commit -m "$(cat <<\'EOF\'\na message; with $(signs) in it\nEOF\n)"',
  'git add . && git commit -m "x"',
  'git diff --stat HEAD~1',
  'git -C src status',
  'git --no-pager log',
  'git commit -m "ü 漢字 👍"',
  'git add "a b.txt"',
  'npm test',
  'npm run build',
  'npm run test:unit -- --watch=false',
  'npm ci && npm run build && npm test',
  'npm run lint; npm run build',
  'npm test 2>&1 | head -50',
  'npm test > /dev/null 2>&1',
  'npm test 2>/dev/null || echo failed',
  'npx tsc -p .',
  'CI=1 npm test',
  'NODE_ENV=test LC_ALL=C npm run build',
  'timeout 60 npm test',
  'time npm test',
  'nohup npm run build',
  'nice -n 10 npm run build',
  'timeout -k 5 60 nice npm test',
  'ls -la',
  'ls src/*.ts',
  'ls ~/projects',
  'cat README.md',
  'cat a.txt b.txt | grep -n "x y" | sort | wc -l',
  'cat < package.json',
  'grep -rn "TODO: x" src --include=*.ts',
  "grep -E '^(a|b)$' x",
  'grep "a;b" x',
  'echo "done"',
  'echo $HOME',
  'echo "a > b"',
  'echo a \\; b',
  'echo "$(git rev-parse HEAD)"',
  'echo `git rev-parse HEAD`',
  'echo x > out/a.txt',
  'npm test > out/log.txt 2>&1',
  'cd src && ls',
  'cd src && npm test',
  'find . -name "*.ts" -not -path "*/node_modules/*"',
  'find src -name "*.ts" -exec grep -l x {} +',
  'find src -name "*.ts" | xargs grep -l x',
  'find . -type f -print0 | xargs -0 wc -l',
  'for f in src/*.ts; do wc -l "$f"; done',
  'for i in 1 2 3; do npm test; done',
  'while ! npm test; do echo again; done',
  'if [ -f package.json ]; then npm test; else echo none; fi',
  'if git diff --quiet; then echo same; fi',
  'test -d src && ls src',
  '[[ -f a ]] && cat a',
  '(cd src && ls)',
  '{ npm test; npm run build; }',
  'case "$CI" in 1) npm test;; *) echo no;; esac',
  'cat <<EOF\nhello $USER\nEOF',
  "cat <<'EOF'\n$(rm x)\nEOF",
  'cat <<< "hello"',
  "sed -n '1,20p' README.md",
  'sed "s/a/b/g" x',
  'git status # rm x',
  'git log \\\n  --oneline',
  'npm test && true',
  'f=README.md; cat "$f"',
  'echo {a,b}',
  'echo ${HOME:-none} ${#HOME} ${x%.ts}',
  'echo $((1 + 2))',
  'diff <(git show HEAD:a) <(cat a)'.replace('diff', 'cat'),
] as const;

describe('rules that allow some commands', () => {
  it.each(around)('do not allow %j', async (command) => {
    expect(await judged(command, allowed)).toMatch(/^(ask|deny) /);
  });

  it.each(harmless)('allow %j', async (command) => {
    expect(await judged(command, allowed)).toMatch(/^allow by rule/);
  });

  it('law: whatever stands beside a command that nothing allows, the line is not allowed', async () => {
    const bad = fc.constantFrom(...around.filter((line) => line.trim() !== '' && !line.startsWith('#')));
    const good = fc.constantFrom(...harmless.filter((line) => !/[#\n]/.test(line)));
    const joint = fc.constantFrom('; ', ' && ', ' || ', ' | ', '\n', ' & ');
    await fc.assert(
      fc.asyncProperty(good, joint, bad, async (first, between, last) => {
        expect(await judged(`${first}${between}${last}`, allowed)).toMatch(/^(ask|deny) /);
      }),
    );
  });

  it('law: no text whatever makes the reader throw, and none that is not plain words passes by a rule for one word', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 30 }), async (text) => {
        expect(await judged(`ls ${text}`, ['allow Bash(cat *)'])).not.toMatch(/^allow/);
      }),
    );
  });
});

describe('a rule that denies', () => {
  const seen = around.filter((line) => /\brm\b/.test(line) && !/unseen|# /.test(line));

  it.each(seen)('is not got around by %j, whatever is allowed', async (command) => {
    expect(await judged(command, ['deny Bash(rm *)', 'allow Bash'], 'bypassPermissions')).toMatch(
      /^(deny|ask) by rule/,
    );
  });

  it.each([
    'rm x',
    'ls; rm x',
    'echo $(rm x)',
    'env X=1 rm x',
    'sh -c "rm x"',
    '\\rm x',
    '/bin/rm x',
    'RM x',
    'ｒm x',
    '{rm,x}',
    'sudo -u root rm x',
    'xargs rm x',
    'find . -exec rm {} +',
    "git -c alias.x='!rm x' x",
    'timeout 5 rm x',
    'ssh host rm x',
    'watch "rm x"',
  ])('denies %j', async (command) => {
    expect(await judged(command, ['deny Bash(rm *)'], 'bypassPermissions')).toBe('deny by rule');
  });

  it.each([
    'git rm-old x',
    'echo rm',
    'ls form x',
    'npm run rm',
    'cat rm.txt',
    'git commit -m "rm old files"',
    'npm run $X',
    'ls *',
  ])('does not meet %j', async (command) => {
    expect(await judged(command, ['deny Bash(rm *)'], 'bypassPermissions')).toBe('allow by mode');
  });

  it('asks where a word that is not known could make it hold', async () => {
    expect(await judged('git $X', ['deny Bash(git push *)'], 'bypassPermissions')).toBe('ask by rule');
    expect(await judged('git log $X', ['deny Bash(git push *)'], 'bypassPermissions')).toBe('allow by mode');
  });

  it.each([
    ['cat .env', 'deny by rule'],
    ['head -n 1 ./.env', 'deny by rule'],
    ['npm test < .env', 'deny by rule'],
    ['cd src && cat ../.env', 'deny by rule'],
    ['cat .env.example', 'allow by mode'],
    ['echo x > secret/a', 'deny by rule'],
    ['npm test | tee secret/a', 'deny by rule'],
    ['rm secret/a', 'deny by rule'],
    ['echo x > "$F"', 'ask by rule'],
    ['cat secret/a', 'allow by mode'],
  ])('for files holds for %j: %s', async (command, expected) => {
    const rules = ['deny Read(.env)', 'deny Edit(secret/**)'];
    expect(await judged(command, rules, 'bypassPermissions')).toBe(expected);
  });
});

describe('the mode acceptEdits', () => {
  it.each<[string, string, PermissionMode?]>([
    ['mkdir -p src/a', 'allow by mode'],
    ['touch a b', 'allow by mode'],
    ['mv a b && cp b c', 'allow by mode'],
    ['mkdir a; npm test > log.txt', 'allow by rule'],
    ['mkdir -p src/a', 'ask by mode', 'default'],
    ['mkdir', 'ask by mode'],
    ['mkdir -m 777 a', 'ask by mode'],
    ['mkdir ../a', 'ask by mode'],
    ['cp /etc/passwd a', 'ask by mode'],
    ['cp -r a .', 'ask by mode'],
    ['mv a .git/hooks/pre-commit', 'ask by mode'],
    ['touch $X', 'ask by mode'],
    ['rm a', 'ask by mode'],
    ['mkdir a; rm a', 'ask by mode'],
    ['cd / && mkdir a', 'ask by mode'],
  ])('on %j: %s', async (command, expected, mode = 'acceptEdits') => {
    expect(await judged(command, ['allow Bash(npm test)'], mode)).toBe(expected);
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
    ['npm run test:*', 'npm run test', true],
    ['git*', 'gitk', true],
    ['npm run *:unit', 'npm run a:unit', true],
    ['*', 'anything at all', true],
    ['a.b', 'axb', false],
    ['a (b', 'a (b', true],
  ])('%j on %j: %j', (pattern, command, expected) => {
    expect(matchesCommand(pattern, command)).toBe(expected);
  });
});
