import { fileURLToPath } from 'node:url';
import { execa, type Options } from 'execa';

export const binary = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** The environment without any credential of the machine, and without what decides on colours. */
export const quietEnvironment = {
  ...process.env,
  ANTHROPIC_API_KEY: undefined,
  ANTHROPIC_AUTH_TOKEN: undefined,
  ANTHROPIC_BASE_URL: undefined,
  CI: undefined,
  FORCE_COLOR: undefined,
  NO_COLOR: undefined,
  NODE_OPTIONS: undefined,
  HOME: '/nowhere',
};

/** Runs the real binary. Never rejects. */
export function run(argv: readonly string[], options: Options & { env?: Record<string, string | undefined> } = {}) {
  return execa(process.execPath, [binary, ...argv], {
    reject: false,
    input: '',
    timeout: 30_000,
    ...options,
    env: { ...quietEnvironment, ...options.env },
  });
}
