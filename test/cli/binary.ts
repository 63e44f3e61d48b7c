import { fileURLToPath } from 'node:url';
import { execa, type Options } from 'execa';

const binary = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Runs the real binary without any credential of the machine. Never rejects. */
export function run(argv: readonly string[], options: Options & { env?: Record<string, string | undefined> } = {}) {
  return execa(process.execPath, [binary, ...argv], {
    reject: false,
    input: '',
    timeout: 30_000,
    ...options,
    env: {
      ANTHROPIC_API_KEY: undefined,
      ANTHROPIC_AUTH_TOKEN: undefined,
      ANTHROPIC_BASE_URL: undefined,
      CI: undefined,
      FORCE_COLOR: undefined,
      NO_COLOR: undefined,
      NODE_OPTIONS: undefined,
      HOME: '/nowhere',
      ...options.env,
    },
  });
}
