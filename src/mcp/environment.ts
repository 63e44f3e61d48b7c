/** What a server process gets of the environment. */

/** Names that a program needs to run, to find its files, its language and the network; none of them holds a key. */
const passed =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TMP|TEMP|XDG_\w+|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|NVM_\w+|VOLTA_HOME|PNPM_HOME|PATHEXT|COMSPEC|APPDATA|LOCALAPPDATA|HOMEDRIVE|HOMEPATH|PROGRAMDATA|PROGRAMFILES(\(X86\))?|SYSTEMDRIVE|SYSTEMROOT|USERNAME|USERPROFILE|WINDIR)$/i;

/** The variables that every server gets, and on top of them those of its own configuration. */
export function serverEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
  cwd: string,
): Readonly<Record<string, string>> {
  const inherited = Object.entries(env).filter((entry): entry is [string, string] => isPassed(...entry));
  return { ...Object.fromEntries(inherited), CLAUDE_PROJECT_DIR: cwd, ...own };
}

/** A value that begins with `()` is a function of an old shell. */
function isPassed(name: string, value: string | undefined): boolean {
  return value !== undefined && !value.startsWith('()') && passed.test(name);
}
