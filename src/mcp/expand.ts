/** Fills the environment into the texts of a server, and remembers which values nobody may read later. */
import type { McpServerConfig } from './config.ts';

/** A configuration with every variable filled in. */
export interface ExpandedServer {
  readonly config: McpServerConfig;
  /** Values that must not stand in a journal, a log or a sentence. */
  readonly secrets: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const variable = /\$\{(?<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?<fallback>[^}]*))?\}/g;

/** Names that say that what they hold is secret. */
const secretName = /key|token|secret|passw|pwd$|[_-]pat$|^pat$|auth|credential|cookie|private|dsn|signature/i;
/** Values this short would be found all over innocent text. */
const shortestSecret = 6;
/** From this length on a value of letters and digits without a word in it is taken for a key. */
const shortestRandom = 20;

/**
 * Expands `${VAR}` and `${VAR:-default}`; as in a shell the default also stands in for an empty variable.
 *
 * @throws Error with a clause that names the variable that is not set and has no default.
 */
export function expandServer(config: McpServerConfig, env: Environment): ExpandedServer {
  const secrets = new Set<string>();
  const expand = (text: string, where: string, isSecret: boolean): string => {
    const whole = text.replaceAll(variable, (_, name: string, fallback: string | undefined) => {
      const value = valueOf(env, name, fallback, where);
      if (isSecret || secretName.test(name) || looksRandom(value)) secrets.add(value);
      return value;
    });
    if (isSecret) secrets.add(whole);
    return whole;
  };
  const expandAll = (
    texts: Readonly<Record<string, string>>,
    where: string,
    isSecret: (name: string) => boolean,
  ): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, expand(text, where, isSecret(key))]));
  const expanded = expandTexts(config, expand, expandAll);
  if (expanded.type === 'http') for (const secret of secretsOfUrl(expanded.url)) secrets.add(secret);
  return { config: expanded, secrets: [...secrets].filter((value) => value.length >= shortestSecret) };
}

function expandTexts(
  config: McpServerConfig,
  expand: (text: string, where: string, isSecret: boolean) => string,
  expandAll: (
    texts: Readonly<Record<string, string>>,
    where: string,
    isSecret: (name: string) => boolean,
  ) => Readonly<Record<string, string>>,
): McpServerConfig {
  if (config.type === 'http') {
    const headers = expandAll(config.headers ?? {}, 'headers', isSecretHeader);
    return { ...config, url: expand(config.url, 'url', false), headers };
  }
  return {
    ...config,
    command: expand(config.command, 'command', false),
    args: (config.args ?? []).map((text) => expand(text, 'args', false)),
    env: expandAll(config.env ?? {}, 'env', (name) => secretName.test(name)),
  };
}

function isSecretHeader(name: string): boolean {
  return !/^(accept|user-agent|content-type|x-client|x-source)/i.test(name);
}

function valueOf(env: Environment, name: string, fallback: string | undefined, where: string): string {
  const value = env[name];
  if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
  if (value !== undefined) return value;
  throw new Error(`the variable ${name} of its ${where} is not set: set it, or write \${${name}:-default}`);
}

function looksRandom(value: string): boolean {
  return value.length >= shortestRandom && /^[\w+=.-]+$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
}

/** The password and what stands behind the question mark. */
function secretsOfUrl(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  return [password, decodeURIComponent(password), ...searchParams.values()];
}

/** Takes secrets out of a text; a header `Bearer x` also gives away `x` alone. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]);
  const known = [...new Set(parts)]
    .filter((part) => part.length >= shortestSecret && !/^(bearer|basic|digest)$/i.test(part))
    .toSorted((left, right) => right.length - left.length);
  return (text) => known.reduce((cut, secret) => cut.replaceAll(secret, '[secret]'), text);
}
