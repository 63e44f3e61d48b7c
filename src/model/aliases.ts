/** Short names of models, as definition files of sub-agents use them. */

/** The newest of each family that the API's documentation names, late 2026. */
const aliases: Readonly<Record<string, string>> = {
  fable: 'claude-fable-5-2',
  opus: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
};

/** The model that a definition means; null for that of its starter: `inherit`, none, and a short name where other servers answer. */
export function modelNamed(
  name: string | undefined,
  { baseUrl, profile }: { readonly baseUrl?: string | undefined; readonly profile?: string | undefined },
): string | null {
  if (name === undefined || name === 'inherit') return null;
  const full = aliases[name];
  if (full === undefined) return name;
  return baseUrl === undefined && profile !== 'plain' ? full : null;
}
