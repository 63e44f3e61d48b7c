/** Judges command lines in a made-up workspace, without a file system. */
import type { PermissionMode } from '../../src/core/config.ts';
import type { PermissionRule } from '../../src/core/tools/context.ts';
import { commandTarget } from '../../src/tools/command-target.ts';
import type { RuleSubject } from '../../src/tools/permission-rules.ts';
import { judgePermission } from '../../src/tools/permissions.ts';

/** Rules written as `allow Bash(x)`. */
export function rules(...texts: string[]): readonly PermissionRule[] {
  return texts.map((text) => {
    const [behavior, ...rule] = text.split(' ');
    return { behavior: behavior as PermissionRule['behavior'], rule: rule.join(' ') };
  });
}

/** A command line in the workspace `/w`, where every path is real. */
export async function command(line: string): Promise<RuleSubject> {
  const place = { cwd: '/w', roots: ['/w'], realPath: (path: string) => Promise.resolve(path) };
  return { names: ['Bash'], target: await commandTarget(line, place), cwd: '/w' };
}

/** What is to be done with a command line, and who says so. */
export async function judged(
  line: string,
  texts: readonly string[],
  mode: PermissionMode = 'default',
): Promise<string> {
  const { behavior, by } = judgePermission({
    rules: rules(...texts),
    subject: await command(line),
    mode,
    opinion: { behavior: 'pass' },
    hook: 'pass',
    hookReason: null,
    readOnly: false,
    edit: false,
  });
  return `${behavior} by ${by}`;
}
